"""The network is homogeneous in its weights, and its gradient has a closed form.

Section 6.1 of Liu et al. (2019): f(x) = a^T relu(W^T x) / sqrt(m), so c W gives c f for c > 0, and
the loss (y - f)^T (y - f) / 2 has dL/dw_r = sum_i (u_i - y_i) a_r 1{<w_r, x_i> >= 0} x_i / sqrt(m).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import two_layer_relu as relu
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training


class Observed(NamedTuple):
    """A network of random weights on the source task, at W and (stretched) at c W."""

    outputs: Float[Array, " p"]
    stretched: Float[Array, " p"]
    gradient: Float[Array, " md"]
    network: relu.Network


def simulate(x: claims.Instance, key) -> Observed:
    network, task = training.started(x, key), problem.source(x)

    def loss(weights):
        return relu.loss(network._replace(weights=weights), task, problem.NORMALISATION)

    return Observed(
        relu.outputs(network, task.inputs),
        relu.outputs(network._replace(weights=x.stretch * network.weights), task.inputs),
        training.vec(jax.grad(loss)(network.weights)),
        network,
    )


def _slopes(r):
    """Z (u - y), Z of Eq. 6."""
    weights, signs = r.sim.network
    z = training.features(weights, signs, problem.source(r.x).inputs)
    residual = r.sim.outputs - r.x.source_labels
    return jnp.einsum("mn,n->m", z, residual, precision="highest")


homogeneous = claims.equal(
    "f is homogeneous", lambda r: r.sim.stretched, lambda r: r.x.stretch * r.sim.outputs
)
gradient = claims.equal("dL/dW", lambda r: r.sim.gradient, _slopes)
of_degree_two = homogeneous.against(lambda r: r.x.stretch**2 * r.sim.outputs)

theorem = claims.Theorem(
    space=training.untrained_space(stretch=claims.Real(1e-3, 1e3, log=True)),
    simulate=simulate,
    claims=(homogeneous, gradient),
    source=claims.Printed("Section 6.1", "f(x) = a^T sigma(W^T x) / sqrt(m)"),
    aliases=("def-loss",),
    mutants=(
        claims.Mutant("homogeneous of degree two, as with trained signs", claims=(of_degree_two,)),
        claims.Mutant("the loss is not halved", claims=(gradient.scaled(2),)),
    ),
    instances=32,
    mutant_instances=32,
)
