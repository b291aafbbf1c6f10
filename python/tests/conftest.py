"""Where the tests find the sample data and the examples. They test the *installed* package, with its program."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(Path(__file__).parent), str(ROOT / "examples/python")]
