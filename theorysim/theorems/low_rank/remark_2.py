"""How far a polynomial moves between two points, and between two correlated Gaussians.

Remark 2 of Dayi and Chen (2024), for p(x) = sum_n a_n x^n of degree s: |p(g_1) - p(g_2)| is at most
s max(|g_1|^(s-1), |g_1|^(s-2)|g_2|, ..., |g_2|^(s-1)) (sum_n |a_n|) |g_1 - g_2|, n from 1. The
maximum has the powers of total degree s - 1 only: near 0 it is small while x + x^2 / 1000 moves by
nearly its whole distance. With max(1, |g_1|, |g_2|)^(s-1) it holds.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims


def simulate(x: claims.Instance, key) -> Float[Array, ""]:
    """|p(g_1) - p(g_2)|."""
    values = [jnp.sum(x.coefficients * g ** jnp.arange(1, x.s + 1)) for g in x.points]
    return jnp.abs(values[0] - values[1])


def _predict(floor: float, lost: int = 1):
    """The bound with max(floor, |g_1|, |g_2|)^(s - lost)."""

    def predict(x: claims.Instance) -> Float[Array, ""]:
        largest = jnp.maximum(floor, jnp.max(jnp.abs(x.points))) ** (x.s - lost)
        distance = jnp.abs(x.points[0] - x.points[1])
        return x.s * largest * jnp.sum(jnp.abs(x.coefficients)) * distance

    return predict


theorem = claims.Theorem(
    space=claims.Space(
        s=claims.Size(3, high=12),
        coefficients=claims.Real(-2, 2, shape="s"),
        points=claims.Real(-3, 3, shape=2),
    ),
    simulate=simulate,
    predict=_predict(0.0),
    claims=(claims.at_most("C1: |p(g_1) - p(g_2)|", lambda r: r.sim, lambda r: r.theory),),
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
    ),
    mutants=(
        claims.Mutant("without the floor of 1, as printed", predict=_predict(0.0)),
        claims.Mutant("the power s - 2", predict=_predict(1.0, 2)),
    ),
    instances=256,
    mutant_instances=256,
)
