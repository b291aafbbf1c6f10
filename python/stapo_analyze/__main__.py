"""`python -m stapo_analyze …` is `stapo-analyze …`."""

import subprocess
import sys

from . import program
from .errors import StapoError


def main() -> int:
    """Runs the program with this process's arguments, streams and exit code."""
    try:
        return subprocess.run([program.path(), *sys.argv[1:]]).returncode
    except StapoError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
