"""How far a polynomial moves between two points, and between two correlated Gaussians.

Remark 2 of Dayi and Chen (2024), for p(x) = sum_n a_n x^n of degree s: |p(g_1) - p(g_2)| is at most
s max(|g_1|^(s-1), |g_1|^(s-2)|g_2|, ..., |g_2|^(s-1)) (sum_n |a_n|) |g_1 - g_2|, n from 1. The
maximum has the powers of total degree s - 1 only: near 0 it is small while x + x^2 / 1000 moves by
nearly its whole distance. With max(1, |g_1|, |g_2|)^(s-1) it holds. The moments of both sides obey
the inequality that the remark draws from it by Cauchy-Schwarz, with the printed maximum, too: that
of a Gaussian is not small. Moments are means over a product Gauss-Hermite rule.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims

NODES = 40
POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(NODES)
SHARES = np.outer(WEIGHTS, WEIGHTS) / WEIGHTS.sum() ** 2


class Moves(NamedTuple):
    """|p(g_1) - p(g_2)| at two points, and its q-th moment's root for correlated Gaussians."""

    distance: Float[Array, ""]
    moment: Float[Array, ""]


def _polynomial(x: claims.Instance, g: Array) -> Array:
    """p without a_0."""
    return jnp.sum(x.coefficients * g[..., None] ** jnp.arange(1, x.s + 1), axis=-1)


def _pair(x: claims.Instance) -> tuple[Array, Array, Array]:
    """Two Gaussians of correlation 1 - gap at the nodes, and their difference."""
    points = jnp.asarray(POINTS, x.gap.dtype)
    first, other = jnp.meshgrid(points, points, indexing="ij")
    apart = jnp.sqrt(x.gap * (2 - x.gap)) * other - x.gap * first
    return first, first + apart, apart


def _root_moment(values: Array, power) -> Float[Array, ""]:
    """(E |values|^power)^(1/power)."""
    shares = jnp.asarray(SHARES, values.dtype)
    return jnp.sum(shares * jnp.abs(values) ** power) ** (1 / power)


def simulate(x: claims.Instance, key) -> Moves:
    """How far p moves."""
    first, second, _ = _pair(x)
    return Moves(
        jnp.abs(_polynomial(x, x.points[0]) - _polynomial(x, x.points[1])),
        _root_moment(_polynomial(x, first) - _polynomial(x, second), x.q),
    )


def _predict(floor: float, lost: int = 1, power: float = 1.0):
    """The bounds with max(floor, |g_1|, |g_2|)^(s - lost) and |g_1 - g_2|^power."""

    def largest(x: claims.Instance, first: Array, second: Array) -> Array:
        both = jnp.maximum(jnp.abs(first), jnp.abs(second))
        return jnp.maximum(floor, both) ** (x.s - lost)

    def predict(x: claims.Instance) -> Moves:
        factor = x.s * jnp.sum(jnp.abs(x.coefficients))
        first, second, difference = _pair(x)
        points = largest(x, x.points[0], x.points[1]) * jnp.abs(x.points[0] - x.points[1])
        moments = _root_moment(largest(x, first, second), 2 * x.q)
        apart = _root_moment(difference, 2 * x.q) ** power
        return Moves(factor * points, factor * moments * apart)

    return predict


POINTWISE = claims.at_most(
    "C1: |p(g_1) - p(g_2)|", lambda r: r.sim.distance, lambda r: r.theory.distance
)
MOMENTS = claims.at_most("C2: the moments", lambda r: r.sim.moment, lambda r: r.theory.moment)

theorem = claims.Theorem(
    space=claims.Space(
        s=claims.Size(3, high=12),
        coefficients=claims.Real(-2, 2, shape="s"),
        points=claims.Real(-3, 3, shape=2),
        gap=claims.Real(1e-6, 2, log=True),
        q=claims.Integer(1, 4),
    ),
    simulate=simulate,
    predict=_predict(0.0),
    claims=(POINTWISE,),
    hypotheses={"degree s: a_s != 0": claims.strict(lambda x: jnp.abs(x.coefficients[-1]))},
    source=claims.Printed(
        "Remark 2, Section 2.1",
        "<= s max{|g_1|^(s-1), |g_1|^(s-2)|g_2|, ..., |g_2|^(s-1)} (sum |a_n|) |g_1 - g_2|",
    ),
    note="lower powers of p move by more than the top power near 0",
    readings=(
        claims.corrected(
            "max(1, |g_1|, |g_2|)^(s-1) for the maximum over powers of degree s - 1",
            predict=_predict(1.0),
            note="with the floor of 1 the maximum covers the lower powers of p, too",
        ),
        claims.Reading(
            "the inequality of moments",
            claims.Printed(
                "Remark 2, second display, Section 2.1",
                "(E|p(g_1) - p(g_2)|^p)^(1/p) <= s (sum |a_n|) "
                "(E max{|g_1|^(s-1), ..., |g_2|^(s-1)}^2p)^(1/2p) (E|g_1 - g_2|^2p)^(1/2p)",
            ),
            claims=(MOMENTS,),
            note="it holds with the printed maximum, too, though not by the display before it",
        ),
    ),
    mutants=(
        claims.Mutant("without the floor of 1, as printed", predict=_predict(0.0)),
        claims.Mutant("the power s - 2", predict=_predict(1.0, 2)),
        claims.Mutant(
            "|g_1 - g_2|^2", of=("the inequality of moments",), predict=_predict(0.0, power=2.0)
        ),
    ),
    instances=256,
    mutant_instances=256,
)
