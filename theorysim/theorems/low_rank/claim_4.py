"""The size of the bilinear form of signs that decides the start's speed.

Eq. 11 and Claim 4 of Dayi and Chen (2024), Appendix A.3.2, xi = 1: h(0), up to its factor 2, is
f(b, b^) = b^T Q b^ with Q_ij = (lambda_i lambda_j / k) sum_s (s+1) mu_(s+1)^2 (k/(k+1))^(s+1)
<w_i, w_j>^s, so |f|_2^2 = sum_ij Q_ij^2 over independent random signs; and
Omega(lambda_min^2 / k) <= |f|_2 <= O(lambda_max^2), where the proof reaches
|f|_2^2 = Omega(lambda_min^4 / k).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import (
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
    at_least,
    at_most,
    equal,
)
from theorysim.numerics import gaussian
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import speed
from theorysim.theorems.low_rank._problem import DEGREES, activation, features, sign


def simulate(x: Instance, key):
    """h(0) for random signs, from the gradient's closed form (Proposition 1)."""
    signs = sign(jax.random.normal(key, (2, x.k)))
    given = rank_one.from_signs(features(x), x.readout, signs[0], signs[1], 1.0)
    return {"signs": signs, "h": speed(given, activation(x), jnp.zeros(()))}


def _predict(prefactor):
    def predict(x: Instance):
        chosen, share = activation(x), x.k / (x.k + 1)
        cosines = jnp.clip(features(x) @ features(x).T, -1, 1)
        form = (
            jnp.outer(x.readout, x.readout) * prefactor(x) * share * chosen.tangent(share * cosines)
        )
        return {
            "form": form,
            "diagonal": share * chosen.tangent(jnp.asarray(share)),
            "whole": gaussian.slope_square(chosen),
        }

    return predict


def _form(r: Run):
    return jnp.einsum("ni,ij,nj->n", r.sim["signs"][:, 0], r.theory["form"], r.sim["signs"][:, 1])


def _extreme(r: Run, which):
    return which(jnp.abs(r.x.readout)) ** 2


EQ_11 = equal("Eq. 11: f = h(0) / 2", lambda r: r.sim["h"] / 2, _form)
SQUARE = equal(
    "|f|_2^2 = sum_ij Q_ij^2",
    lambda r: r.mean(_form(r) ** 2),
    lambda r: jnp.sum(r.theory["form"] ** 2),
)


def _size(r: Run):
    return jnp.sqrt(jnp.sum(r.theory["form"] ** 2))


def _bounds(low: float, high: float):
    return (
        at_least(
            "the lower bound",
            _size,
            lambda r: low * r.theory["diagonal"] * _extreme(r, jnp.min) / jnp.sqrt(r.x.k),
        ),
        at_most(
            "the upper bound", _size, lambda r: high * r.theory["whole"] * _extreme(r, jnp.max)
        ),
    )


CLAIMS = (EQ_11, SQUARE, *_bounds(1.0, 1.0))

theorem = Theorem(
    space=Space(
        k=Size(5, low=2, high=64),
        d=Size(8, high=512),
        rows=Gaussian("k", "d"),
        common=Gaussian("d"),
        closeness=Real(0, 3),
        readout=Real(-2, 2, shape="k"),
        mu=Real(-1, 1, shape=DEGREES),
        kink=Real(0, 2),
    ),
    simulate=simulate,
    predict=_predict(lambda x: 1 / x.k),
    claims=CLAIMS,
    aliases=("equation-11", "eq-11"),
    readings=(
        Reading(
            "Q without 1/k (proof of Proposition 7)",
            Printed("", ""),
            predict=_predict(lambda x: 1.0),
            claims=CLAIMS[:1],
            note="the proof of Proposition 7 leaves out the 1/k of c and c^",
        ),
    ),
    mutants=(
        Mutant(
            "twice f, tight bounds",
            predict=_predict(lambda x: 2 / x.k),
            claims=(
                EQ_11,
                equal(SQUARE.name, SQUARE.lhs, lambda r: 2 * SQUARE.rhs(r)),
                *_bounds(9.0, 0.1),
            ),
        ),
    ),
    keys=1024,
    instances=32,
)
