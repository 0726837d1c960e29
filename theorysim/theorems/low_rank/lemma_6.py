"""Bilinear forms of random signs, of positive matrices, are rarely small.

Lemma 6 of Dayi and Chen (2024), with Propositions 7 and 8: for positive semi-definite Q with
q_min^2 <= Q_ii <= q_max^2 and independent random signs, Pr[|x^T Q y| <= epsilon |Q|_F] is at most
o(1) + O(sqrt(epsilon)). The o(1) is left out: k is odd, so that no sum of signs vanishes. Q runs
from the diagonal (the form of Proposition 8's second claim) over the near extremal ones of Claim 3
to rank one (the product of its first claim).
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.systems.rank_one import unit
from theorysim.theorems.low_rank._problem import random_signs

EPSILONS = (0.5, 0.25, 0.125, 0.0625, 0.03125)
NEURONS = (9.0, 17.0, 33.0, 65.0)


def simulate(x: claims.Instance, key):
    """|x^T Q y| / |Q|_F for the Gram matrix of vectors at one angle to a common one."""
    signs = random_signs(key, x.k)
    own = jnp.sqrt(1 - x.lean**2) * jnp.eye(x.k)
    rows = jnp.concatenate([jnp.full((x.k, 1), x.lean), own], axis=1)
    rows = jnp.linspace(1, x.spread, x.k)[:, None] * jax.vmap(unit)(rows)
    gram = rows @ rows.T
    return jnp.abs(signs[0] @ gram @ signs[1]) / jnp.linalg.norm(gram)


def _claims(power: float):
    return (
        claims.exists_constant(
            "Pr[|x^T Q y| <= epsilon |Q|_F]",
            lambda r: jnp.mean(r.sim <= r.x.epsilon, axis=0),
            lambda r: r.x.epsilon**power,
            over={"epsilon": EPSILONS, "k": NEURONS},
        ),
    )


theorem = claims.Theorem(
    space=claims.Space(
        k=claims.Size(9, low=2, high=256),
        lean=claims.Real(0, 1),
        spread=claims.Real(1, 2),
        epsilon=claims.Real(0.03125, 0.5, log=True),
    ),
    simulate=simulate,
    claims=_claims(0.5),
    aliases=("proposition-7", "proposition-8"),
    source=claims.Printed(
        "Lemma 6, Propositions 7 and 8, Appendix A.3",
        "sup_Q Pr[|x^T Q y| <= epsilon |Q|_F] <= o(1) + O(epsilon^(1/2))",
    ),
    mutants=(claims.Mutant("epsilon^2 for its root", claims=_claims(2.0)),),
    keys=2048,
    instances=16,
)
