"""The share of one row in a positive matrix with unit diagonal.

Claim 3 of Dayi and Chen (2024), Appendix A.3: over k x k positive semi-definite Q with Q_ii = 1,
max_i sum_j Q_ij^2 / sum_ij Q_ij^2 <= 2 / sqrt(k). Corollary 1 allows q_min^2 <= Q_ii <= q_max^2 and
puts q_max^2 / q_min^2 in front. Near the bound one vector has the same angle with k - 1 others,
which are spread evenly around it; random rows are added to those.
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.systems.rank_one import unit


def _rows(x: claims.Instance):
    """Row 0 is e_0; the others are lean e_0 plus a direction of their own, and random parts."""
    axis = jnp.eye(x.k)[0]
    others = x.lean * axis + jnp.sqrt(1 - x.lean**2) * jnp.eye(x.k)[1:]
    return jax.vmap(unit)(jnp.vstack([axis, others]) + x.disorder * x.rows)


def _share(sizes):
    def simulate(x: claims.Instance, key):
        rows = sizes(x)[:, None] * _rows(x)
        squares = jnp.sum(jnp.square(rows @ rows.T), axis=1)
        return jnp.max(squares) / jnp.sum(squares)

    return simulate


def _at_most(bound):
    return (claims.at_most("the share of a row", lambda r: r.sim, lambda r: bound(r.x)),)


def _spread(x: claims.Instance):
    """q_max / q_min."""
    return jnp.max(x.lengths) / jnp.min(x.lengths)


PRINTED = _at_most(lambda x: 2 / jnp.sqrt(x.k))

theorem = claims.Theorem(
    space=claims.Space(
        k=claims.Size(36, low=2, high=64),
        rows=claims.Gaussian("k", "k"),
        lean=claims.Real(0, 1),
        disorder=claims.Real(0.001, 2, log=True),
        lengths=claims.Real(0.1, 10, log=True, shape="k"),
    ),
    simulate=_share(lambda x: jnp.ones(x.k)),
    claims=PRINTED,
    aliases=("corollary-1",),
    source=claims.Printed("Claim 3, Appendix A.3.1", "max_i sum_j Q_ij^2 / |Q|_F^2 <= 2 k^(-1/2)"),
    readings=(
        claims.Reading(
            "Corollary 1",
            claims.Printed("Corollary 1, Appendix A.3.1", "at most 2 (q_max^2 / q_min^2) k^(-1/2)"),
            simulate=_share(lambda x: x.lengths),
            claims=_at_most(lambda x: 2 * _spread(x) ** 2 / jnp.sqrt(x.k)),
        ),
    ),
    mutants=(
        claims.Mutant("1/k for 1/sqrt(k)", claims=_at_most(lambda x: 2 / x.k)),
        claims.Mutant("the spread of the diagonal is lost", of=("Corollary 1",), claims=PRINTED),
    ),
    instances=256,
    mutant_instances=256,
)
