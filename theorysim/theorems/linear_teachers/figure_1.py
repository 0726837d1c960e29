"""Which eigenvectors the teachers should agree on: the top ones for few samples, then the bottom.

Section 4.2 of Shachaf et al. (2021), prose of Figure 1: the first twentieth of the eigenvalues of
Sigma is 1.5, the rest 0.3; "Top Eigen Align" has P_top (theta_T - theta_S) = 0, "Bottom Eigen
Align" P_bottom (theta_T - theta_S) = 0, of the same norm. Normal rows are drawn; the risk is
Theorem 4.1's (checked there). The figure has d = 1000; here d = 100 by default. "Few" is read as
n = d / 50, "large n" as d / 2, "to zero well before n = d" as a hundredth of the first risk at
n = 0.9 d: before n = d no risk is zero.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot

TOP, LEVELS = 1 / 20, (1.5, 0.3)
FEW, MANY, NEARLY_ALL = 1 / 50, 1 / 2, 0.9

# What "zero" is read as, a share of the risk without samples.
ZERO = 0.01


class Aligned(NamedTuple):
    """Risks of either setting for few, many and nearly d samples."""

    top: Float[Array, "3"]
    bottom: Float[Array, "3"]


def _eigenvalues(x: claims.Instance) -> Float[Array, " d"]:
    return jnp.where(jnp.arange(x.d) < TOP * x.d, *LEVELS)


def _unit(x: claims.Instance, inside: Float[Array, " d"]) -> Float[Array, " d"]:
    """A difference of the teachers of norm 1 inside a span of coordinates."""
    part = x.difference * inside
    return part / jnp.linalg.norm(part)


def simulate(x: claims.Instance, key) -> Aligned:
    """R(gamma) for the first of one sequence of samples."""
    roots = jnp.sqrt(_eigenvalues(x))
    entries = jax.random.normal(key, (round(NEARLY_ALL * x.d), x.d))
    inside = (roots > roots[-1]).astype(roots.dtype)
    both = jnp.stack([_unit(x, 1 - inside), _unit(x, inside)], axis=1)

    def risks(share: float) -> Float[Array, "2"]:
        rows = entries[: max(round(share * x.d), 1)] * roots
        seen = dot(rows.T, jnp.linalg.solve(dot(rows, rows.T), dot(rows, both)))
        return jnp.sum(jnp.square(roots[:, None] * (both - seen)), axis=0)

    return Aligned(*jnp.stack([risks(share) for share in (FEW, MANY, NEARLY_ALL)], axis=1))


def _mean(setting: str, index: int) -> Callable:
    return lambda r: r.mean(getattr(r.sim, setting)[:, index])


def _claims(few: int = 0, many: int = 1, nearly_all: int = 2) -> tuple:
    """With the numbers of samples at these places in `Aligned`."""
    return (
        claims.at_most("very few samples", _mean("top", few), _mean("bottom", few)),
        claims.at_most("many samples", _mean("bottom", many), _mean("top", many)),
        claims.at_most(
            "to zero well before n = d", _mean("bottom", nearly_all), lambda r: ZERO * LEVELS[0]
        ),
    )


theorem = claims.Theorem(
    space=claims.Space(d=claims.Size(100, low=50, high=1000), difference=claims.Gaussian("d")),
    simulate=simulate,
    claims=_claims(),
    source=claims.Printed(
        "Section 4.2, Figure 1",
        "for very few samples Top Eigen Align has a lower population loss than Bottom Eigen Align; "
        "the population loss of Bottom Eigen Align drops significantly as n grows, and drops to "
        "zero well before n = d",
    ),
    mutants=(claims.Mutant("few and many samples swapped", claims=_claims(1, 0, 1)),),
    keys=64,
    instances=8,
    mutant_instances=8,
)
