"""The analysis of a large log on a Ray cluster that is there already: `python -m stapo_analyze.ray RUN… --report out/`.

The log is planned here, read in shards by tasks of the cluster (`stapo-analyze collect`), merged and reported here; the
report is the one that a single process would write, byte for byte. Any Ray that has the core API will do: nothing is
pinned, and none is started unless `--local` asks for it. Every node needs the log, the work folder (a shared disk) and
this package or the program on its PATH. What a killed driver had collected is found again by the same command.
"""

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import program
from .errors import StapoError

ANOTHER_LOOK = re.compile(r"^error: (?P<path>.*look-\d+\.json): the thresholds need another look", re.MULTILINE)
# The exit code of `merge` where thresholds need another look at the log (docs/scale.md).
NEEDS_LOOK = 4
# Rounds in which thresholds are narrowed down; more would mean that they never settle.
MOST_LOOKS = 16
# What reads logs in buckets.
CREDENTIALS = ("AWS_", "GOOGLE_", "AZURE_")


def main(arguments=None) -> int:
    """The command line; returns the exit code of `merge`: 0, or 1 where a gate failed. 2 is an error."""
    options, rest = _parser().parse_known_args(arguments)
    try:
        return _analyze(options, rest)
    except StapoError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; the same command goes on where this one was", file=sys.stderr)
        return 130


def _parser():
    parser = argparse.ArgumentParser(
        prog="python -m stapo_analyze.ray",
        description="Analyses a log on the cluster's own Ray. Options that are not listed here go to `stapo-analyze plan`.",
        allow_abbrev=False,
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="files, folders or globs of one run")
    parser.add_argument("--report", required=True, metavar="DIR", help="where the report goes, on this machine")
    parser.add_argument(
        "--work", metavar="DIR", help="folder on a disk that all nodes share [default: DIR.work, cleaned up at the end]"
    )
    parser.add_argument("--shard-tokens", default="2e8", metavar="N", help="tokens of a task [default: 2e8]")
    parser.add_argument("--address", metavar="ADDRESS", help="the cluster [default: $RAY_ADDRESS, or the one of this machine]")
    parser.add_argument("--local", action="store_true", help="start a Ray on this machine for this job")
    parser.add_argument("--cpus", type=int, default=1, metavar="N", help="cores of a task [default: 1]")
    parser.add_argument("--retries", type=int, default=3, metavar="N", help="times that a lost task is tried again [default: 3]")
    parser.add_argument("--fail-on", action="append", default=[], metavar="CONDITION", help="as of `stapo-analyze`")
    parser.add_argument("--quiet", "-q", action="store_true", help="no progress")
    return parser


def _analyze(options, rest) -> int:
    own_work = options.work is None
    base = Path(f"{os.fspath(options.report).rstrip('/')}.work" if own_work else options.work).absolute()
    if "://" in str(options.work or ""):
        raise StapoError("the work folder is a URL", "give a folder on a disk that all nodes share")
    cluster = _connect(options)
    try:
        base.mkdir(parents=True, exist_ok=True)
        work, plan, shards = _plan(options, rest, base)
        _collect(cluster, options, work, plan, shards, None)
        done = _merge(options, work, plan)
        for _ in range(MOST_LOOKS):
            look = ANOTHER_LOOK.search(done.stderr)
            if done.returncode != NEEDS_LOOK or not look:
                break
            _collect(cluster, options, work, plan, shards, look["path"])
            done = _merge(options, work, plan)
    finally:
        cluster.shutdown()
    sys.stdout.write(done.stdout)
    if done.returncode not in (0, 1):
        raise program.failure(done.stderr, done.returncode)
    sys.stderr.write(done.stderr)
    if own_work:
        shutil.rmtree(work, ignore_errors=True)
        with contextlib.suppress(OSError):  # something else is in it: not ours to remove
            base.rmdir()
    return done.returncode


def _plan(options, rest, base):
    """Plans into a folder that belongs to this very plan, so that parts of another one never meet it."""
    handle, name = tempfile.mkstemp(prefix="plan-", suffix=".json", dir=base)
    os.close(handle)
    draft = Path(name)
    try:
        # Nodes have other working folders.
        runs = [run if "://" in run else os.path.abspath(run) for run in options.runs]
        program.run("plan", *runs, *rest, "--shard-tokens", options.shard_tokens, "-o", draft)
        text = draft.read_bytes()
        work = base / hashlib.sha256(text).hexdigest()[:16]
        work.mkdir(exist_ok=True)
        os.replace(draft, work / "plan.json")
    finally:
        draft.unlink(missing_ok=True)
    return work, work / "plan.json", len(json.loads(text)["shards"])


