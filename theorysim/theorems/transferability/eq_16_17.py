"""The gradient in the hidden activations is of rank one, and its size is the residual's.

Eq. 16 and 17 of Liu et al. (2019): dL(W(P))/dX^1 = a (u_Q(P) - y_Q)^T / sqrt(m), so its squared
norm is ||u_Q(P) - y_Q||^2 = ||u_Q(0) - y_Q||^2 + ||u_Q(P) - u_Q(0)||^2
+ 2 <u_Q(P) - u_Q(0), u_Q(0) - y_Q>. X^1 are the activations after the ReLU on the target inputs;
the loss is differentiated in them.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.two_layer_relu import squared_error
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training


class Observed(NamedTuple):
    """The gradient at W(P), and outputs on the target at W(0) and W(P)."""

    gradient: Float[Array, "m q"]
    signs: Float[Array, " m"]
    start: Float[Array, " q"]
    end: Float[Array, " q"]


def simulate(x: claims.Instance, key) -> Observed:
    path, task = training.paths(x, training.started(x, key)), problem.target(x)

    def loss(activations):
        outputs = jnp.einsum("m,mi->i", path.signs, activations, precision="highest")
        return squared_error(outputs / jnp.sqrt(x.width) - task.labels, problem.NORMALISATION)

    values = jnp.einsum("rd,id->ri", path.source[-1], task.inputs, precision="highest")
    start, end = training.outputs(path.source[jnp.array([0, -1])], path.signs, task.inputs)
    return Observed(jax.grad(loss)(jnp.maximum(values, 0)), path.signs, start, end)


def _outer(r):
    return r.sim.signs[:, None] * (r.sim.end - r.x.target_labels) / jnp.sqrt(r.x.width)


def _expanded(r, factor: float = 2.0):
    before, change = r.sim.start - r.x.target_labels, r.sim.end - r.sim.start
    return jnp.sum(before**2) + jnp.sum(change**2) + factor * jnp.sum(change * before)


gradient = claims.equal("Eq. 16", lambda r: r.sim.gradient, _outer)
norm = claims.equal("Eq. 17: the squared norm", lambda r: jnp.sum(r.sim.gradient**2), _expanded)
one_product = norm.against(lambda r: _expanded(r, 1.0))

theorem = claims.Theorem(
    space=training.training_space(),
    simulate=simulate,
    claims=(gradient, norm),
    source=claims.Printed(
        "Appendix C.1, Eq. 16 and 17", "dL(W(P))/dX^1 = a (u_Q(P) - y_Q) / sqrt(m)"
    ),
    aliases=("eq-16", "eq-17"),
    mutants=(
        claims.Mutant("the loss is not halved", claims=(gradient.scaled(2),)),
        claims.Mutant("the cross term without its factor 2", claims=(one_product,)),
    ),
)
