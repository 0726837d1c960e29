"""Fingerprints see constants and operations, and neither names nor addresses."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import equinox as eqx
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


def in_order(x):
    return jnp.sin(x), jnp.cos(x)


def swapped(x):
    sine, cosine = jnp.sin(x), jnp.cos(x)
    return cosine, sine


def contracted(axis):
    """A matrix with its square, or with its transpose: the same operands in both."""

    def f(x):
        matrix = x[:, None] * jnp.sin(x)
        return jax.lax.dot_general(matrix, matrix, (((axis,), (0,)), ((), ())))

    return f


def called(callback):
    return lambda x: jax.pure_callback(callback, SHAPE, x)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (in_order, swapped),
        (lambda x: x - jnp.flip(x), lambda x: jnp.flip(x) - x),
        (contracted(0), contracted(1)),
        (jax.lax.cumsum, partial(jax.lax.cumsum, reverse=True)),
        (called(lambda y: 2 * y), called(lambda y: 3 * y)),
        (called(lambda y: np.sin(y)), called(lambda y: np.cos(y))),
        (called(lambda y, by=2: by * y), called(lambda y, by=3: by * y)),
        (called(lambda y, *, by=2: by * y), called(lambda y, *, by=3: by * y)),
        (called(partial(np.multiply, 2)), called(partial(np.multiply, 3))),
        (with_callback(np.float32(1)), with_callback(np.int32(1))),
        (with_callback(np.ones((3, 1))), with_callback(np.ones((1, 3)))),
    ],
    ids=[
        "results",
        "operands",
        "contractions",
        "parameters",
        "numbers",
        "functions",
        "defaults",
        "keywords",
        "partial",
        "types",
        "shapes",
    ],
)
def test_what_differs_in_one_thing_alone_has_another_fingerprint(one, other):
    assert of(one) == of(one) != of(other)


def checked(x):
    """With an error that is raised where it runs: it knows its traceback and its process."""
    return eqx.error_if(x, x[0] < 0, "a negative number")


PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
from tests.jaxprs.test_fingerprint import checked, of, scaled
print(of(scaled(np.arange(100.0, dtype=np.float32))), of(checked))
"""


def test_another_process_finds_the_same():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    own = [of(scaled(np.arange(100.0, dtype=np.float32))), of(checked)]
    assert done.stdout.split()[-2:] == own


def test_what_an_error_says_does_not_matter_but_when_it_is_raised_does():
    assert of(checked) == of(lambda x: eqx.error_if(x, x[0] < 0, "below zero"))
    assert of(checked) != of(lambda x: eqx.error_if(x, x[1] < 0, "a negative number"))
