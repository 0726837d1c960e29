"""Depth speeds a mode up by the power 2 - 2 / D of what has been learned.

Saxe, McClelland and Ganguli (2014), "Deeper multilayer dynamics", with D = N_l - 1 matrices: where
all start with the same strength a per mode, u = a^D obeys du / dt = D u^(2 - 2 / D) (s - u). Here
the matrices are W_l = Q^l diag(a) Q^(-(l - 1)) with an orthogonal Q, and the slope of their product
is taken by automatic differentiation of the loss |Sigma - W_D ... W_1|^2 / 2.
"""

import functools

import jax
import jax.numpy as jnp

from theorysim import claims


def _product(layers):
    return functools.reduce(lambda made, layer: layer @ made, layers)


def simulate(x: claims.Instance, key):
    """d u / dt of every mode, and the largest slope off the diagonal beside it."""
    turns = [jnp.eye(x.d)]
    for _ in range(x.depth):
        turns.append(x.turn @ turns[-1])
    root = jnp.diag(x.learned ** (1 / x.depth))
    layers = [turns[k + 1] @ root @ turns[k].T for k in range(x.depth)]
    target = turns[-1] @ jnp.diag(x.strengths)

    def loss(layers):
        return jnp.sum((target - _product(layers)) ** 2) / 2

    flow = jax.tree.map(jnp.negative, jax.grad(loss)(layers))
    _, slope = jax.jvp(_product, (layers,), (flow,))
    return jnp.diagonal(turns[-1].T @ slope)


def predict(x: claims.Instance):
    return x.depth * x.learned ** (2 - 2 / x.depth) * (x.strengths - x.learned)


def _other_power(x: claims.Instance):
    return x.depth * x.learned ** (2 - 1 / x.depth) * (x.strengths - x.learned)


SLOPES = claims.equal("du / dt", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(3, high=16),
        depth=claims.Size(3, high=8),
        strengths=claims.Real(0.1, 10, log=True, shape="d"),
        learned=claims.Real(1e-3, 10, log=True, shape="d"),
        turn=claims.Orthogonal("d"),
    ),
    simulate=simulate,
    predict=predict,
    claims=(SLOPES,),
    source=claims.Printed(
        "Saxe, McClelland and Ganguli 2014, Deeper multilayer dynamics",
        "tau du / dt = (N_l - 1) u^(2 - 2 / (N_l - 1)) (s - u)",
    ),
    mutants=(claims.Mutant("the power 2 - 1 / D", predict=_other_power),),
)
