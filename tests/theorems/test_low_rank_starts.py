"""The laws of h(0) that statements of the low-rank paper take, against the closed form of h."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough
from scipy.stats import binom

from theorysim.claims import Instance
from theorysim.numerics.gaussian import absolute_value, hermite, relu
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import speed
from theorysim.theorems.low_rank import lemma_2_even, theorem_5_start, theorem_8_start
from theorysim.theorems.low_rank._problem import random_signs
from theorysim.theorems.low_rank._sign_sums import TERMS, chance_below
from theorysim.theorems.low_rank.claim_2 import features


def instance(**values) -> Instance:
    return Instance({name: jnp.asarray(value) for name, value in values.items()}, ())


def starts(rows, activation) -> np.ndarray:
    """|h(0)| for c of one sign and every c^: it is linear in c^."""
    k = rows.shape[0]
    given = rank_one.from_signs(rows, jnp.ones(k), jnp.ones(k), jnp.ones(k), 1.0)
    slopes = jax.jit(
        jax.grad(lambda c: speed(given._replace(student=c), activation, jnp.zeros(())))
    )
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=k)))
    return np.abs(signs @ np.asarray(slopes(given.student))) / k**0.5


@pytest.mark.parametrize("odd", [0, 1])
@pytest.mark.parametrize("pairs", [8, 512, 2**20])
def test_sums_of_signs_have_the_chances_of_binomials(pairs, odd):
    k = 2 * pairs + odd
    for level in (0.5, 1.0, 1.5, 9.7, min(k, TERMS)):
        most = int(np.ceil(level)) - 1
        below = most - (most - k) % 2  # the largest sum below the level
        wanted = np.diff(binom.cdf([(k - below) // 2 - 1, (k + below) // 2], k, 0.5))[0]
        with jax.enable_x64(True):
            found = float(chance_below(jnp.asarray(float(pairs)), odd, level))
        assert abs(found - max(wanted, 0)) < 3e-9


@pytest.mark.parametrize("odd", [thorough(0), 1])
def test_a_start_on_the_features_of_claim_2_is_slow_as_often_as_enumerated(odd):
    k = 16 + odd
    with jax.enable_x64(True):
        found = starts(features(jnp.ones(k)), hermite(3))
        for constant in (0.3, 1.0, 2.9):
            x = instance(pairs=8.0, odd=odd)
            chance = theorem_8_start._slow(x, constant)
            assert abs(np.mean(found / 2 < constant / k**0.5) - chance) < 1e-8


def test_a_start_of_the_absolute_value_is_slow_as_often_as_enumerated():
    with jax.enable_x64(True):
        found = starts(jnp.eye(17), absolute_value())
        for level in (0.1, 0.2, 0.5):
            chance = lemma_2_even._small(instance(pairs=8.0), level)
            assert abs(np.mean(found < level) - chance) < 1e-8


def test_a_start_of_relu_is_that_of_the_closed_form():
    key = jax.random.key(3)
    with jax.enable_x64(True):
        readout = jnp.array([0.8, 1.2, 0.9, 1.1, 1.0])
        x = Instance({"readout": readout, "xi_bar": jnp.asarray(0.3)}, (("k", 5),))
        teacher, student = random_signs(key, 5)
        given = rank_one.from_signs(jnp.eye(5), readout, teacher, student, 0.3 * 5**0.5)
        wanted = jnp.abs(speed(given, relu(), jnp.zeros(())))
        rounding = 64 * np.finfo(float).eps  # sums of 25 terms of one size
        np.testing.assert_allclose(theorem_5_start.simulate(x, key), wanted, rtol=rounding)
