"""`theorysim`, and `python -m theorysim`."""

from __future__ import annotations

import atexit
import os
import sys
import threading

from theorysim.cli import main
from theorysim.environment import has_code_of_others, import_when_used


def run() -> None:
    """Run the command, and end the process at once.

    Taking apart what was imported and compiled takes .2 to .3 s, a quarter of a short answer, and
    so did importing what only traces.
    """
    import_when_used("diffrax", "equinox", "optax", "optimistix")
    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, str):
            raise
        code = end.code or 0
    else:
        code = 0
    if has_code_of_others() or threading.active_count() > 1:
        sys.exit(code)  # whoever still works is waited for, and open files are written out
    if not _is_alone() or not _is_written_out():
        sys.exit(code)
    atexit._run_exitfuncs()
    os._exit(code)


def _is_alone() -> bool:
    """Whether the process was begun for the command: a profiler or a debugger has work left."""
    return getattr(sys.modules["__main__"], "run", None) is run and sys.gettrace() is None


def _is_written_out() -> bool:
    """Whether all output went where it goes; the interpreter says it, if not."""
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    except (OSError, ValueError):
        return False
    return True


if __name__ == "__main__":
    run()
