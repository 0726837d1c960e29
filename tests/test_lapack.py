"""Tables of LAPACK are found without their package, which is whole when it is imported later."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FIND = """
import sys
from theorysim import lapack
%s
lapack.find_library()
found = {"scipy.linalg", "scipy.linalg.cython_blas", "scipy.linalg.cython_lapack"} & {*sys.modules}
assert bool(found) is %s, found
"""
USE = """
import jax.numpy as jnp
import numpy as np
assert np.allclose(jnp.linalg.eigvalsh(jnp.diag(jnp.arange(3.0))), [0, 1, 2])

import scipy.linalg
assert scipy.linalg.cython_lapack is sys.modules["scipy.linalg.cython_lapack"]
assert scipy.linalg.cython_blas is sys.modules["scipy.linalg.cython_blas"]
assert np.allclose(scipy.linalg.svdvals(np.diag([1.0, 3.0])), [3, 1])
"""
# What is done before, and whether the package is imported afterwards.
WAYS = {
    "nothing is imported": ("", False),
    "the package is imported": ("import scipy.linalg", True),
    "the second table is elsewhere": ('lapack.TABLES = (lapack.TABLES[0], "scipy.no")', True),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_library_is_found_and_scipy_is_whole(way):
    """In a process of its own: it is found once."""
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    script = FIND % WAYS[way] + USE
    variables = os.environ | {"PYTHONPATH": paths}
    subprocess.run([sys.executable, "-c", script], check=True, env=variables)
