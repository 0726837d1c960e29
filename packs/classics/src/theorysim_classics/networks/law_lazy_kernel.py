"""The tangent kernel of a wide network hardly moves while it is trained.

Lee, Xiao, Schoenholz, Bahri, Novak, Sohl-Dickstein and Pennington (2019), Theorem 2.1: along
gradient descent of a network of width n in the NTK parametrisation, |Theta_t - Theta_0| =
O(n^(-1/2)). Here f(x) = n^(-1/2) sum a_i tanh(w_i x) is trained on two inputs; the power that is
measured, -0.96 +- 0.14, is rather that of Dyer and Gur-Ari (2020), 1 / n.
"""

import jax
import jax.numpy as jnp
import optax

from theorysim import claims
from theorysim.numerics.descent import descend_to

WIDTHS = {"n": (64, 256, 1024)}


def simulate(x: claims.Instance, key):
    """The largest change of an entry of the kernel."""
    for_outer, for_inner = jax.random.split(key)
    angle = jnp.stack([jnp.zeros_like(x.angle), x.angle])
    inputs = jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)
    labels = jnp.stack([x.label, -x.label])

    def f(w):
        return jnp.tanh(inputs @ w[1].T) @ w[0] / jnp.sqrt(x.n)

    def kernel(w):
        parts = jax.tree.leaves(jax.jacobian(f)(w))
        return sum(p.reshape(2, -1) @ p.reshape(2, -1).T for p in parts)

    start = (jax.random.normal(for_outer, (x.n,)), jax.random.normal(for_inner, (x.n, 2)))
    rate = optax.sgd(0.3)
    end = descend_to(lambda w: jnp.sum((f(w) - labels) ** 2) / 2, start, rate, x.steps)
    return jnp.max(jnp.abs(kernel(end) - kernel(start)))


def _falls(exponent: float):
    return claims.scales_as(
        "change of the kernel",
        lambda r: r.mean(r.sim),
        over=WIDTHS,
        exponent=exponent,
        relation="at_most",
    )


BOUND = _falls(-0.5)

theorem = claims.Theorem(
    space=claims.Space(
        n=claims.Size(64, high=4096),
        steps=claims.Size(8, high=1024),
        angle=claims.Real(0.5, 2.5),
        label=claims.Real(0.5, 1),
    ),
    simulate=simulate,
    claims=(BOUND,),
    keys=64,
    source=claims.Printed("Lee et al. 2019, Theorem 2.1", "|Theta_t - Theta_0| = O(n^(-1/2))"),
    mutants=(claims.Mutant("the power -2", claims=(_falls(-2.0),)),),
    instances=8,
    mutant_instances=8,
)
