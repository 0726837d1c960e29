"""No constant c of the estimation bound serves all subgaussian laws of the rows.

Theorem 4.2 of Shachaf et al. (2021) states that a constant c exists for rows that are subgaussian.
Their law is fixed before c is; whether one c could serve all laws of the same covariance is asked
here, with rows whose length is rarely large.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.linear_regression import covariance_estimation
from theorysim.theorems.linear_teachers import _covariance_bound as rows


class Bound(NamedTuple):
    """g with c = 1, at the confidence that just includes the rare rows."""

    g: Float[Array, ""]
    confidence: Float[Array, ""]


def simulate(x: claims.Instance, key) -> rows.Drawn:
    """Rows whose length is rarely large: of the same covariance, but a larger subgaussian norm."""
    entries_key, rare_key = jax.random.split(key)
    entries = rows.standard_entries(x, entries_key)
    rare = jax.random.uniform(rare_key, entries.shape[:1]) < x.rarity
    large = (1 + x.rarity) / (2 * x.rarity)
    return rows.draw_rows(x, entries * jnp.sqrt(jnp.where(rare, large, 0.5))[:, None])


def predict(x: claims.Instance) -> Bound:
    delta = jnp.maximum(1, -jnp.log(0.5 * x.samples * x.rarity))
    g = covariance_estimation(rows.eigenvalues(x), delta, x.samples)
    return Bound(g, 1 - jnp.exp(-delta))


def _attained(r) -> Float[Array, ""]:
    """||S - Sigma|| that is exceeded with the printed probability."""
    return jnp.quantile(r.sim.error, r.theory.confidence)


RARITIES = (0.3, 0.15, 0.08, 0.04, 0.02, 0.01)

GROWTH = claims.scales_as(
    "c in the rarity",
    lambda r: _attained(r) / r.theory.g,
    over={"rarity": RARITIES},
    exponent=-0.5,
    relation="at_most",
    statement="c(rarity) grows at least as rarity^(-1/2)",
)

theorem = claims.Theorem(
    space=rows.covariance_space(rarity=claims.Real(0.01, 0.3, log=True), **rows.law_fields()),
    simulate=simulate,
    predict=predict,
    claims=(
        claims.exists_constant(
            "some c, |S - Sigma| <= g", _attained, lambda r: r.theory.g, over={"rarity": RARITIES}
        ),
    ),
    source=claims.Finding("whether c of Theorem 4.2 may be the same for every law of the rows"),
    note="c depends on the subgaussian norm of the rows: rare long rows need a larger one",
    printed="one constant for all subgaussian laws",
    readings=(
        claims.Reading(
            "the constant grows with rarity",
            claims.Finding("how the constant that rare long rows need grows"),
            claims=(GROWTH,),
            primary=True,
        ),
    ),
    mutants=(claims.Mutant("it grows as rarity^(-2)", claims=(GROWTH.with_exponent(-2.0),)),),
    keys=512,
    instances=16,
)
