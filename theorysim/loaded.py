"""When this process began to load the package: what is written to its files later, it does not run.

`theorysim` imports this before anything else of the package can be loaded.
"""

from __future__ import annotations

import time

LOADED = time.time()
