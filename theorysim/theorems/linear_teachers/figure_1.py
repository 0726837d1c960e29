"""Which eigenvectors the teachers should agree on: the top ones for few samples, then the bottom.

Section 4.2 of Shachaf et al. (2021), prose of Figure 1: the first twentieth of the eigenvalues of
Sigma is 1.5, the rest 0.3; "Top Eigen Align" has P_top (theta_T - theta_S) = 0, "Bottom Eigen
Align" P_bottom (theta_T - theta_S) = 0, of the same norm. Normal rows are drawn; the risk is
Theorem 4.1's (checked there). The figure has d = 1000; here d = 100 by default. Very few is one
sample, a large n is d / 2 or more. That the loss "drops to zero well before n = d" is read off a
plot: no risk is zero before n = d, and how near it is the print does not say. With equal
eigenvalues it would fall to (1 - n / d) of the first one, and reach zero at n = d: "well before" is
read as less than that, at every n.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot

TOP, LEVELS = 1 / 20, (1.5, 0.3)

# Numbers of samples after the first, as shares of d.
SHARES = (0.25, 0.5, 0.75, 0.9)


class Aligned(NamedTuple):
    """Risks of either setting for one sample, and for `SHARES` of d."""

    top: Float[Array, " samples"]
    bottom: Float[Array, " samples"]


def _samples(d: int) -> list[int]:
    return [1, *(round(share * d) for share in SHARES)]


def _eigenvalues(x: claims.Instance) -> Float[Array, " d"]:
    return jnp.where(jnp.arange(x.d) < TOP * x.d, *LEVELS)


def _unit(x: claims.Instance, inside: Float[Array, " d"]) -> Float[Array, " d"]:
    """A difference of the teachers of norm 1 inside a span of coordinates."""
    part = x.difference * inside
    return part / jnp.linalg.norm(part)


def simulate(x: claims.Instance, key) -> Aligned:
    """R(gamma) for the first of one sequence of samples."""
    roots = jnp.sqrt(_eigenvalues(x))
    entries = jax.random.normal(key, (_samples(x.d)[-1], x.d))
    inside = (roots > roots[-1]).astype(roots.dtype)
    both = jnp.stack([_unit(x, 1 - inside), _unit(x, inside)], axis=1)

    def risks(samples: int) -> Float[Array, "2"]:
        rows = entries[:samples] * roots
        seen = dot(rows.T, jnp.linalg.solve(dot(rows, rows.T), dot(rows, both)))
        return jnp.sum(jnp.square(roots[:, None] * (both - seen)), axis=0)

    return Aligned(*jnp.stack([risks(samples) for samples in _samples(x.d)], axis=1))


def _mean(setting: str, which: slice) -> Callable:
    return lambda r: r.mean(getattr(r.sim, setting)[:, which])


def _isotropic(r) -> Float[Array, " shares"]:
    """(1 - n / d) of the risk without samples, by which the risks are divided."""
    return 1 - jnp.array(_samples(r.x.d)[1:]) / r.x.d


def _well_before(setting: str, level: float) -> claims.Claim:
    return claims.at_most(
        "to zero well before n = d",
        lambda r: _mean(setting, slice(1, None))(r) / level,
        _isotropic,
    )


def _better(name: str, setting: str, other: str, which: slice) -> claims.Claim:
    return claims.at_most(name, _mean(setting, which), _mean(other, which))


ONE, LARGE = slice(0, 1), slice(2, None)
FEW = _better("very few samples", "top", "bottom", ONE)
MANY = _better("large n", "bottom", "top", LARGE)
DROPS = claims.decreasing("the loss drops as n grows", _mean("bottom", slice(None)))

theorem = claims.Theorem(
    space=claims.Space(d=claims.Size(100, low=50, high=1000), difference=claims.Gaussian("d")),
    simulate=simulate,
    claims=(FEW, MANY, DROPS, _well_before("bottom", LEVELS[0])),
    source=claims.Printed(
        "Section 4.2, Figure 1",
        "for very few samples Top Eigen Align has a lower population loss than Bottom Eigen Align; "
        "the population loss of Bottom Eigen Align drops significantly as n grows, and drops to "
        "zero well before n = d",
    ),
    mutants=(
        claims.Mutant(
            "few and many samples swapped",
            claims=(
                _better(FEW.name, "top", "bottom", LARGE),
                _better(MANY.name, "bottom", "top", ONE),
            ),
        ),
        claims.Mutant(
            "the loss of the other setting drops, that of this one rises",
            claims=(_well_before("top", LEVELS[1]), DROPS.reversed()),
        ),
    ),
    keys=64,
    instances=8,
    mutant_instances=8,
)
