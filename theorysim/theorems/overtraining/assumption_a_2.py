"""Pre-training can start as small as Assumption A.2 asks, and as a proof of Lemma A.6 needs.

Assumption A.2 of Springer et al. (2025): exp(-C tau), the largest distance of the factors at a
stage time from the ideal ones (Theorem A.1), is at most a minimum of three terms. Lemma A.6 takes
pre_1 for ideal factors' norms of sqrt(pre_1) (operator) and up to sqrt(d pre_1) (Frobenius).
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining._finetuning import pre_spectrum
from theorysim.theorems.overtraining._perturbation import flow_space, variance
from theorysim.theorems.overtraining._stages import log_start_distance


def printed_radius(x: claims.Instance) -> Float[Array, ""]:
    """The largest exp(-C tau) that Assumption A.2 admits."""
    pre = pre_spectrum(x)
    mixed = pre[-1] ** 2 / (16 * x.d * pre[0] * (2 * pre[0] + variance(x)))
    return jnp.minimum(jnp.minimum(pre[0] / 2, mixed), 0.25)


def corrected_radius(x: claims.Instance) -> Float[Array, ""]:
    """The largest exp(-C tau) for which the proof of Lemma A.6, repaired, gives its bound."""
    pre = pre_spectrum(x)
    mixed = 5 * pre[0] + 2 * x.d * variance(x)
    return pre[-1] ** 2 / (6 * jnp.sqrt(x.d * pre[0]) * mixed)


def _close(radius: Callable) -> Callable:
    """Margin of the stages' distances, in logarithms."""
    return lambda x: jnp.log(radius(x)) - log_start_distance(pre_spectrum(x), x.tau)


AS_PRINTED = claims.Assumption(
    "Assumption A.2",
    claims.Printed(
        "Assumption A.2, Appendix A.2",
        "exp(-C tau) <= min{pre_1 / 2, 1/4, pre_d^2 / (16 d pre_1 (2 pre_1 + gamma^2))}",
    ),
    {"Assumption A.2": _close(printed_radius)},
)
CORRECTED = claims.Assumption(
    "Assumption A.2",
    claims.Corrected("exp(-C tau) <= pre_d^2 / (6 sqrt(d pre_1) (5 pre_1 + 2 d gamma^2))"),
    {"corrected Assumption A.2": _close(corrected_radius)},
)

PRINTED, REPAIRED = AS_PRINTED.can_be_met(), CORRECTED.can_be_met()

theorem = claims.Theorem(
    space=flow_space(),
    simulate=lambda x, key: (),
    claims=PRINTED,
    source=AS_PRINTED.source,
    note="the three terms have different units, and Lemma A.6 fails under the assumption",
    readings=(
        claims.Reading(
            "corrected",
            CORRECTED.source,
            claims=REPAIRED,
            primary=True,
            note="what the repaired proof of Lemma A.6 needs",
        ),
    ),
    survivors=claims.unrefutable((*PRINTED, *REPAIRED)),
)
