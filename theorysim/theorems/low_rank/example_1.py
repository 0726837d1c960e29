"""Two different rank-one perturbations of one norm that give the same network.

Example 1 of Dayi and Chen (2024): k = d = 2, w_i = e_i, sigma(z) = z^2, lambda = 1,
u = (1, 1)/sqrt(2), u' = (1/sqrt(3), sqrt(6)/3), c = (-(1+sqrt(2))(2+sqrt(3)),
(1+sqrt(2))(sqrt(2)+sqrt(3))) and c' = -c. That the neurons differ is checked as that each is more
than 1 away from all of the other network.
"""

import jax.numpy as jnp

from theorysim import claims


def _simulate(sign: float = -1.0, last=None):
    """Both networks' outputs, their perturbations' norms, the least distance of neurons.

    c' = sign c; u' has `last` as its last entry.
    """

    def simulate(x: claims.Instance, key):
        two, three = jnp.sqrt(2.0), jnp.sqrt(3.0)
        c = (1 + two) * jnp.array([-(2 + three), two + three])
        u, other = jnp.array([1.0, 1.0]) / two, jnp.array([1 / three, jnp.sqrt(6.0) / 3])
        other = other if last is None else other.at[1].set(last)
        kicks = jnp.outer(c, u), sign * jnp.outer(c, other)
        rows = jnp.stack([jnp.eye(2) + kick for kick in kicks])
        outputs = jnp.sum((rows @ x.input) ** 2, axis=1)
        norms = jnp.stack([jnp.linalg.norm(kick) for kick in kicks])
        distances = jnp.linalg.norm(rows[0][:, None] - rows[1], axis=-1)
        return outputs, norms, jnp.min(distances)

    return simulate


APART = claims.at_least("C2: the neurons differ", lambda r: r.sim[2], lambda r: 1.0)

theorem = claims.Theorem(
    space=claims.Space(d=claims.Size(2, low=2, high=2), input=claims.Gaussian("d", scale=10.0)),
    simulate=_simulate(),
    claims=(
        claims.equal("C1: one network", lambda r: r.sim[0][0], lambda r: r.sim[0][1]),
        APART,
        claims.equal("C3: one norm", lambda r: r.sim[1][0], lambda r: r.sim[1][1]),
    ),
    source=claims.Printed(
        "Example 1, Appendix C.1",
        "functionally equivalent, even though different as unordered pairs; furthermore |c| = |c'|",
    ),
    mutants=(
        claims.Mutant("c' = c", simulate=_simulate(1.0)),
        claims.Mutant(
            "u' = (1/sqrt(3), 2/3), which is no unit vector", simulate=_simulate(last=2 / 3)
        ),
        claims.Mutant("the neurons are 2 apart", claims=(APART.scaled(2.0),)),
    ),
    instances=16,
)
