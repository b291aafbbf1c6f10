"""The program's commands as functions. An option is a keyword: `tau_p=0.01` is `--tau-p 0.01`."""

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import program
from .errors import GateFailed
from .report import Comparison, RunReport


def analyze(
    *runs: "str | os.PathLike[str]", report: "str | os.PathLike[str] | None" = None, **options: Any
) -> RunReport:
    """Analyses the log of one run and returns what the report says.

    runs      files, folders or globs of one run, or anything `os.fspath` takes
    report    folder for the report; a temporary one, gone with the result, if not given
    options   those of `stapo-analyze --help`: preset="v1", tokenizer="model/", fail_on="s2t.fraction>1e-4", …;
              several values as a list, names with values as a dictionary: map={"advantage": "adv"}

    StapoError where the log cannot be read, GateFailed (with the result in it) where `fail_on` holds.
    """
    return _run(RunReport, [*runs], report, options)


def compare(
    *runs: "str | os.PathLike[str]",
    report: "str | os.PathLike[str] | None" = None,
    arms: "Mapping[str, Iterable[str | os.PathLike[str]]] | None" = None,
    **options: Any,
) -> Comparison:
    """Holds runs against the first one and returns whether they differ.

    runs      one log each; keep names apart with "name=path"
    arms      several seeds as one arm: {"grpo": [a, b, c], "stapo": [d, e, f]}
    """
    joined = [f"{name}={','.join(map(str, logs))}" for name, logs in (arms or {}).items()]
    return _run(Comparison, ["compare", *runs], report, {"arm": joined} | options)


def _run(kind, arguments, report, options):
    keep = None if report is not None else tempfile.TemporaryDirectory(prefix="stapo-")
    folder = Path(report if keep is None else keep.name)
    done = program.run(*arguments, *flags(options), "--report", folder, "--quiet")
    result = kind(folder, keep)
    if done.returncode == 1:
        failed = [line.removeprefix("failed: ") for line in done.stderr.splitlines() if line.startswith("failed: ")]
        raise GateFailed("; ".join(failed) or "a gate failed", stderr=done.stderr, result=result)
    return result


def flags(options):
    """Keywords as arguments of the program: several values are one argument each, those of a mapping NAME=VALUE."""
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            yield flag
            continue
        for one in _values(value):
            yield f"{flag}={os.fspath(one) if isinstance(one, os.PathLike) else one}"


def _values(value):
    if isinstance(value, Mapping):
        return [f"{name}={of}" for name, of in value.items()]
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)  # the same command every time
    one = isinstance(value, (str, os.PathLike)) or not isinstance(value, Iterable)
    return [value] if one else value
