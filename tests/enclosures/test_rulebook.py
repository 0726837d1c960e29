"""How operations are looked up: once for a program, in every arithmetic, while it lives."""

import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.enclosures.arithmetic import BALLS, INTERVALS
from theorysim.enclosures.interpreter import RULES, Interpreter, UnknownPrimitive

pytestmark = pytest.mark.usefixtures("x64")

# The programs below, in double precision: few operations on numbers of order one.
FLOAT_ERROR = 1e-14


def run(program, arithmetic, *values):
    interpreter = Interpreter(arithmetic, RULES, "a test")
    (output,) = interpreter.run(program, [interpreter.lift(np.asarray(v)) for v in values])
    return output


WITHOUT_AXES = {
    "flip": jnp.flip,
    "rev": lambda x: jax.lax.rev(x, ()),
    "slice": lambda x: jax.lax.slice(x, (), ()),
    "dynamic_slice": lambda x: jax.lax.dynamic_slice(x, (), ()),
    "pad": lambda x: jax.lax.pad(x, 0.0, ()),
    "pad of a truth": lambda x: jnp.where(jax.lax.pad(x > 1, False, ()), x, 0.0),
    "product": lambda x: jnp.einsum(",->", x, x),
    "sum of products": lambda x: jnp.einsum("i,j->", jnp.stack([x, x]), jnp.stack([x, 1.0])),
}


@pytest.mark.parametrize("name", WITHOUT_AXES)
def test_what_is_left_without_axes_is_a_number(name):
    """NumPy hands out the entry itself there, which the next operation asks for its axes."""

    def function(x):
        return 2.0 * WITHOUT_AXES[name](x) + x

    ball = run(jax.make_jaxpr(function)(1.5), BALLS, 1.5)
    assert ball.shape == ()
    assert abs(float(ball.item().mid()) - float(function(jnp.asarray(1.5)))) < FLOAT_ERROR


def test_one_program_runs_in_every_arithmetic():
    """In balls first, then in intervals, which find what was looked up for balls."""
    program = jax.make_jaxpr(lambda x: jax.lax.fori_loop(0, 3, lambda k, s: s * x + k, x))(1.5)
    truth = ((1.5 * 1.5 + 0) * 1.5 + 1) * 1.5 + 2
    for _ in range(2):
        assert run(program, BALLS, 1.5).item() == truth
        interval = run(program, INTERVALS, 1.5).item()
        assert interval.low <= truth <= interval.high


def test_what_was_looked_up_dies_with_its_program():
    program = jax.make_jaxpr(jax.jit(lambda x: jnp.exp(x) + 1))(1.5)
    run(program, BALLS, 1.5)
    alive = weakref.ref(program.jaxpr)
    del program
    jax.clear_caches()
    gc.collect()
    assert alive() is None


def test_what_has_no_type_is_unknown():
    def function(x):
        jax.lax.create_token()
        return x

    with pytest.raises(UnknownPrimitive, match="create_token"):
        run(jax.make_jaxpr(function)(1.5), BALLS, 1.5)
