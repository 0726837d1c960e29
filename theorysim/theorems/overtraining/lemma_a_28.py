"""The scalar map of one mode stays between its two ends and contracts to its fixed point.

Lemma A.28 of Springer et al. (2025). One mode of regularised fine-tuning is gradient descent of
(w_1 w_2 - sigma^2)^2 + lam (w_1 w_2 - sigma_0^2)^2 from w_1 = w_2 = sigma_0. The map f is printed
twice: in Section A.6 with the factor x in its last term, in Eq. 18 without it. The fixed point is
printed as sqrt((sigma_0^2 + lam sigma^2) / (1 + lam)); the map's own one has the two swapped. The
displays of the proof are a statement of their own.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.descent import descend, iterate
from theorysim.systems.linear_modes import Tuning, limit, printed_limit, printed_step, step


class Iterates(NamedTuple):
    """f^(k)(sigma_0) for k = 0, ..., the fixed point sigma*, and the printed decay."""

    path: Float[Array, " steps"]
    star: Float[Array, ""]
    decay: Float[Array, " steps"]


def scalar_space() -> claims.Space:
    """sigma and sigma_0 over three decades, and a share of the largest learning rate."""
    return claims.Space(
        steps=claims.Size(200, high=20_000),
        sigma=claims.Real(0.03, 30, log=True),
        sigma_0=claims.Real(0.03, 30, log=True),
        lam=claims.Choice(0.0, 0.1, 1.0, 3.0, 10.0, 30.0),
        step_share=claims.Real(0, 1),
    )


def largest(x: claims.Instance) -> jax.Array:
    """max{sigma^2, sigma_0^2}."""
    return jnp.maximum(x.sigma, x.sigma_0) ** 2


def smallest(x: claims.Instance) -> jax.Array:
    """min{sigma^2, sigma_0^2}."""
    return jnp.minimum(x.sigma, x.sigma_0) ** 2


def printed_load(x: claims.Instance) -> jax.Array:
    """What eta is multiplied with in the lemma's step condition, (...) eta < 1."""
    return (x.lam + 2) * (2 * largest(x) + x.lam + x.lam * x.sigma_0 / x.sigma)


def scale_free_load(x: claims.Instance) -> jax.Array:
    """The same without the two terms that do not scale like sigma^2."""
    return (x.lam + 2) * 2 * largest(x)


def tuning_of(x: claims.Instance, load: Callable, share: float = 1.0) -> Tuning:
    """eta is a share of 1 / load."""
    return Tuning(x.sigma**2, x.sigma_0**2, x.lam, share * x.step_share / load(x))


# load eta = step_share < 1.
STEP_CONDITION = {"step condition": claims.strict(lambda x: 1 - x.step_share)}


def _simulate(load: Callable) -> Callable:
    def simulate(x: claims.Instance, key):
        feature, anchor, lam, rate = tuning_of(x, load)

        def loss(weights):
            product = weights[0] * weights[1]
            return (product - feature) ** 2 + lam * (product - anchor) ** 2

        start = jnp.stack([x.sigma_0, x.sigma_0])
        return descend(loss, start, optax.sgd(rate), x.steps)[:, 0]

    return simulate


def _predict(
    end: Callable = limit, load: Callable = printed_load, f=step, share: float = 1.0
) -> Callable:
    """The iterates of f with the lemma's fixed point and rate."""

    def predict(x: claims.Instance) -> Iterates:
        tuning = tuning_of(x, load, share)
        contraction = 1 - 2 * tuning.learning_rate * smallest(x)
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


LOWER = claims.at_least("range, lower", lambda r: r.theory.path, lambda r: jnp.sqrt(smallest(r.x)))
UPPER = claims.at_most("range, upper", lambda r: r.theory.path, lambda r: jnp.sqrt(largest(r.x)))

theorem = claims.Theorem(
    space=scalar_space(),
    hypotheses=STEP_CONDITION,
    simulate=_simulate(printed_load),
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
                "Lemma A.28, f of Eq. 18", "f(x) = x + 2 eta x (sigma^2 - x^2) + 2 eta lam (...)"
            ),
            predict=_predict(printed_limit, f=printed_step),
            note="the map as Eq. 18 prints it, without the factor x in the pull-back",
        ),
        claims.corrected(
            "sigma* = sqrt((sigma^2 + lam sigma_0^2) / (1 + lam))",
            predict=_predict(),
            note="the fixed point of f weighs sigma_0^2, not sigma^2, with lam",
        ),
        claims.Reading(
            "corrected, step condition free of scale",
            claims.Finding("a weaker step condition: 2 (lam + 2) eta max{sigma^2, sigma_0^2} < 1"),
            predict=_predict(load=scale_free_load),
            simulate=_simulate(scale_free_load),
            note="two terms of the printed condition depend on the unit; it holds without them",
        ),
    ),
    mutants=(
        claims.Mutant("half the gradient", predict=_predict(share=0.5)),
        claims.Mutant("sigma and sigma_0 swapped in sigma*", predict=_predict(printed_limit)),
        claims.Mutant(
            "the range's ends swapped, the rate twice as fast",
            claims=(LOWER.against(UPPER.rhs), UPPER.against(LOWER.rhs), _rate(power=2)),
        ),
    ),
)
