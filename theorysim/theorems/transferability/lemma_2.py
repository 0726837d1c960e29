"""Gram matrices stay well conditioned under small movements of the units, in wide networks.

Lemma 2 of Liu et al. (2019), from Du et al. (2019): for i.i.d. w_r(0) ~ N(0, I), with probability
1 - delta, every W with ||w_r - w_r(0)|| <= R = c delta lambda_0 / n^2 has ||H - H(0)|| < lambda_0/4
and lambda_min(H) > lambda_0/2. Printed for any m; an input on which no unit is active, as happens
with probability 2^-m, leaves a row of zeros in H. The constant c is 1/8; two movements are tried,
one random and one that turns off every unit in its reach.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics import random
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training

SMALL_CONSTANT = 1 / 8


class Moved(NamedTuple):
    """||H - H(0)|| and lambda_min(H) after a random movement and after the one that turns off."""

    change: Float[Array, "*keys 2"]
    smallest: Float[Array, "*keys 2"]


def _units(x: claims.Instance):
    """m, from one unit to all that are drawn."""
    return jnp.floor(x.width**x.units_power)


def _gram(x: claims.Instance, weights):
    """Of the first m of all units that were drawn."""
    inputs = problem.source(x).inputs
    pattern = training.active(weights, inputs) * (jnp.arange(x.width) < _units(x))[:, None]
    return dot(inputs, inputs.T) * dot(pattern.T, pattern) / _units(x)


def _simulate(radius: Callable) -> Callable:
    def simulate(x: claims.Instance, key) -> Moved:
        for_start, for_move = jax.random.split(key)
        weights, inputs = random.normal(for_start, (x.width, x.d)), problem.source(x).inputs
        step = random.normal(for_move, weights.shape)
        step = radius(x) * step / jnp.linalg.norm(step, axis=1, keepdims=True)
        values = dot(weights, inputs.T)
        nearest = jnp.argmin(jnp.where(values >= 0, values, jnp.inf), axis=1)
        off = jnp.where(jnp.any(values >= 0, axis=1)[:, None], -radius(x) * inputs[nearest], 0)
        start = _gram(x, weights)
        grams = [_gram(x, weights + move) for move in (step, off)]
        return Moved(
            jnp.stack([jnp.linalg.norm(gram - start, ord=2) for gram in grams]),
            jnp.stack([problem.smallest(gram) for gram in grams]),
        )

    return simulate


change = problem.likely(
    "|H - H(0)| < lambda_0 / 4", lambda r: r.sim.change, lambda r: problem.lambda_p(r.x) / 4
)
floor = problem.likely(
    "lambda_min(H) > lambda_0 / 2", lambda r: problem.lambda_p(r.x) / 2, lambda r: r.sim.smallest
)


def _large_radius(x: claims.Instance):
    return jnp.sqrt(problem.lambda_p(x)) / x.p


def _required_width(x: claims.Instance):
    """Du et al. (2019), Lemma 3.1, by Hoeffding's inequality and |H - H_infinity|_F <= lambda/4."""
    return 8 * (x.p / problem.lambda_p(x)) ** 2 * jnp.log(2 * x.p**2 / x.failure)


def _wide(x: claims.Instance):
    return _units(x) / _required_width(x) - 1


theorem = claims.Theorem(
    space=problem.problem_space(
        p=claims.Size(2, high=64),
        width=claims.Size(2048, high=65536),
        units_power=claims.Real(0, 1),
        failure=problem.FAILURE,
    ),
    assumes=(problem.REGULAR_SOURCE,),
    simulate=_simulate(lambda x: SMALL_CONSTANT * x.failure * problem.lambda_p(x) / x.p**2),
    claims=(change, floor),
    source=claims.Printed(
        "Appendix C, Lemma 2",
        "||w_r(0) - w_r|| <= c delta lambda_0 / n^2: ||H - H(0)|| < lambda_0 / 4 and "
        "lambda_min(H) > lambda_0 / 2",
    ),
    note="with few units some input may have none that is active: its row of the Gram matrix is "
    "zero",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("with m = Omega(n^2 log(n / delta) / lambda_0^2), constant 8"),
            hypotheses={"m >= 8 (n / lambda_0)^2 log(2 n^2 / delta)": _wide},
            requirements={"m": _required_width},
            primary=True,
            note="the width that Du et al. (2019) ask for, which the print leaves out",
        ),
    ),
    mutants=(
        claims.Mutant("R = sqrt(lambda_0) / n", simulate=_simulate(_large_radius)),
        claims.Mutant("lambda_min(H) > lambda_0", claims=(floor.scaled(1 / 2),)),
    ),
    keys=128,
    instances=16,
    mutant_instances=16,
)
