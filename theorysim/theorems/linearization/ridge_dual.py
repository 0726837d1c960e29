"""The printed formula of the optimal function is that of the dual problem to the letter.

Section 4 of Afzal et al. (2025): the dual is printed with the whole vector of errors inside of the
sum over i, so that its average over i loses the 1/n: K(., x) [K + sigma I]^(-1) y minimises it.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.linearization import _reformulation as reformulation
from theorysim.theorems.linearization import _ridge as ridge


def simulate(x: claims.Instance, key) -> reformulation.Tuned:
    """The function a^T K(x, .) of the a that minimises the dual as it is printed."""
    rows, test = reformulation.features(x)
    gram = ridge.kernel(rows)

    def loss(a):
        whole = jnp.sum((a @ gram - x.targets) ** 2)
        return jnp.mean(jnp.full(x.n, whole)) + x.sigma * a @ gram @ a

    a = ridge.minimiser(loss, x.n)
    return reformulation.Tuned(gram @ a, test @ rows.T @ a, rows.T @ a)


theorem = claims.Theorem(
    # Where K is singular the dual has many minimisers, of one function.
    space=reformulation.space(few=claims.Choice(0.0)),
    simulate=simulate,
    predict=reformulation.optimum(),
    claims=reformulation.OPTIMAL,
    printed="dual to the letter",
    source=claims.Printed(
        reformulation.PLACE,
        "min_alpha (1/n) sum_i |alpha^T K(., x*) - y*|^2 + sigma alpha^T K alpha",
    ),
    mutants=(
        claims.Mutant("lambda for sigma in the dual", predict=reformulation.optimum(factor=2.0)),
    ),
)
