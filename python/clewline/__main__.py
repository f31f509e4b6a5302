"""The command line: `python -m clewline check recorded.jsonl --spec queue`."""

import os
import signal
import sys

from . import _native


def main() -> int:
    """Runs the command in the arguments of the process, and returns its exit code."""
    # The command line has handlers of its own: it reports what it has.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(os.path.realpath(_native.__file__), ["clewline", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
