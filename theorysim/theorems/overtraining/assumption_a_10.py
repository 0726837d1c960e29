"""A run can be as long as Assumption A.10 asks.

Assumption A.10 of Springer et al. (2025): K >= log(100 Gamma / epsilon) / (eta min{pre_i, ft_i})
for a constant epsilon > 0; the minimum is taken over the learned features, i <= n. Instances make
as many steps as they need, and some more.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _finetuning as ft

FIELDS: dict[str, claims.Size | claims.Field] = {
    "strength": claims.Real(0.01, 10, log=True),
    "rate_share": claims.Real(0.2, 1),
    "accuracy": claims.Real(1e-8, 10, log=True),
    "more_steps": claims.Integer(0, 50),
}


def accuracy(x: claims.Instance) -> Float[Array, ""]:
    """epsilon."""
    return x.accuracy * ft.gamma(x)


def logarithm(x: claims.Instance) -> Float[Array, ""]:
    """log(100 Gamma / epsilon)."""
    return jnp.log(100 * ft.gamma(x) / accuracy(x))


def steps_for(logarithm: Callable[[claims.Instance], Any], rate: float) -> Callable:
    """The least number of steps K >= logarithm / (rate eta min), and some more."""

    def steps(x: claims.Instance):
        slowest = rate * ft.learning_rate(x) * ft.smallest_learned(x)
        least = jnp.ceil(jnp.max(logarithm(x)) / slowest)
        return jnp.maximum(least, 0).astype(int) + x.more_steps

    return steps


STEPS = steps_for(logarithm, 1.0)


def _enough(x: claims.Instance):
    """Margin: K eta min >= log(100 Gamma / epsilon)."""
    return STEPS(x) * ft.learning_rate(x) * ft.smallest_learned(x) - logarithm(x)


ASSUMPTION = claims.Assumption(
    "Assumption A.10",
    claims.Printed(
        "Assumption A.10, Appendix A.3.1", "K >= log(100 Gamma / epsilon) / (eta min{pre_i, ft_i})"
    ),
    {"Assumption A.10": _enough},
    requirements={"steps": STEPS},
)

theorem = claims.Theorem(
    space=ft.fine_tuning_space(**FIELDS),
    simulate=lambda x, key: (),
    source=ASSUMPTION.source,
    note="the logarithm compares a feature with a number: its unit matters where epsilon has none",
    claims=ASSUMPTION.can_be_met(),
    survivors=claims.unrefutable(ASSUMPTION.can_be_met()),
)
