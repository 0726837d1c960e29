"""The overlap's speed keeps its sign and half of its size, and is rarely small at the start.

Lemmas 1 and 2 of Dayi and Chen (2024) (with Condition 3): over random signs c and c^, h(m)
sign(h(0)) >= |h(0)| / 2 wherever m h(0) >= 0, and |h(0)| is at least gamma times A^(-s*) xi^2
(orthonormal features, mu_1 != 0), the same over sqrt(k) (mu_1 = 0), or lambda_min^2 / sqrt(k) (xi =
1, separated features), but for a chance of o(1) + exp(-2k / (e xi^2)) + O(sqrt(gamma)). The o(1) is
read as 1 / sqrt(k) in the first claim and left out of the second, whose k are odd, so that no sum
of signs vanishes, and for m 17 numbers in [0, 1] are taken. Activations are ReLU (mu_1 = 1/2) and
|a| (mu_1 = 0, s* = 2).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import (
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Run,
    Theorem,
    exists_constant,
    with_probability,
)
from theorysim.systems.rank_one_overlap import keeps_sign
from theorysim.theorems.low_rank._recovery import Setting, even, odd, recovery_space

GAMMAS = (0.5, 0.25, 0.125, 0.0625)
NEURONS = (5.0, 9.0, 17.0)


def _scale(x: Instance):
    return x.xi_bar * x.k**0.5


ODD, EVEN = Setting(True, _scale, odd), Setting(True, _scale, even)
SEPARATED = Setting(False, lambda x: 1.0, odd)


def _simulate(setting: Setting):
    """|h(0)| and min over m of |h| / |h(0)|, for random signs."""

    def simulate(x: Instance, key):
        teacher, student = jax.random.normal(key, (2, x.k))
        given = setting.problem(x, teacher, student)
        kept = keeps_sign(given, setting.activation(), points=17)
        return {"start": setting.start_speed(given), "kept": jnp.nan_to_num(kept)}

    return simulate


def _claims(size, exponent: float, factor: float = 1.0):
    """The two claims; `size` is what gamma multiplies."""

    def rarely(r: Run):
        return jnp.mean(r.sim["start"] <= r.x.gamma * size(r.x), axis=0)

    return (
        with_probability(
            "C1: h keeps half of h(0)",
            lambda r: 0.5 * factor,
            lambda r: r.sim["kept"],
            at_least=lambda r: 1 - jnp.exp(-exponent / jnp.e * _ratio(r.x)) - r.x.k**-0.5,
        ),
        exists_constant(
            "C2: |h(0)| is rarely small",
            rarely,
            lambda r: jnp.sqrt(r.x.gamma),
            over={"gamma": GAMMAS, "k": NEURONS},
        ),
    )


def _ratio(x: Instance):
    """k / xi^2."""
    return x.xi_bar**-2


def _size(power: int, rare: float):
    """A^-power xi^2 k^-rare."""

    def size(x: Instance):
        return (1 + x.xi_bar**2) ** -power * x.xi_bar**2 * x.k ** (1 - rare)

    return size


theorem = Theorem(
    space=recovery_space(xi_bar=Real(0.3, 1), gamma=Real(0.0625, 0.5, log=True)),
    simulate=_simulate(ODD),
    claims=_claims(_size(1, 0.0), 2.0),
    printed="Lemma 1, mu_1 != 0",
    aliases=("lemma-2", "condition-3"),
    readings=(
        Reading(
            "Lemma 1, mu_1 = 0",
            Printed("", ""),
            simulate=_simulate(EVEN),
            claims=_claims(_size(2, 0.5), 2.0),
        ),
        Reading(
            "Lemma 2",
            Printed("", ""),
            simulate=_simulate(SEPARATED),
            claims=_claims(lambda x: jnp.min(x.readout) ** 2 / x.k**0.5, 20.0),
        ),
    ),
    mutants=(Mutant("h keeps 1.5 h(0)", claims=_claims(_size(1, -1.0), 2.0, 3.0)),),
    keys=512,
    instances=16,
)
