#!/usr/bin/env python3
"""prime-rl's stream of traces (since 0.9.1.dev29) with its annotations folded in.

    python prime_rl_fold.py RUN/monitors/file/traces -o folded
    stapo-analyze folded

Reads stream.jsonl or the chunks stream/NNNNN.jsonl[.zst], and annotations/<producer>.jsonl or
annotations/<producer>/NNNNN.jsonl[.zst]. Writes folded/step_N/traces.jsonl: the episodes that were
trained on at step N, with the advantages, log-probabilities and entropies that orchestrator and
trainer noted later. Episodes of evaluations, and those that were never shipped to the trainer, are
left out, and how many is said. Needs nothing but Python; chunks that are sealed need `zstandard`.
Checked by test_prime_rl_fold.py.
"""

import argparse
import io
import json
import sys
from pathlib import Path

STREAMS = ("advantages", "trainer_logprobs", "entropies", "reference_logprobs")


def lines(path):
    """The complete lines of a file; the last one of a run that goes on may be torn."""
    if path.suffix == ".zst":
        import zstandard

        with open(path, "rb") as raw:
            with zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True) as plain:
                yield from (line for line in io.TextIOWrapper(plain, "utf-8") if line.endswith("\n"))
        return
    with open(path, encoding="utf-8") as plain:
        yield from (line for line in plain if line.endswith("\n"))


def chunks(base):
    """BASE.jsonl, or the numbered chunks in the folder BASE; a sealed chunk beside its plain one counts once."""
    found = {}
    for path in [base.with_name(base.name + ".jsonl"), *sorted(base.glob("*.jsonl")), *sorted(base.glob("*.jsonl.zst"))]:
        if path.is_file():
            found.setdefault(path.name.removesuffix(".zst"), path)
    return [found[name] for name in sorted(found)]


def producers(traces):
    folder = traces / "annotations"
    names = {p.name for p in folder.glob("*") if p.is_dir()}
    names |= {p.name.removesuffix(".jsonl") for p in folder.glob("*.jsonl") if not p.name.endswith(".index.jsonl")}
    return [folder / name for name in sorted(names)]


def updates(traces):
    """All updates by trace, in the order they were written."""
    found = {}
    for producer in producers(traces):
        for path in chunks(producer):
            for line in lines(path):
                update = json.loads(line)
                found.setdefault(update.get("trace_id"), []).append(update)
    return found


def merged(old, new):
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {key: merged(old.get(key), value) for key, value in new.items()}
    return new


def paths(nodes):
    """The messages from the root to each leaf, leaves in order: a branch each."""
    parents = {node.get("parent") for node in nodes}
    for leaf in (i for i in range(len(nodes)) if i not in parents):
        path = [leaf]
        while (parent := nodes[path[-1]].get("parent")) is not None:
            if len(path) > len(nodes):
                raise ValueError("the messages form a circle")
            path.append(parent)
        yield path[::-1]


def fold(trace, news):
    """The trace with its updates: facts are merged, streams go to the sampled tokens of its messages."""
    branches = list(paths(trace.get("nodes") or []))
    for update in news:
        trace["info"] = merged(trace.get("info") or {}, update.get("info") or {})
        for branch in update.get("branches") or []:
            index = branch.get("index", 0)
            if not 0 <= index < len(branches):
                raise ValueError(f"there is no branch {index}")
            for name in (name for name in STREAMS if branch.get(name)):
                start = 0
                for node in (trace["nodes"][n] for n in branches[index]):
                    mask = node.get("mask") or [False] * len(node.get("token_ids") or [])
                    values = branch[name][start : start + len(mask)]
                    start += len(mask)
                    sampled = [value for value, is_sampled in zip(values, mask) if is_sampled]
                    # A message takes a stream only if all its sampled tokens have a value.
                    if sampled and len(sampled) == sum(mask) and None not in sampled:
                        node[name] = sampled
    return trace


def kind(episode, trace):
    work = (episode.get("run") or {}).get("work") or {}
    return (trace.get("info") or {}).get("kind") or work.get("type") or "train"


def folded(traces):
    """Step and episode, with the traces that were trained on at this step."""
    known = updates(traces)
    if not known:
        sys.exit(f"{traces}/annotations holds nothing: without it neither advantages nor entropies are known")
    for path in chunks(traces / "stream"):
        for line in lines(path):
            episode = json.loads(line)
            steps = {}
            for trace in episode.get("traces") or []:
                trace = fold(trace, known.get(trace.get("id"), []))
                step = ((trace.get("info") or {}).get("ship") or {}).get("step")
                trained = step is not None and (trace["info"].get("effective") is True)
                if trained and kind(episode, trace) == "train":
                    steps.setdefault(step, []).append(trace)
            if not steps:
                yield None, episode
            for step, shipped in steps.items():
                yield step, episode | {"traces": shipped}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", type=Path, help="RUN/monitors/file/traces")
    parser.add_argument("-o", "--out", type=Path, required=True, help="folder to write; must not exist")
    arguments = parser.parse_args()
    if arguments.out.exists():
        sys.exit(f"{arguments.out} exists already")
    if not chunks(arguments.traces / "stream"):
        sys.exit(f"{arguments.traces} has neither stream.jsonl nor stream/*.jsonl")
    written, left_out, out = 0, 0, {}
    try:
        for step, episode in folded(arguments.traces):
            if step is None:
                left_out += 1
                continue
            if step not in out:
                folder = arguments.out / f"step_{step}"
                folder.mkdir(parents=True)
                out[step] = folder / "traces.jsonl"
            with open(out[step], "a", encoding="utf-8") as file:
                file.write(json.dumps(episode) + "\n")
            written += 1
    except ValueError as bad:
        sys.exit(f"a record cannot be read: {bad}")
    print(f"{written} episodes at {len(out)} steps; {left_out} left out (evaluations, or never shipped)")


if __name__ == "__main__":
    main()
