"""A step of the scalar map is a multiple of the distance to its fixed point.

The proof of Lemma A.28 of Springer et al. (2025), display by display, on a grid of points x between
sigma and sigma_0: f = x - 2 eta g with a g that is printed twice and factors as
x (x - sigma*) (x + (lam + 1) sigma*), from which follow how much a step contracts and that it stays
on its side of sigma*.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.linear_modes import limit, printed_limit, step
from theorysim.theorems.overtraining import _scalar_map as scalar

POINTS = 9


class Grid(NamedTuple):
    """Points between sigma and sigma_0, f of them, the fixed point, 2 eta, the contraction."""

    points: Float[Array, " points"]
    image: Float[Array, " points"]
    star: Float[Array, ""]
    rate: Float[Array, ""]
    contraction: Float[Array, ""]


def _predict(end: Callable, load: Callable = scalar.printed_load) -> Callable:
    def predict(x: claims.Instance) -> Grid:
        tuning = scalar.tuning_of(x, load)
        share = jnp.linspace(0.0, 1.0, POINTS, dtype=x.sigma.dtype)
        points = x.sigma * (1 - share) + x.sigma_0 * share
        rate = 2 * tuning.learning_rate
        star = jnp.sqrt(end(tuning))
        return Grid(points, step(points, tuning), star, rate, 1 - rate * scalar.smallest(x))

    return predict


def _away(r: claims.Run):
    """x - sigma*."""
    return r.theory.points - r.theory.star


def _step_away(r: claims.Run):
    """f(x) - sigma*."""
    return r.theory.image - r.theory.star


def _gradient(r: claims.Run, anchor):
    """x (x^2 - sigma^2) + lam x (x^2 - anchor)."""
    x = r.theory.points
    return x * (x**2 - r.x.sigma**2) + r.x.lam * x * (x**2 - anchor)


def _printed_slope(r: claims.Run):
    """x (x + (lam + 1) sigma*), by which P3 multiplies x - sigma*."""
    return r.theory.points * (r.theory.points + (r.x.lam + 1) * r.theory.star)


def _true_slope(r: claims.Run):
    return (1 + r.x.lam) * r.theory.points * (r.theory.points + r.theory.star)


def _displays(anchor: Callable, slope: Callable, factor: Callable) -> tuple:
    """P1 to P5 and P7: what g subtracts in its last term, g / (x - sigma*), the bound of P5."""
    return (
        claims.equal(
            "P1: g(sigma*) = 0",
            lambda r: (1 + r.x.lam) * r.theory.star**3,
            lambda r: r.theory.star * (r.x.sigma**2 + r.x.lam * anchor(r.x)),
        ),
        claims.equal(
            "P2: f = x - 2 eta g",
            lambda r: r.theory.image,
            lambda r: r.theory.points - r.theory.rate * _gradient(r, anchor(r.x)),
        ),
        claims.equal(
            "P3: g factors", lambda r: _gradient(r, r.x.sigma_0**2), lambda r: _away(r) * slope(r)
        ),
        claims.equal(
            "P4: f - sigma* factors",
            _step_away,
            lambda r: _away(r) * (1 - r.theory.rate * slope(r)),
        ),
        claims.at_least("P5, lower", slope, lambda r: scalar.smallest(r.x)),
        claims.at_most("P5, upper", slope, lambda r: factor(r.x.lam) * scalar.largest(r.x)),
        claims.at_most(
            "P7: one step contracts",
            lambda r: jnp.abs(_step_away(r)),
            lambda r: jnp.abs(_away(r)) * r.theory.contraction,
        ),
    )


def _signs(slope: Callable) -> tuple:
    return (
        claims.at_least(
            "P6: no overshoot", lambda r: 1 - r.theory.rate * slope(r), lambda r: 0.0, strict=True
        ),
        claims.at_least(
            "P8: f stays on its side", lambda r: _step_away(r) * _away(r), lambda r: 0.0
        ),
    )


AMENDED = _displays(lambda x: x.sigma_0**2, _true_slope, lambda lam: 2 * (1 + lam))
P1, P2, _, _, LOWER, UPPER, P7 = AMENDED

theorem = claims.Theorem(
    space=scalar.scalar_space(),
    hypotheses=scalar.STEP_CONDITION,
    simulate=lambda x, key: (),
    predict=_predict(printed_limit),
    claims=(
        *_displays(lambda x: x.sigma_0, _printed_slope, lambda lam: lam + 2),
        *_signs(_printed_slope),
    ),
    source=claims.Printed(
        "proof of Lemma A.28",
        "g(x) = x (x^2 - sigma^2) + lam x (x^2 - sigma_0), g(sigma*) = 0, f = x - 2 eta g; "
        "g = x (x^2 - sigma^2) + lam x (x^2 - sigma_0^2) = x (x - sigma*) (x + (lam + 1) sigma*); "
        "f - sigma* = (x - sigma*) (1 - 2 eta x (x + (lam + 1) sigma*)); "
        "min{sigma^2, sigma_0^2} <= x (x + (lam + 1) sigma*) <= (lam + 2) max{sigma^2, sigma_0^2}; "
        "1 - 2 eta x (x + (lam + 1) sigma*) > 0; "
        "|f - sigma*| <= |x - sigma*| (1 - 2 eta min{sigma^2, sigma_0^2}); "
        "f - sigma* has the sign of x - sigma*",
    ),
    printed="proof displays",
    note="sigma* is swapped, g has sigma_0 for its square, and its factor 1 + lam is misplaced",
    readings=(
        claims.corrected(
            "g = (1 + lam) x (x - sigma*) (x + sigma*), with sigma_0^2 in g",
            name="proof displays, corrected",
            predict=_predict(limit),
            claims=AMENDED,
            note="with this factorisation a step contracts as the lemma says",
        ),
        claims.Reading(
            "proof displays, signs",
            claims.Finding("whether a step overshoots the corrected sigma*"),
            predict=_predict(limit),
            claims=_signs(_true_slope),
            note="P6 and P8 fail at the corrected sigma*, too, which P7 and the rate do not need",
        ),
        claims.Reading(
            "proof displays, signs, step condition free of scale",
            claims.Finding(
                "whether a step overshoots sigma* if the step condition is free of scale"
            ),
            predict=_predict(limit, scalar.scale_free_load),
            claims=_signs(_true_slope),
            note="with lam > 1 a step may overshoot sigma*: P6 and P8 fail, P7 and the rate do not",
        ),
    ),
    mutants=(
        claims.Mutant("sigma* swapped, as printed", predict=_predict(printed_limit)),
        claims.Mutant(
            "sigma_0 for its square in g, as printed",
            claims=(
                P1.against(lambda r: r.theory.star * (r.x.sigma**2 + r.x.lam * r.x.sigma_0)),
                P2.against(lambda r: r.theory.points - r.theory.rate * _gradient(r, r.x.sigma_0)),
            ),
        ),
        claims.Mutant(
            "larger and smaller feature swapped",
            claims=(
                LOWER.against(UPPER.rhs),
                UPPER.against(LOWER.rhs),
                P7.against(lambda r: jnp.abs(_away(r)) * (1 - r.theory.rate * scalar.largest(r.x))),
            ),
        ),
    ),
)
