"""The scalar map of one mode stays between its two ends and contracts to its fixed point.

Lemma A.28 of Springer et al. (2025). One mode of regularised fine-tuning is gradient descent of
(w_1 w_2 - sigma^2)^2 + lam (w_1 w_2 - sigma_0^2)^2 from w_1 = w_2 = sigma_0. The map f is printed
twice: in Section A.6 with the factor x in its last term, in Eq. 18 without it. The fixed point is
printed as sqrt((sigma_0^2 + lam sigma^2) / (1 + lam)); the map's own one has the two swapped. The
displays of the proof are a statement of their own.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.descent import descend, iterate
from theorysim.systems.linear_modes import limit, printed_limit, printed_step, step
from theorysim.theorems.overtraining import _scalar_map as scalar


class Iterates(NamedTuple):
    """f^(k)(sigma_0) for k = 0, ..., the fixed point sigma*, and the printed decay."""

    path: Float[Array, " steps"]
    star: Float[Array, ""]
    decay: Float[Array, " steps"]


def _simulate(load: Callable) -> Callable:
    def simulate(x: claims.Instance, key):
        feature, anchor, lam, rate = scalar.tuning_of(x, load)

        def loss(weights):
            product = weights[0] * weights[1]
            return (product - feature) ** 2 + lam * (product - anchor) ** 2

        start = jnp.stack([x.sigma_0, x.sigma_0])
        return descend(loss, start, optax.sgd(rate), x.steps)[:, 0]

    return simulate


def _predict(
    end: Callable = limit, load: Callable = scalar.printed_load, f=step, share: float = 1.0
) -> Callable:
    """The iterates of f with the lemma's fixed point and rate."""

    def predict(x: claims.Instance) -> Iterates:
        tuning = scalar.tuning_of(x, load, share)
        contraction = 1 - 2 * tuning.learning_rate * scalar.smallest(x)
        return Iterates(
            path=iterate(lambda w: f(w, tuning), x.sigma_0, x.steps),
            star=jnp.sqrt(end(tuning)),
            decay=contraction ** jnp.arange(x.steps + 1),
        )

    return predict


def _distance(r: claims.Run):
    return jnp.abs(r.theory.path - r.theory.star)


def _rate(power: int = 1):
    return claims.at_most(
        "rate",
        _distance,
        lambda r: r.theory.decay**power * _distance(r)[:1],
        statement="|f^(k)(sigma_0) - sigma*| <= (1 - 2 eta min)^k |sigma_0 - sigma*|",
    )


LOWER = claims.at_least(
    "range, lower", lambda r: r.theory.path, lambda r: jnp.sqrt(scalar.smallest(r.x))
)
UPPER = claims.at_most(
    "range, upper", lambda r: r.theory.path, lambda r: jnp.sqrt(scalar.largest(r.x))
)

theorem = claims.Theorem(
    space=scalar.scalar_space(),
    hypotheses=scalar.STEP_CONDITION,
    simulate=_simulate(scalar.printed_load),
    predict=_predict(printed_limit),
    claims=(
        claims.equal("f is the descent step", lambda r: r.sim, lambda r: r.theory.path),
        LOWER,
        UPPER,
        _rate(),
    ),
    source=claims.Printed(
        "Lemma A.28, f of Appendix A.6",
        "|f^(k)(sigma_0) - sigma*| <= (1 - 2 eta min{sigma^2, sigma_0^2})^k |sigma_0 - sigma*|",
    ),
    printed="Section A.6",
    note="sigma* is printed with sigma and sigma_0 swapped: f has another fixed point",
    readings=(
        claims.Reading(
            "Eq. 18",
            claims.Printed(
                "Lemma A.28, f of Eq. 18",
                "|f^(k)(sigma_0) - sigma*| <= (1 - 2 eta min{sigma^2, sigma_0^2})^k "
                "|sigma_0 - sigma*|, f(x) = x + 2 eta x (sigma^2 - x^2) + "
                "2 eta lam (sigma_0^2 - x^2)",
            ),
            predict=_predict(printed_limit, f=printed_step),
            claims=(LOWER, UPPER, _rate()),
            note="sigma* has sigma and sigma_0 swapped, and f has no factor x in its pull-back: "
            "with either one mended the rate still fails",
        ),
        claims.Reading(
            "Eq. 18, corrected",
            claims.Corrected(
                "sigma* = sqrt((sigma^2 + lam sigma_0^2) / (1 + lam)), and "
                "2 eta lam x (sigma_0^2 - x^2) in f"
            ),
            predict=_predict(),
            claims=(LOWER, UPPER, _rate()),
            note="with both mended, f is that of Section A.6 with its own fixed point",
        ),
        claims.corrected(
            "sigma* = sqrt((sigma^2 + lam sigma_0^2) / (1 + lam))",
            predict=_predict(),
            note="the fixed point of f weighs sigma_0^2, not sigma^2, with lam",
        ),
        claims.Reading(
            "corrected, step condition free of scale",
            claims.Finding("a weaker step condition: 2 (lam + 2) eta max{sigma^2, sigma_0^2} < 1"),
            predict=_predict(load=scalar.scale_free_load),
            simulate=_simulate(scalar.scale_free_load),
            note="two terms of the printed condition depend on the unit; it holds without them",
        ),
    ),
    mutants=(
        claims.Mutant("half the gradient", predict=_predict(share=0.5)),
        claims.Mutant("sigma and sigma_0 swapped in sigma*", predict=_predict(printed_limit)),
        claims.Mutant(
            "the range's ends swapped, the rate three times as fast",
            claims=(LOWER.against(UPPER.rhs), UPPER.against(LOWER.rhs), _rate(power=3)),
        ),
    ),
)
