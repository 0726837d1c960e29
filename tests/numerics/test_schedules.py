"""Learning rates along a run, against Optax's own schedules and optimiser."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from theorysim.numerics.schedules import adamw, warm_up_and_cosine

# Of rates below one, in single precision: Optax computes them in another order.
FEW_UNITS = 8 * float(np.finfo(np.float32).eps)
# After twenty steps, each of which amplifies what the last one rounded.
AFTER_STEPS = 20 * FEW_UNITS


@pytest.fixture
def promoting():
    """Optax multiplies integers and floats."""
    with jax.numpy_dtype_promotion("standard"):
        yield


@pytest.mark.usefixtures("promoting")
def test_the_rate_is_that_of_optax():
    own = warm_up_and_cosine(0.3, 200)
    other = optax.warmup_cosine_decay_schedule(0.0, 0.3, 20, 200)
    steps = jnp.arange(200)
    np.testing.assert_allclose(jax.vmap(own)(steps), jax.vmap(other)(steps), atol=FEW_UNITS)


def test_a_traced_number_of_steps_gives_the_same():
    traced = jax.jit(lambda steps: warm_up_and_cosine(1.0, steps)(7))(jnp.asarray(50))
    assert float(traced) == float(warm_up_and_cosine(1.0, 50)(7))


@pytest.mark.usefixtures("promoting")
def test_the_optimiser_is_that_of_optax():
    params = {"w": jnp.array([1.0, -2.0])}
    schedule = optax.warmup_cosine_decay_schedule(0.0, 0.1, 2, 20)
    pairs = [adamw(0.1, 20, 0.01), optax.adamw(schedule, b1=0.9, b2=0.95, weight_decay=0.01)]
    ends = []
    for optimiser in pairs:
        w, memory = params, optimiser.init(params)
        for _ in range(20):
            slope = jax.grad(lambda p: jnp.sum(jnp.cosh(p["w"])))(w)
            updates, memory = optimiser.update(slope, memory, w)
            w = optax.apply_updates(w, updates)
        ends.append(w["w"])
    np.testing.assert_allclose(*ends, rtol=AFTER_STEPS)
