"""Gram matrices stay well conditioned under small movements of the units, in wide networks.

Lemma 2 of Liu et al. (2019), from Du et al. (2019): for i.i.d. w_r(0) ~ N(0, I), with probability
1 - delta, every W with ||w_r - w_r(0)|| <= R = c delta lambda_0 / n^2 has ||H - H(0)|| < lambda_0/4
and lambda_min(H) > lambda_0/2. Printed for any m; H of one unit is of rank one. The constant c is
1/8; two movements are tried, one random and one that turns off every unit in its reach.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Instance,
    Mutant,
    Reading,
    Real,
    Size,
    Theorem,
    with_probability,
)
from theorysim.numerics.products import dot
from theorysim.theorems.transferability._problem import (
    HYPOTHESES,
    problem_space,
    smallest,
    source,
    source_gram,
)
from theorysim.theorems.transferability._training import active

SMALL_CONSTANT = 1 / 8


def _radius(x: Instance):
    return SMALL_CONSTANT * x.failure * smallest(source_gram(x)) / x.p**2


def _gram(x: Instance, pattern):
    """Of the first `units` of all units that were drawn."""
    count = jnp.floor(x.units)
    pattern = pattern * (jnp.arange(x.width) < count)[:, None]
    inputs = source(x).inputs
    return dot(inputs, inputs.T) * dot(pattern.T, pattern) / count


def simulate(x: Instance, key):
    """lambda_min and the change of H under both movements."""
    for_start, for_move = jax.random.split(key)
    weights = jax.random.normal(for_start, (x.width, x.d))
    step = jax.random.normal(for_move, weights.shape)
    step = _radius(x) * step / jnp.linalg.norm(step, axis=1, keepdims=True)
    values, inputs = dot(weights, source(x).inputs.T), source(x).inputs
    nearest = jnp.argmin(jnp.where(values >= 0, values, jnp.inf), axis=1)
    off = jnp.where(jnp.any(values >= 0, axis=1)[:, None], -_radius(x) * inputs[nearest], 0)
    start = _gram(x, active(weights, inputs))
    moved = [_gram(x, active(weights + move, inputs)) for move in (step, off)]
    return {
        "change": jnp.stack([jnp.linalg.norm(h - start, ord=2) for h in moved]),
        "smallest": jnp.stack([smallest(h) for h in moved]),
    }


def _lambda(r, share):
    return share * smallest(source_gram(r.x))


def _claims(change: float, floor: float) -> tuple:
    def chance(r):
        return 1 - r.x.failure

    return (
        with_probability(
            "|H - H(0)| < lambda_0 / 4",
            lambda r: r.sim["change"],
            lambda r: _lambda(r, change),
            at_least=chance,
        ),
        with_probability(
            "lambda_min(H) > lambda_0 / 2",
            lambda r: _lambda(r, floor),
            lambda r: r.sim["smallest"],
            at_least=chance,
        ),
    )


def _demanded(x: Instance):
    """Du et al. (2019), Lemma 3.1, by Hoeffding's inequality and |H - H_infinity|_F <= lambda/4."""
    share = 4 * x.p / smallest(source_gram(x))
    return share**2 * jnp.log(2 * x.p**2 / x.failure) / 2


theorem = Theorem(
    space=problem_space(
        p=Size(2, high=64),
        width=Size(2048, high=65536),
        units=Real(1, 2048, log=True),
        failure=Real(0.05, 0.5, log=True),
    ),
    hypotheses={"lambda_P > 0": HYPOTHESES["lambda_P > 0"]},
    simulate=simulate,
    claims=_claims(1 / 4, 1 / 2),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            hypotheses={
                "lambda_P > 0": HYPOTHESES["lambda_P > 0"],
                "m >= 8 (n / lambda_0)^2 log(2 n^2 / delta)": lambda x: x.units / _demanded(x) - 1,
            },
            requirements={"width": _demanded},
            primary=True,
            note="m = Omega(n^2 log(n / delta) / lambda_0^2), which the print leaves out",
        ),
    ),
    mutants=(Mutant("lambda_0 itself", claims=_claims(1 / 400, 1.0)),),
    keys=128,
    instances=16,
    mutant_instances=16,
)
