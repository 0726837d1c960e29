"""With normal samples the risk is bounded by the teachers' distance, normalised for deep networks.

Theorem 5.4 of Shachaf et al. (2021), Eqs. 9 and 10, where zeta(||theta_T||), printed as
approximately epsilon ||theta_T||, is read as equal to it. Infinite depth is Eq. 7's and one layer
Theorem 4.1's limit (checked there). Eq. 9 holds for epsilon <= 1 only: the ratio in Eq. 7 exceeds
epsilon with a probability of order epsilon^(-n), which is not exponentially small in epsilon^2.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jax.scipy.special import betainc, logsumexp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.bisection import falling_root
from theorysim.theorems.linear_teachers import _gaussian_rows as gaussian

# Values of the constant c, whose existence is all that the paper states. As epsilon grows, Eq. 10
# with d - n = 1 allows no c above 1/2; Eq. 9 at epsilon = 1 and n = d - n none above 0.42.
DEEP, SHALLOW = 1 / 3, 1 / 2

# Without a failure 512 keys tell a probability of failure of 2.5 percent from a smaller one.
LEAST_FAILURE = 0.025

# Probabilities below it, which the incomplete beta function does not resolve, are left out.
SMALLEST_PROBABILITY = 1e-250


class Bounds(NamedTuple):
    """The right sides of Eqs. 9 and 10, and the probability that Eq. 10 fails."""

    deep: Float[Array, ""]
    shallow: Float[Array, ""]
    failure: Float[Array, ""]


def simulate(x: claims.Instance, key) -> gaussian.Risks:
    return gaussian.risks(x, gaussian.from_wishart(key, *gaussian.counts(x)))


def _predict(widened: float = 1.0, swapped: bool = False, zeta: float = 1.0) -> Callable:
    """`widened` multiplies epsilon in the bounds, `swapped` takes n / d for (d - n) / d.

    zeta is `zeta` epsilon ||theta_T||.
    """

    def predict(x: claims.Instance) -> Bounds:
        source, target = gaussian.teachers(x)
        samples, rest = gaussian.counts(x)
        share = jnp.where(swapped, samples, rest) / (samples + rest)
        size, epsilon = jnp.sum(target**2), widened * x.epsilon
        angles = size * jnp.sum((target / x.target_norm - source / x.source_norm) ** 2)
        seen = share * (1 + epsilon) ** 2
        # ||P_perp v||^2 / ||v||^2 ~ Beta((d - n)/2, n/2)
        below = betainc(samples / 2, jnp.maximum(rest, 1) / 2, jnp.maximum(1 - seen, 0))
        return Bounds(
            seen * angles + share * (zeta * epsilon) ** 2 * size,
            seen * jnp.sum((target - source) ** 2),
            jnp.where((seen < 1) & (rest > 0), below, 0.0),
        )

    return predict


def _log_allowed(r, constant: float):
    """ln(4 exp(-c eps^2 n) + 4 exp(-c eps^2 (d - n)))."""
    exponents = -constant * r.x.epsilon**2 * jnp.stack(gaussian.counts(r.x))
    return jnp.log(4.0) + logsumexp(exponents)


def _inverse_constant(r, failure):
    """1 / c for the largest c with 4 exp(-c eps^2 n) + 4 exp(-c eps^2 (d-n)) >= failure."""
    fewest, most = jnp.minimum(*gaussian.counts(r.x)), jnp.maximum(*gaussian.counts(r.x))
    decided = (failure > 0) & (fewest > 0)
    level = jnp.log(jnp.where(decided, failure, 1) / 4)
    excess_ratio = jnp.where(decided, most / jnp.maximum(fewest, 1) - 1, 0)

    def excess(power):
        return -power + jnp.log1p(jnp.exp(-power * excess_ratio)) - level

    power = falling_root(excess, -level, jnp.log(2.0) - level, jnp.log(2.0) / 2 - level)
    return jnp.where(decided, r.x.epsilon**2 * fewest / power, 0.0)


def _likely(name: str, risk: str, constant: float):
    """The statement, where the keys suffice to tell its probability from one."""
    return claims.with_probability(
        name,
        lambda r: getattr(r.sim, risk),
        lambda r: getattr(r.theory, risk),
        at_least=lambda r: 1 - jnp.exp(_log_allowed(r, constant)),
        where=lambda r: _log_allowed(r, constant) - jnp.log(LEAST_FAILURE),
    )


COUNTS = (2, 12, 70, 500, 3e3, 2e4, 1e5)


def _deep_constant(**rungs: tuple[float, ...]):
    def needed(r):
        fails = r.sim.deep > r.theory.deep
        return _inverse_constant(r, jnp.mean(fails.astype(float), axis=0))

    return claims.exists_constant("Eq. 9, 1/c", needed, lambda r: 1.0, over=rungs)


SHALLOW_CLAIMS = (
    _likely("Eq. 10, c = 1/2", "shallow", SHALLOW),
    claims.at_most(
        "Eq. 10, 1/c of the exact law",
        lambda r: _inverse_constant(r, r.theory.failure),
        lambda r: 1 / SHALLOW,
        where=lambda r: r.theory.failure - SMALLEST_PROBABILITY,
    ),
)

PLANE = {"d >= 2": gaussian.has_plane}
AT_MOST_ONE = {**PLANE, "epsilon <= 1": lambda x: 1 - x.epsilon}

DEEP_CLAIMS = (
    _likely("Eq. 9, c = 1/3", "deep", DEEP),
    _deep_constant(samples=COUNTS, rest=COUNTS, epsilon=(1, 0.3, 0.1)),
)

theorem = claims.Theorem(
    space=gaussian.plane_space(),
    hypotheses=PLANE,
    simulate=simulate,
    predict=_predict(),
    claims=(_deep_constant(epsilon=(4, 7, 12, 20, 32)), *SHALLOW_CLAIMS),
    source=claims.Printed(
        "Section 5.1, Theorem 5.4, Eqs. 9 and 10",
        "with probability at least 1 - 4 exp(-c epsilon^2 n) - 4 exp(-c epsilon^2 (d - n)): "
        "R(beta) <= ((d - n) / d) "
        "((1 + epsilon)^2 ||theta_T||^2 ||theta_T^ - theta_S^||^2 + zeta^2), zeta ~ epsilon "
        "||theta_T||; R(gamma) <= ((d - n) / d) (1 + epsilon)^2 ||theta_T - theta_S||^2",
    ),
    printed="any epsilon",
    note="the ratio of Eq. 7 has tails of order epsilon^(-n): no c > 0 serves every epsilon",
    readings=(
        claims.Reading(
            "epsilon <= 1",
            claims.Corrected("epsilon <= 1 instead of any epsilon"),
            claims=(*DEEP_CLAIMS, *SHALLOW_CLAIMS),
            hypotheses=AT_MOST_ONE,
            primary=True,
            note="one constant c serves every epsilon <= 1 in Eq. 9",
        ),
        claims.Reading(
            "zeta = 0",
            claims.Finding("whether the second term of Eq. 9 is needed"),
            predict=_predict(zeta=0.0),
            claims=DEEP_CLAIMS,
            hypotheses=AT_MOST_ONE,
            note="the ratio of Eq. 7 is off by an order of the angle between the teachers, too",
        ),
    ),
    mutants=(
        claims.Mutant("without epsilon", predict=_predict(widened=0.0)),
        claims.Mutant("n / d for (d - n) / d", predict=_predict(swapped=True)),
    ),
    keys=512,
    instances=48,
)
