"""Fingerprints see constants and operations, and neither names nor addresses."""

import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.jaxprs.fingerprint import fingerprint

SHAPE = jax.ShapeDtypeStruct((3,), np.float32)


def of(f):
    return fingerprint(jax.make_jaxpr(f)(SHAPE))


def scaled(constants):
    @jax.jit
    def inner(x):
        return jnp.sum(constants) * x

    return lambda x: jax.lax.fori_loop(0, 3, lambda _, y: inner(jax.nn.relu(y)), x)


def with_callback(factor):
    return lambda x: jax.pure_callback(lambda y: factor * y, SHAPE, x)


@pytest.mark.parametrize("make", [scaled, with_callback], ids=["closure", "callback"])
def test_equal_constants_give_equal_fingerprints_and_others_do_not(make):
    large = np.ones(4000, np.float32)[:3] if make is with_callback else np.ones(4000, np.float32)
    other = large.copy()
    other[2] += 1e-6
    assert of(make(large)) == of(make(large.copy()))
    assert of(make(large)) != of(make(other))


def test_names_do_not_matter_but_operations_shapes_and_types_do():
    one = of(lambda x: jnp.sin(x) + 1)
    assert one == of(lambda y: jnp.sin(y) + 1)
    assert one != of(lambda x: jnp.cos(x) + 1)
    assert one != of(lambda x: jnp.sin(x) + 2)
    wide = jax.make_jaxpr(lambda x: jnp.sin(x) + 1)(jax.ShapeDtypeStruct((4,), np.float32))
    assert one != fingerprint(wide)


PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
from tests.jaxprs.test_fingerprint import of, scaled
print(of(scaled(np.arange(100.0, dtype=np.float32))))
"""


def test_another_process_finds_the_same():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split()[-1] == of(scaled(np.arange(100.0, dtype=np.float32)))
