"""When this process began to load the package, and whether files were written since.

What is written before a module is imported runs, later than all others; what is written to it
afterwards does not. `theorysim` imports this before anything else of the package can be loaded.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

LOADED = time.time()

# Clocks of files are coarser than that of the process, by hundredths of a second. With a whole one
# nothing was kept of a process that began as soon as the package was installed.
CLOCK = 0.1

PACKAGE = str(Path(__file__).parent) + os.sep


def is_as_loaded(path: str | Path) -> bool:
    """Whether a file was last changed before this process began."""
    try:
        status = os.stat(path)
    except OSError:  # it is gone
        return False
    # An archive may set the one in the future; on Windows the other is when a file was made.
    changed = status.st_mtime if os.name == "nt" else status.st_ctime
    return changed <= LOADED - CLOCK


def modules_are_as_loaded() -> bool:
    """The same of all modules of the package that were imported so far."""
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return all(is_as_loaded(file) for file in files if file and file.startswith(PACKAGE))