def _connect(options):
    try:
        import ray
    except ImportError:
        raise StapoError("Ray is not installed here", "use the Python of the cluster, or pip install ray") from None
    try:
        if options.local:
            ray.init(logging_level="ERROR")
        else:
            ray.init(address=options.address or os.environ.get("RAY_ADDRESS") or "auto", logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError) as error:
        hint = "give --address, run this on a node of the cluster, or start a Ray for this job alone with --local"
        raise StapoError(f"no Ray cluster could be reached: {str(error).splitlines()[0]}", hint) from error
    return ray


def _task(ray, options):
    def collect(command, driver_program, environment):
        # Sent by value: a node needs the program, not this package.
        import os
        import shutil
        import socket
        import subprocess

        named = os.environ.get("STAPO_ANALYZE")
        try:
            from stapo_analyze import program as own

            found = own.path()
        except Exception:  # noqa: BLE001 - whatever is wrong with the package of that node
            found = named or (driver_program if os.path.isfile(driver_program) else shutil.which("stapo-analyze"))
        if not found:
            return f"error: {socket.gethostname()} has no stapo-analyze\nhint: pip install stapo-analyze on every node"
        done = subprocess.run([found, *command], capture_output=True, text=True, env={**os.environ, **environment})
        if done.returncode == 0:
            return None
        if done.returncode in (2, 3):
            # The same again would give the same.
            return done.stderr
        raise RuntimeError(f"{socket.gethostname()}: exit code {done.returncode}: {done.stderr[-2000:]}")

    return ray.remote(num_cpus=options.cpus, max_retries=options.retries, retry_exceptions=True)(collect)


def _collect(ray, options, work, plan, shards, look):
    task = _task(ray, options)
    environment = {key: value for key, value in os.environ.items() if key.startswith(CREDENTIALS)}
    where = program.path()
    asked = ["--look", os.fspath(look)] if look else []
    pending = {}
    for shard in range(shards):
        command = ["collect", "--plan", os.fspath(plan), "--shard", str(shard), "-o", os.fspath(work)]
        command += ["--threads", str(options.cpus), "--quiet", *asked]
        pending[task.remote(command, where, environment)] = shard
    refused, lost = {}, {}
    started = time.monotonic()
    while pending:
        ready, _ = ray.wait(list(pending), num_returns=1)
        for reference in ready:
            shard = pending.pop(reference)
            try:
                answer = ray.get(reference)
            except Exception as error:  # noqa: BLE001 - Ray's own errors and those of the task
                lost[shard] = str(error).strip().splitlines()[-1]
            else:
                if answer is not None:
                    refused[shard] = answer
        if refused or lost:
            first = min([*refused, *lost])
            # An earlier shard may still fail: the error shown is that of the first one.
            for reference, shard in list(pending.items()):
                if shard > first:
                    ray.cancel(reference, force=True)
                    del pending[reference]
        elif not options.quiet:
            done = shards - len(pending)
            what = f"look {Path(look).stem.removeprefix('look-')}: " if look else ""
            print(f"{what}{done} of {shards} shards, {time.monotonic() - started:.0f} s", file=sys.stderr)
    if not (refused or lost):
        kind = Path(look).stem if look else "part"
        if len(list(work.glob(f"{kind}-*.part"))) < shards:
            raise StapoError(
                f"{work}: parts that tasks wrote are not here",
                "give --work on a disk that this machine and all nodes share",
            )
    else:
        first = min([*refused, *lost])
        if first in refused:
            raise program.failure(refused[first], 2)
        raise StapoError(
            f"shard {first} of {shards} was lost {options.retries + 1} times: {lost[first]}",
            "look at the node's memory and disk; the same command goes on with what is there",
        )


def _merge(options, work, plan) -> "subprocess.CompletedProcess[str]":
    gates = [f"--fail-on={condition}" for condition in options.fail_on]
    quiet = ["--quiet"] if options.quiet else []
    command = [program.path(), "merge", "--plan", plan, work, "--report", options.report, *gates, *quiet]
    return subprocess.run([os.fspath(c) for c in command], capture_output=True, text=True, errors="replace")


if __name__ == "__main__":
    sys.exit(main())
