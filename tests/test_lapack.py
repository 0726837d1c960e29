"""Tables of LAPACK are found without their package, which is whole when it is imported later."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from drawn import one_in

FIND = """
import sys
from theorysim import lapack
%s
lapack.find_library_alone()
found = {"scipy.linalg", "scipy.linalg.cython_blas", "scipy.linalg.cython_lapack"} & {*sys.modules}
assert bool(found) is %s, found
"""
USE = """
from jaxlib.cpu import _lapack
_lapack.initialize()
assert ("scipy.linalg" in sys.modules) is %s

import jax.numpy as jnp
import numpy as np
assert np.allclose(jnp.linalg.eigvalsh(jnp.diag(jnp.arange(3.0))), [0, 1, 2])

import scipy.linalg
assert scipy.linalg.cython_lapack is sys.modules["scipy.linalg.cython_lapack"]
assert scipy.linalg.cython_blas is sys.modules["scipy.linalg.cython_blas"]
assert np.allclose(scipy.linalg.svdvals(np.diag([1.0, 3.0])), [3, 1])
"""
# What is done before, and whether the package is imported then, and where a program needs it.
WAYS = {
    "nothing is imported": ("", False, False),
    "the package is imported": ("import scipy.linalg", True, True),
    "the second table is elsewhere": (
        'lapack.TABLES = (lapack.TABLES[0], "scipy.no")',
        False,
        True,
    ),
    "the tables cannot be loaded": (
        "lapack.module_from_spec = lambda spec: [][1]",
        False,
        True,
    ),
    "the library cannot be found": (
        "lapack.find_library = lambda: [][1]",
        False,
        True,
    ),
}


@pytest.mark.parametrize("way", one_in(4, WAYS))
def test_the_library_is_found_and_scipy_is_whole(way):
    """In a process of its own, where nothing is imported yet."""
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    before, at_once, in_the_end = WAYS[way]
    script = FIND % (before, at_once) + USE % in_the_end
    variables = os.environ | {"PYTHONPATH": paths}
    subprocess.run([sys.executable, "-c", script], check=True, env=variables)
