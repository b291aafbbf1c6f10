"""The stapo-analyze binary that came with the package: where it is, and how to run it."""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

from .errors import ProgramNotFound, StapoError

NAME = "stapo-analyze"
OVERRIDE = "STAPO_ANALYZE"


def path() -> str:
    """$STAPO_ANALYZE, else the one that pip installed with this package, else the one on the PATH."""
    override = os.environ.get(OVERRIDE)
    if override:
        if not Path(override).is_file():
            raise ProgramNotFound(f"${OVERRIDE} names {override}, which is not there", "correct or unset it")
        return override
    for scheme in (None, _user_scheme()):
        folder = sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        found = shutil.which(NAME, path=folder)
        if found:
            return found
    found = shutil.which(NAME)
    if found:
        return found
    raise ProgramNotFound(f"{NAME} is not installed", f"pip install {NAME}, or set ${OVERRIDE} to the program's path")


def _user_scheme():
    return sysconfig.get_preferred_scheme("user")


def run(*arguments) -> "subprocess.CompletedProcess[str]":
    """Runs the program quietly; what it says on stderr becomes a StapoError where it fails.

    Exit code 1, a gate that failed, is left to the caller.
    """
    command = [path(), *map(os.fspath, map(_text, arguments))]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace")
    if done.returncode not in (0, 1):
        raise failure(done.stderr, done.returncode)
    return done


def failure(stderr, code):
    """The exception for what the program wrote before it gave up."""
    message, hint, reading = [], [], None
    for line in stderr.splitlines():
        if line.startswith("error: "):
            reading, line = message, line.removeprefix("error: ")
        elif line.startswith("hint: "):
            reading, line = hint, line.removeprefix("hint: ")
        if reading is not None and line.strip():
            reading.append(line.strip())
    return StapoError(" ".join(message) or f"{NAME} ended with exit code {code}", " ".join(hint), stderr)


def _text(argument):
    return argument if isinstance(argument, (str, os.PathLike)) else str(argument)
