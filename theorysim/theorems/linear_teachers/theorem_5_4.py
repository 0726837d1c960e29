"""With normal samples the risk is bounded by the teachers' distance, normalised for deep networks.

Theorem 5.4 of Shachaf et al. (2021), Eqs. 9 and 10, where zeta(||theta_T||), printed as
approximately epsilon ||theta_T||, is read as equal to it. Infinite depth is Eq. 7's and one layer
Theorem 4.1's limit (checked there). Eq. 9 holds for epsilon <= 1 only: the ratio in Eq. 7 exceeds
epsilon with a probability of order epsilon^(-n), which is not exponentially small in epsilon^2.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import optimistix as optx
from jax.scipy.special import betainc, logsumexp

from theorysim.claims import (
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Space,
    Theorem,
    at_most,
    equal,
    exists_constant,
    with_probability,
)
from theorysim.numerics.products import dot
from theorysim.theorems.linear_teachers import _gaussian_rows as gaussian

# Values of the constant c, whose existence is all that the paper states. As epsilon grows, Eq. 10
# with d - n = 1 allows no c above 1/2; Eq. 9 at epsilon = 1 and n = d - n none above 0.42.
DEEP, SHALLOW = 1 / 3, 1 / 2

# Without a failure 512 keys tell a probability of failure of 2.5 percent from a smaller one.
LEAST_FAILURE = 0.025

# Probabilities below it, which the incomplete beta function does not resolve, are left out.
SMALLEST_PROBABILITY = 1e-250


def _teachers(x: Instance):
    """theta_S and theta_T in coordinates of their plane."""
    direction = jnp.stack([jnp.cos(x.angle), jnp.sin(x.angle)])
    return x.source_norm * jnp.array([1.0, 0.0]), x.target_norm * direction


def _risks(x: Instance, plane: gaussian.Compression):
    """R(beta) of infinite depth (Eq. 7) and R(gamma) of one layer (Eq. 2), Sigma = I."""
    source, target = _teachers(x)

    def form(matrix, vector):
        return dot(vector, matrix, vector)

    ratio = jnp.sqrt(form(plane.parallel, target) / form(plane.parallel, source))
    return {
        "deep": form(plane.orthogonal, target - ratio * source),
        "shallow": form(plane.orthogonal, target - source),
    }


def _counts(x: Instance):
    """n and d - n."""
    return jnp.floor(x.samples), jnp.floor(x.rest)


def simulate(x: Instance, key):
    return _risks(x, gaussian.from_wishart(key, *_counts(x)))


def _simulate_rows(forgetful: bool) -> Callable:
    """Both risks from drawn rows, and from the law of their compression."""

    def simulate_rows(x: Instance, key):
        law = gaussian.from_wishart(key, *_counts(x))
        law = law._replace(orthogonal=jnp.eye(2)) if forgetful else law
        drawn = _risks(x, gaussian.from_rows(key, *_counts(x)))
        return drawn | {"law": _risks(x, law)}

    return simulate_rows


def predict(x: Instance):
    source, target = _teachers(x)
    samples, rest = _counts(x)
    share = rest / (samples + rest)
    size = jnp.sum(target**2)
    angles = size * jnp.sum((target / x.target_norm - source / x.source_norm) ** 2)
    seen = share * (1 + x.epsilon) ** 2
    return {
        "deep": seen * angles + share * x.epsilon**2 * size,
        "shallow": seen * jnp.sum((target - source) ** 2),
        # ||P_perp v||^2 / ||v||^2 ~ Beta((d - n)/2, n/2)
        "failure": jnp.where(
            (seen < 1) & (rest > 0),
            betainc(samples / 2, jnp.maximum(rest, 1) / 2, jnp.maximum(1 - seen, 0)),
            0.0,
        ),
    }


def _log_allowed(r, constant: float):
    """ln(4 exp(-c eps^2 n) + 4 exp(-c eps^2 (d - n)))."""
    exponents = -constant * r.x.epsilon**2 * jnp.stack(_counts(r.x))
    return jnp.log(4.0) + logsumexp(exponents)


def _inverse_constant(r, failure):
    """1 / c for the largest c with 4 exp(-c eps^2 n) + 4 exp(-c eps^2 (d-n)) >= failure."""
    fewest, most = jnp.minimum(*_counts(r.x)), jnp.maximum(*_counts(r.x))
    decided = (failure > 0) & (fewest > 0)
    level = jnp.log(jnp.where(decided, failure, 1) / 4)
    excess_ratio = jnp.where(decided, most / jnp.maximum(fewest, 1) - 1, 0)

    def excess(power, _):
        return -power + jnp.log1p(jnp.exp(-power * excess_ratio)) - level

    ends = {"lower": -level, "upper": jnp.log(2.0) - level}
    solver = optx.Bisection(rtol=1e-12, atol=0.0, flip=True)
    start = jnp.log(2.0) / 2 - level
    power = optx.root_find(excess, solver, start, options=ends, throw=False).value
    return jnp.where(decided, r.x.epsilon**2 * fewest / power, 0.0)


def _observed_failure(r, which: str):
    return jnp.mean((r.sim[which] > r.theory[which]).astype(float), axis=0)


def _likely(name: str, which: str, constant: float):
    """The statement, where the keys suffice to tell its probability from one."""
    return with_probability(
        name,
        lambda r: r.sim[which],
        lambda r: r.theory[which],
        at_least=lambda r: 1 - jnp.exp(_log_allowed(r, constant)),
        where=lambda r: _log_allowed(r, constant) - jnp.log(LEAST_FAILURE),
    )


def _bounded_mean(r, risk):
    """E of a bounded increasing function of the risk: its own mean is infinite for n <= 2."""
    relative = risk / r.x.target_norm**2
    return r.mean(relative / (1 + relative))


COUNTS = (2, 500, 1e5)


def _deep_constant(**rungs: tuple[float, ...]):
    return exists_constant(
        "Eq. 9, 1/c",
        lambda r: _inverse_constant(r, _observed_failure(r, "deep")),
        lambda r: 1.0,
        over=rungs,
    )


SHALLOW_CLAIMS = (
    _likely("Eq. 10, c = 1/2", "shallow", SHALLOW),
    at_most(
        "Eq. 10, 1/c of the exact law",
        lambda r: _inverse_constant(r, r.theory["failure"]),
        lambda r: 1 / SHALLOW,
        where=lambda r: r.theory["failure"] - SMALLEST_PROBABILITY,
    ),
)

LAWS = tuple(
    equal(
        f"law of {name}",
        lambda r, which=which: _bounded_mean(r, r.sim[which]),
        lambda r, which=which: _bounded_mean(r, r.sim["law"][which]),
    )
    for which, name in (("deep", "R(beta)"), ("shallow", "R(gamma)"))
)

PLANE = {"d >= 2": lambda x: sum(_counts(x)) - 2}
FEW = {
    **PLANE,
    "n, d - n <= 4": lambda x: gaussian.FEW_ROWS - jnp.maximum(*_counts(x)),
}

theorem = Theorem(
    space=Space(
        samples=Real(1, 1e5, log=True),
        rest=Real(0.5, 1e5, log=True),
        angle=Real(0, jnp.pi),
        source_norm=Real(0.3, 3, log=True),
        target_norm=Real(0.3, 3, log=True),
        epsilon=Real(0.1, 32, log=True),
    ),
    hypotheses=PLANE,
    simulate=simulate,
    predict=predict,
    claims=(_deep_constant(epsilon=(4, 7, 12, 20, 32)), *SHALLOW_CLAIMS),
    printed="any epsilon",
    readings=(
        Reading(
            "epsilon <= 1",
            Printed("", ""),
            claims=(
                _likely("Eq. 9, c = 1/3", "deep", DEEP),
                _deep_constant(samples=COUNTS, rest=COUNTS, epsilon=(1, 0.3, 0.1)),
                *SHALLOW_CLAIMS,
            ),
            hypotheses={**PLANE, "epsilon <= 1": lambda x: 1 - x.epsilon},
            primary=True,
            note="the ratio of Eq. 7 has tails of order epsilon^(-n): no c > 0 serves every "
            "epsilon in Eq. 9, but one does for epsilon <= 1",
        ),
        Reading(
            "rows drawn one by one",
            Printed("", ""),
            simulate=_simulate_rows(forgetful=False),
            claims=LAWS,
            hypotheses=FEW,
        ),
    ),
    mutants=(
        Mutant(
            "without P_perp",
            simulate=_simulate_rows(forgetful=True),
            claims=LAWS,
        ),
    ),
    keys=512,
    instances=48,
)
