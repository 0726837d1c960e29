"""The sensitivity of a quadratic loss to Gaussian noise is half the trace of its Hessian.

Proposition D.1 of Springer et al. (2025): for L(theta) = theta^T H theta / 2 + g^T theta + c with
symmetric H, E[L(theta + lam eps) - L(theta)] = lam^2 Tr(H) / 2. The displays of its proof
(Eqs. 19 and 20) are a reading of their own.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.claims import (
    Corrected,
    Gaussian,
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Run,
    Size,
    Space,
    Theorem,
    equal,
)
from theorysim.numerics.products import dot

DRAWS = 128  # per key


class Means(NamedTuple):
    """Means over the noise: of the loss's rise, of Eq. 19's middle, of eps^T H eps."""

    rise: Float[Array, ""]
    printed_rise: Float[Array, ""]
    quadratic_form: Float[Array, ""]


def _hessian(x: Instance):
    return (x.square + x.square.T) / 2


def simulate(x: Instance, key):
    hessian = _hessian(x)

    def loss(theta, half=0.5):
        return half * theta @ dot(hessian, theta) + x.g @ theta + x.c

    def without_halves(theta):
        return loss(theta, half=1.0)

    # Each draw comes with its negative: the same law, without the noise of the odd terms.
    half = jax.random.normal(key, (DRAWS // 2, x.d))
    noise = jnp.concatenate([half, -half])
    moved = x.theta + x.lam * noise
    printed = jax.vmap(lambda theta: (without_halves(theta) - without_halves(x.theta)) / 2)
    return Means(
        rise=jnp.mean(jax.vmap(loss)(moved) - loss(x.theta)),
        printed_rise=jnp.mean(printed(moved)),
        quadratic_form=jnp.mean(jnp.sum(noise * dot(noise, hessian), axis=1)),
    )


def predict(x: Instance):
    return x.lam**2 * jnp.trace(_hessian(x)) / 2


def _rise(r: Run):
    return r.mean(r.sim.rise)


def _printed_rise(r: Run):
    return r.mean(r.sim.printed_rise)


def _expected_form(r: Run):
    return r.x.lam**2 * r.mean(r.sim.quadratic_form) / 2


def _displays(left):
    return (
        equal("Eq. 19", left, _printed_rise),
        equal("Eq. 20, the odd terms vanish", _printed_rise, _expected_form),
        equal("Eq. 20, the trace", _expected_form, lambda r: r.theory),
    )


STATEMENT = (equal("sensitivity", _rise, lambda r: r.theory),)

theorem = Theorem(
    space=Space(
        d=Size(4),
        square=Gaussian("d", "d"),
        theta=Gaussian("d"),
        g=Gaussian("d"),
        c=Real(-1, 1),
        lam=Real(0.01, 10, log=True),
    ),
    simulate=simulate,
    predict=predict,
    keys=256,
    source=Printed("Proposition D.1", "Delta(theta, lam) = lam^2 Tr(H) / 2"),
    claims=STATEMENT,
    readings=(
        Reading(
            "proof displays",
            Printed("Eqs. 19 and 20, Appendix D", "E[L(theta) - L(theta + lam eps)] = ..."),
            claims=_displays(lambda r: -_rise(r)),
            note="Eq. 19 subtracts the moved loss from the other: the sign is reversed",
        ),
        Reading(
            "proof displays, corrected",
            Corrected("L(theta + lam eps) - L(theta) on the left of Eq. 19"),
            claims=_displays(_rise),
            note="with the sign of the proposition every link of the chain holds",
        ),
    ),
    mutants=(
        Mutant(
            "the whole trace",
            of=("as printed", "proof displays", "proof displays, corrected"),
            predict=lambda x: 2 * predict(x),
        ),
    ),
)
