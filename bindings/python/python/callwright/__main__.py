"""The command line: ``python -m callwright`` and the script ``callwright``."""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

from ._callwright import main as _run


def main() -> NoReturn:
    """Runs the program and exits with its exit code."""
    # The program is not written in Python: an interrupt ends it, or the program handles it itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_run(["callwright", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
