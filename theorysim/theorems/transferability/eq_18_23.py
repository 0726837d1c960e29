"""Outputs on the target change along the features of the start, up to units whose pattern flips.

Eq. 18 to 23 of Liu et al. (2019). S_i are the units with |<w_r(0), x_i>| <= R, R that of Lemma 1:
u_Q(P) - u_Q(0) = a^T sigma_0((W(P) - W(0))^T X) / sqrt(m) + eps_1 + eps_2, where the errors sum
over S_i only, wherever no unit moves by R. The second line of Eq. 22 has them under 1 / sqrt(m)
once more than the third. Eq. 20 bounds |S_i|, Eq. 23 the errors.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import (
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Theorem,
    at_most,
    equal,
    with_probability,
)
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    HYPOTHESES,
    problem_space,
    smallest,
    source,
    source_gram,
    target,
)


def simulate(x: Instance, key):
    """Everything that the displays sum, per unit and target input."""
    path = training.paths(x, training.started(x, key))
    inputs, first, last = target(x).inputs, path.source[0], path.source[-1]
    start, end = dot(first, inputs.T), dot(last, inputs.T)
    rest = x.source_labels - training.outputs(first, path.signs, source(x).inputs)
    lever = 4 * jnp.sqrt(x.p) * jnp.linalg.norm(rest) / smallest(source_gram(x))
    radius = lever / jnp.sqrt(x.width)
    signs = path.signs[:, None] / jnp.sqrt(x.width)
    near = (jnp.abs(start) <= radius).astype(float)
    linear = training.active(first, inputs) * (end - start)
    real = jnp.maximum(end, 0) - jnp.maximum(start, 0)
    return {
        "change": training.outputs(last, path.signs, inputs)
        - training.outputs(first, path.signs, inputs),
        "real": jnp.sum(signs * real, axis=0),
        "linear": jnp.sum(signs * linear, axis=0),
        "eps_1": jnp.sum(signs * near * real, axis=0),
        "eps_2": -jnp.sum(signs * near * linear, axis=0),
        "near": jnp.sum(near, axis=0),
        "radius": radius,
        "movement": jnp.max(jnp.linalg.norm(last - first, axis=1)),
    }


def _still(r):
    """No unit moves by R."""
    return (r.sim["radius"] - r.sim["movement"])[:, None]


def _second_line(power: float):
    def side(r):
        errors = r.sim["eps_1"] + r.sim["eps_2"]
        return r.sim["linear"] + errors * r.x.width ** (-power / 2)

    return side


def _eq_23(r):
    """The norm of the errors."""
    return jnp.linalg.norm(r.sim["eps_1"] + r.sim["eps_2"], axis=1)


def _claims(power: float, share: float) -> tuple:
    return (
        equal("Eq. 18", lambda r: share * r.sim["change"], lambda r: r.sim["real"]),
        with_probability(
            "Eq. 20: |S_i|",
            lambda r: r.sim["near"],
            lambda r: (
                share
                * (2 * r.x.width * r.x.p * r.sim["radius"] / r.x.kappa / r.x.failure)[:, None]
                / jnp.sqrt(2 * jnp.pi)
            ),
            at_least=lambda r: 1 - r.x.failure,
        ),
        equal(
            "Eq. 21 and 22",
            lambda r: share * r.sim["change"],
            _second_line(power),
            where=_still,
        ),
        at_most(
            "Eq. 23",
            _eq_23,
            lambda r: (
                share
                * jnp.sqrt(r.x.q / r.x.width)
                * jnp.max(r.sim["near"], axis=1)
                * r.sim["movement"]
            ),
            where=lambda r: _still(r)[:, 0],
        ),
    )


theorem = Theorem(
    space=problem_space(
        **training.SIZES,
        kappa=training.KAPPA,
        rate_share=Real(0.05, 0.95),
        failure=Real(0.05, 0.5, log=True),
    ),
    hypotheses=HYPOTHESES,
    simulate=simulate,
    claims=_claims(0.0, 1.0),
    printed="Eq. 21 and the third line of Eq. 22",
    aliases=("eq-18", "eq-19", "eq-20", "eq-21", "eq-22", "eq-23"),
    readings=(
        Reading(
            "second line of Eq. 22",
            Printed("", ""),
            claims=_claims(1.0, 1.0)[2:3],
            note="the errors of Eq. 21 already have their 1 / sqrt(m)",
        ),
    ),
    mutants=(Mutant("no errors, a hundredth of the bounds", claims=_claims(99.0, 0.01)),),
    keys=128,
    instances=16,
    mutant_instances=16,
)
