"""Where kernels of linear algebra find their functions: in tables of SciPy, by their names.

JAX imports all of scipy.linalg for them, which takes thirty times as long as the tables alone.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

TABLES = ("scipy.linalg.cython_blas", "scipy.linalg.cython_lapack")


@cache
def find_library() -> None:
    """Let kernels of linear algebra find their functions, as JAX does where it lowers a program."""
    from jaxlib.cpu import _lapack

    if "scipy.linalg" not in sys.modules:
        try:
            _load_tables()
        except ImportError:  # SciPy is built in another way: JAX imports all of it
            _forget_tables()
    _lapack.initialize()
    if "scipy.linalg" not in sys.modules:
        _forget_tables()


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


def _forget_tables() -> None:
    """Whoever imports the package finds them there, and not before: they stay loaded."""
    for name in TABLES:
        sys.modules.pop(name, None)
