"""Gradient flow of deep linear networks keeps the difference of neighbouring layers' Grams.

Arora, Cohen and Hazan (2018), Theorem 1's proof; Du, Hu and Lee (2018), Section 2:
W_(l+1)^T W_(l+1) - W_l W_l^T does not move along gradient flow of any loss of the product. A step
of gradient descent with learning rate eta moves it by eta^2 (G_(l+1)^T G_(l+1) - G_l G_l^T)
exactly, G the gradients. The slopes are taken by automatic differentiation.
"""

import functools
import itertools

import jax
import jax.numpy as jnp

from theorysim import claims


def _loss(x: claims.Instance, layers):
    product = functools.reduce(lambda made, layer: layer @ made, layers)
    return jnp.sum(x.weights * jnp.tanh(product - x.target) ** 2)


def _grams(layers):
    """The Grams on either side of every pair of neighbours."""
    pairs = list(itertools.pairwise(layers))
    inner = jnp.stack([after.T @ after for _, after in pairs])
    return inner, jnp.stack([before @ before.T for before, _ in pairs])


def simulate(x: claims.Instance, key):
    """Slopes of both Grams along the flow; the move of their difference in one step."""
    layers = list(x.layers)
    slopes = jax.grad(lambda w: _loss(x, w))(layers)
    flow = jax.tree.map(jnp.negative, slopes)
    _, (inner, outer) = jax.jvp(_grams, (layers,), (flow,))
    stepped = [w - x.rate * g for w, g in zip(layers, slopes)]
    before, after = (jnp.subtract(*_grams(w)) for w in (layers, stepped))
    second = x.rate**2 * jnp.subtract(*_grams(slopes))
    return {"inner": inner, "outer": outer, "moved": after - before, "second": second}


FLOW = claims.equal("flow", lambda r: r.sim["inner"], lambda r: r.sim["outer"])
STEP = claims.equal("step", lambda r: r.sim["moved"], lambda r: r.sim["second"])

theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(3, high=8),
        depth=claims.Size(3, low=2, high=6),
        layers=claims.Gaussian("depth", "d", "d"),
        target=claims.Gaussian("d", "d"),
        weights=claims.Real(0, 1, shape=("d", "d")),
        rate=claims.Real(0.01, 1, log=True),
    ),
    simulate=simulate,
    claims=(FLOW, STEP),
    source=claims.Printed(
        "Du, Hu and Lee 2018, Section 2",
        "d / dt (W_l W_l^T - W_(l+1)^T W_(l+1)) = 0",
    ),
    mutants=(
        claims.Mutant(
            "a transpose lost",
            claims=(FLOW.against(lambda r: jnp.swapaxes(r.sim["outer"][::-1], 1, 2)),),
        ),
        claims.Mutant("the other sign", claims=(STEP.against(lambda r: -r.sim["second"]),)),
    ),
)
