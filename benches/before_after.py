#!/usr/bin/env python3
"""Benches of two commits in alternating rounds: medians and ratios.

    python3 benches/before_after.py BEFORE [AFTER] [--rounds 5] [--bench engine …] [--keep FOLDER] [--framework-alone]

Each commit is checked out and built in a folder of its own (kept with --keep, so that a second call
does not build again). Every round runs each bench of both commits, the first one in turn. A ratio
above 1 is slower or larger, except for speeds (tokens a second). Run it on a machine that does
nothing else.

An analysis counts more than it did before questions and causes came in, so a commit from before is
faster by what it does not answer. With --framework-alone the calls that count for these are taken out
of AFTER: both count the same, and the ratio is that of how it is done.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCHES = {"engine": ["5"], "ingest": ["5"], "compare": ["2"], "replay": []}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
# What counts for questions, causes and rules, call by call: a commit from before these has none of them.
BEYOND_THE_FRAMEWORK = {
    "tokens.rs": ["self.questions.begin(&one.asked(), open);", "self.sign_block(one, columns, first, sign);"],
    "wave.rs": ["self.sign_response(one);", "self.questions.end(&one.asked(), &one.sums, open);"],
    "rare.rs": ["self.add_idle(response, columns, first);"],
}
# Where these files are, and where they were before the crates.
COLLECTORS = [pathlib.Path("crates/collect/src/collect/collector"), pathlib.Path("src/analyze/collect/collector")]
# What was asked for, not what was measured.
GIVEN = ("tokens", "file MB", "layout", "tokens a run", "steps")


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def leave_out(tree):
    """Takes the calls out of a checkout; each has to be there once."""
    collector = next((tree / place for place in COLLECTORS if (tree / place).is_dir()), tree)
    for name, calls in BEYOND_THE_FRAMEWORK.items():
        text = (collector / name).read_text()
        for call in calls:
            if text.count(call) != 1:
                raise SystemExit(f"{name} does not call once: {call}")
            text = text.replace(call, "")
        (collector / name).write_text(text)


def built(commit, benches, folder, framework_alone=False):
    """Checks a commit out, builds its benches, and gives their programs."""
    name = f"{commit}-framework" if framework_alone else commit
    tree = folder / name
    if not tree.exists():
        run("git", "-C", str(ROOT), "worktree", "add", "--detach", str(tree), commit)
        if framework_alone:
            leave_out(tree)
    names = [word for bench in benches for word in ("--bench", bench)]
    told = run("cargo", "bench", "--no-run", "--message-format", "json", "--target-dir", str(folder / f"{name}-target"), *names, cwd=tree)
    messages = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    made = [m for m in messages if m.get("executable") and m["target"]["kind"] == ["bench"]]
    return {m["target"]["name"]: (m["executable"], tree) for m in made}


def measured(program, tree, arguments):
    """What a bench printed: {what: value}, from its table or its JSON."""
    values, header = {}, None
    for line in run(program, "--bench", *arguments, cwd=tree).splitlines():
        if line.startswith("{"):
            values.update({name: float(value) for name, value in json.loads(line).items()})
        if not line.startswith("|") or set(line) <= set("|-"):
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if header is None:
            header = cells
            continue
        row = " ".join(cell for name, cell in zip(header, cells) if name in ("layout",))
        for place, (name, cell) in enumerate(zip(header, cells)):
            if name not in GIVEN:
                for kind, number in zip(("", " (processor)"), NUMBER.findall(cell)):
                    values[" ".join(filter(None, [row, f"{place}. {name}{kind}"]))] = float(number)
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after", nargs="?", default="HEAD")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bench", nargs="+", choices=list(BENCHES), default=list(BENCHES))
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--framework-alone", action="store_true")
    given = parser.parse_args()
    commits = [run("git", "-C", str(ROOT), "rev-parse", "--short", f"{c}^{{commit}}").strip() for c in (given.before, given.after)]
    with tempfile.TemporaryDirectory() as scratch:
        folder = (given.keep or pathlib.Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        try:
            sides = zip(commits, (False, given.framework_alone))
            programs = [built(commit, given.bench, folder, alone) for commit, alone in sides]
            for bench in given.bench:
                rounds = ([], [])
                for number in range(given.rounds):
                    for side in (0, 1) if number % 2 == 0 else (1, 0):
                        rounds[side].append(measured(*programs[side][bench], BENCHES[bench]))
                print(f"\n{bench}: medians of {given.rounds} alternating rounds, {commits[0]} and {commits[1]}")
                print("| measured | before | after | ratio | spread of before |\n|---|---|---|---|---|")
                for name in rounds[0][0]:
                    if name not in rounds[1][0]:
                        continue
                    before, after = ([one[name] for one in side if name in one] for side in rounds)
                    middle = [statistics.median(values) for values in (before, after)]
                    ratio = middle[1] / middle[0] if middle[0] else float("nan")
                    spread = (max(before) - min(before)) / middle[0] if middle[0] else float("nan")
                    print(f"| {name} | {middle[0]:g} | {middle[1]:g} | {ratio:.3f} | {spread:.1%} |", flush=True)
        finally:
            if not given.keep:
                for tree in (*commits, f"{commits[1]}-framework"):
                    subprocess.run(["git", "-C", str(ROOT), "worktree", "remove", "--force", str(folder / tree)], check=False)


main()
