"""Equal eigenvalues are taken into the top span together.

Remark after Theorem 4.2 of Shachaf et al. (2021), for g < 1: take the largest m with
lambda_(m+1) = lambda_m (printed with an approximate sign). Decided is the case of exact ties: a
spectrum of two levels, on which the bound is minimised over m by brute force. m is a parameter of
the bound alone: no risk knows it, so that there is nothing to simulate.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.systems.linear_regression import covariance_estimation
from theorysim.theorems.linear_teachers import _covariance_bound as rows


def _high_count(x: claims.Instance):
    """Number of eigenvalues on the high level, in 1..d-1."""
    return 1 + jnp.floor(x.split * (x.largest - 1) * (1 - 1e-12)).astype(int)


def _spectrum(x: claims.Instance):
    is_high = jnp.arange(x.largest) < _high_count(x)
    return x.scale * jnp.where(is_high, x.spectrum[0], x.spectrum[-1])


def simulate(x: claims.Instance, key) -> tuple:
    """g, and Eq. 3 for every m."""
    g = covariance_estimation(_spectrum(x), x.delta, x.samples)
    return g, rows.diagonal_bound(_spectrum(x), x.difference, g)


def _ties(threshold: Callable) -> tuple:
    def given(r):
        """lambda_(m+1) = lambda_m and g is below the threshold, for m = 1..d-1."""
        tied = jnp.where(jnp.arange(1, r.x.largest) == _high_count(r.x), -1.0, 1.0)
        return jnp.minimum(tied, threshold(r) - r.sim[0])

    return (claims.decreasing("a tie joins the top span", lambda r: r.sim[1], where=given),)


def _best(index: Callable, given: Callable) -> tuple:
    name, chosen = "this m is the best", lambda r: r.sim[1][index(r) - 1]
    return (claims.at_most(name, chosen, lambda r: r.sim[1], where=given),)


def _largest_tie(r):
    """The largest m with lambda_(m+1) = lambda_m: d - 1, or d - 2 where the low level is single."""
    low_ties = r.x.largest - _high_count(r.x) > 1
    return jnp.where(low_ties, r.x.largest - 1, r.x.largest - 2)


def _between(r):
    levels = _spectrum(r.x)
    return jnp.minimum(levels[0] - r.sim[0], r.sim[0] - levels[-1])


BY_LEVELS = _best(lambda r: _high_count(r.x), _between)
ONE_TOO_FEW = _best(lambda r: jnp.maximum(_high_count(r.x) - 1, 1), _between)

theorem = claims.Theorem(
    space=rows.covariance_space(
        split=claims.Real(0, 1), difference=claims.Real(-1, 1, shape="largest")
    ),
    simulate=simulate,
    claims=_ties(lambda r: 1.0),
    source=claims.Printed(
        "Section 4.1, remark below Theorem 4.2",
        "where g < 1: taking the largest m which holds lambda_(m+1) = lambda_m (approximately)",
    ),
    note="with g between lambda_m and 1 the left part increases by more than the right one falls",
    readings=(
        claims.Reading(
            "the largest such m is the best",
            claims.Finding("whether the suggested m minimises the bound, which is left open"),
            claims=_best(_largest_tie, lambda r: 1 - r.sim[0]),
            note="the high level alone can be the better top span",
        ),
        claims.Reading(
            "corrected",
            claims.Corrected("g <= lambda_m instead of g < 1"),
            claims=(*_ties(lambda r: _spectrum(r.x)[:-1]), *BY_LEVELS),
            primary=True,
            note="a tie joins the top span where g <= lambda_m, whatever g < 1 says; "
            "of two levels the high one is the best top span where g lies between them",
        ),
    ),
    mutants=(
        claims.Mutant("ties always join", claims=_ties(lambda r: jnp.inf)),
        claims.Mutant("m is one too small", claims=ONE_TOO_FEW),
    ),
)
