"""What several tests share."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from stapo_analyze import ProgramNotFound, program

DATA = Path(__file__).resolve().parents[2] / "notebooks-data"

try:
    PROGRAM = program.path()
except ProgramNotFound:
    PROGRAM = None


def named_program(path):
    """The package runs the program at `path` inside the block, and what it ran before after it."""
    return mock.patch.dict(os.environ, {program.OVERRIDE: os.fspath(path)})


class Case(unittest.TestCase):
    """A test with a folder of its own, and the program where it is installed."""

    def setUp(self):
        self.dir = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)

    def analyze(self, *arguments):
        if not PROGRAM:
            self.skipTest("stapo-analyze is not installed")
        done = subprocess.run([PROGRAM, *map(str, arguments), "-q"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout
