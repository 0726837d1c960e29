"""The law of both risks for normal samples, from rows drawn one by one.

Behind Theorem 5.4 of Shachaf et al. (2021): that theorem is checked with draws of P_perp on the
plane of the teachers from its law (`_gaussian_rows`), which costs the same for any n and d. Here
the rows of X are drawn themselves, up to four of them in up to eight dimensions, and the means of
bounded functions of both risks are compared. The risks' own means are infinite for n <= 2; at
n = d both risks are zero.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linear_teachers import _gaussian_rows as gaussian


class Both(NamedTuple):
    """P_perp and P_par on the plane: of drawn rows, and from their law."""

    drawn: gaussian.Compression
    law: gaussian.Compression


def simulate(x: claims.Instance, key) -> Both:
    counts = gaussian.counts(x)
    return Both(gaussian.from_rows(key, *counts), gaussian.from_wishart(key, *counts))


def _distance(x: claims.Instance, risk: str) -> Float[Array, ""]:
    """||theta_T - k theta_S||^2 with k = ||theta_T|| / ||theta_S|| (deep) or 1, of order R."""
    source, target = gaussian.teachers(x)
    kept = x.target_norm / x.source_norm if risk == "deep" else 1.0
    return jnp.sum(jnp.square(target - kept * source))


def _bounded_mean(r, planes: gaussian.Compression, risk: str) -> Float[Array, ""]:
    """E of a bounded increasing function of the risk, which varies wherever the risk does."""
    risks = jax.vmap(lambda plane: gaussian.risks(r.x, plane))(planes)
    relative = getattr(risks, risk) / _distance(r.x, risk)
    return r.mean(relative / (1 + relative))


def _without_projection(r) -> gaussian.Compression:
    """A mutant's law."""
    return r.sim.law._replace(orthogonal=jnp.broadcast_to(jnp.eye(2), r.sim.law.orthogonal.shape))


def _laws(planes: Callable[[claims.Run], gaussian.Compression]) -> tuple:
    return tuple(
        claims.equal(
            f"law of {name}",
            lambda r, risk=risk: _bounded_mean(r, r.sim.drawn, risk),
            lambda r, risk=risk: _bounded_mean(r, planes(r), risk),
        )
        for risk, name in (("deep", "R(beta)"), ("shallow", "R(gamma)"))
    )


theorem = claims.Theorem(
    space=gaussian.plane_space(),
    hypotheses={
        "d >= 2": gaussian.has_plane,
        "n < d": lambda x: gaussian.counts(x)[1] - 1,
        "n, d - n <= 4": lambda x: gaussian.FEW_ROWS - jnp.maximum(*gaussian.counts(x)),
    },
    simulate=simulate,
    claims=_laws(lambda r: r.sim.law),
    source=claims.Finding("the law with which Theorem 5.4 is checked"),
    printed="rows drawn one by one",
    mutants=(claims.Mutant("without P_perp", claims=_laws(_without_projection)),),
    keys=4096,
    instances=24,
)
