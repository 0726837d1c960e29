"""Which m makes the risk bound small: the largest one with nearly equal eigenvalues need not.

Remark after Theorem 4.2 of Shachaf et al. (2021), for g < 1: "while finding the exact m that
minimizes the bound is not straightforward", take the largest m with lambda_(m+1) ~ lambda_m. Here
the spectrum has two levels a factor of two or more apart, within which eigenvalues differ by 1.5 %
at most and none are equal, so that every top span is defined. The chosen m is compared with every
other one, up to what nearly equal eigenvalues differ by. m is a parameter of the bound alone: no
risk knows it, so that there is nothing to simulate.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.systems.linear_regression import covariance_estimation
from theorysim.theorems.linear_teachers import _covariance_bound as rows

# Each eigenvalue of a level over the one before.
SLOPE = 0.999


def _high_count(x: claims.Instance):
    """Number of eigenvalues on the high level, in 1..d-1."""
    return 1 + jnp.floor(x.split * (x.largest - 1) * (1 - 1e-12)).astype(int)


def _spectrum(x: claims.Instance):
    position = jnp.arange(x.largest)
    level = jnp.where(position < _high_count(x), x.spectrum[0], x.spectrum[1])
    return x.scale * level * SLOPE**position


def simulate(x: claims.Instance, key) -> tuple:
    """g, and Eq. 3 for every m."""
    g = covariance_estimation(_spectrum(x), x.delta, x.samples)
    return g, rows.diagonal_bound(_spectrum(x), x.difference, g)


def _joins(threshold: Callable) -> tuple:
    def given(r):
        """lambda_(m+1) ~ lambda_m and g is below the threshold, for m = 1..d-1."""
        near = jnp.where(jnp.arange(1, r.x.largest) == _high_count(r.x), -1.0, 1.0)
        return jnp.minimum(near, threshold(r) - r.sim[0])

    larger, smaller = (lambda r: r.sim[1][1:]), (lambda r: r.sim[1][:-1] / SLOPE**2)
    return (claims.at_most("a near tie joins the top span", larger, smaller, where=given),)


def _best(index: Callable, given: Callable) -> tuple:
    def others(r):
        return r.sim[1] / SLOPE ** (2 * (r.x.largest - 1))

    chosen = lambda r: r.sim[1][index(r) - 1]  # noqa: E731
    return (claims.at_most("this m is nearly the best", chosen, others, where=given),)


def _largest(r):
    """The largest m with lambda_(m+1) ~ lambda_m: d - 1, or d - 2 where the low level is single."""
    low_ties = r.x.largest - _high_count(r.x) > 1
    return jnp.where(low_ties, r.x.largest - 1, r.x.largest - 2)


def _between(r):
    """g lies between the levels."""
    spectrum, high = _spectrum(r.x), _high_count(r.x)
    return jnp.minimum(spectrum[high - 1] - r.sim[0], r.sim[0] - spectrum[high])


AS_PRINTED = _best(_largest, claims.strict(lambda r: 1 - r.sim[0]))
BY_LEVELS = _best(lambda r: _high_count(r.x), _between)
ONE_TOO_FEW = _best(lambda r: jnp.maximum(_high_count(r.x) - 1, 1), _between)

theorem = claims.Theorem(
    space=rows.covariance_space(
        spectrum=claims.Spectrum(2, 1e-2, 1, gap=2),
        split=claims.Real(0, 1),
        difference=claims.Real(-1, 1, shape="largest"),
    ),
    simulate=simulate,
    claims=AS_PRINTED,
    source=claims.Printed(
        "Section 4.1, remark below Theorem 4.2",
        "where g < 1: the trade-off in selecting it suggests taking the largest m which holds "
        "lambda_(m+1) ~ lambda_m. This will cover more of P_(>m) (theta_T - theta_S) without "
        "greatly increasing the left part of (3)",
    ),
    note='a suggestion, which leaves the exact m open, and "greatly" names no number: it is read '
    "as that no other m is better. Where g < 1 is above lambda_m, the left part grows by "
    "(g / lambda_m)^2 times what the right one falls by, and other m are far better",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("the number of eigenvalues above g for the largest such m"),
            claims=(*_joins(lambda r: _spectrum(r.x)[1:]), *BY_LEVELS),
            primary=True,
            note="a near tie joins the top span where g <= lambda_(m+1), whatever g < 1 says; "
            "of two levels the high one is the best top span where g lies between them",
        ),
    ),
    mutants=(
        claims.Mutant("near ties always join", claims=_joins(lambda r: jnp.inf)),
        claims.Mutant("m is one too small", claims=ONE_TOO_FEW),
        claims.Mutant("the largest m, as printed", claims=_best(_largest, _between)),
    ),
)
