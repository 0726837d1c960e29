"""Where kernels of linear algebra find their functions: in tables of SciPy, by their names.

JAX imports scipy.linalg for them, which takes twelve times as long (85 and 7 ms).
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

TABLES = ("scipy.linalg.cython_blas", "scipy.linalg.cython_lapack")


def find_library() -> None:
    """Let kernels of linear algebra find their functions, as JAX does where it lowers a program."""
    from jaxlib.cpu import _lapack

    _lapack.initialize()


def find_library_alone() -> None:
    """The same without scipy.linalg, which whoever imports it later finds whole.

    Nothing is done where that does not work: `find_library` imports the package. To be called where
    no other thread imports anything: it would meet tables that are not yet there, or no more.
    """
    if "scipy.linalg" in sys.modules:
        return
    try:
        with suppress(Exception):  # SciPy is built in another way
            _load_tables()
            find_library()
    finally:
        for name in TABLES:
            sys.modules.pop(name, None)


def _load_tables() -> None:
    """The modules without their package."""
    import scipy

    folders = [str(Path(place, "linalg")) for place in scipy.__path__]
    for name in TABLES:
        spec = PathFinder.find_spec(name, folders)
        if spec is None or spec.loader is None:
            raise ImportError(f"{name} is not in {folders}")
        sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
