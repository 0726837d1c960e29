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
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import NORMALISATION, problem_space, source


class Observed(NamedTuple):
    """A network of random weights on the source task."""

    outputs: Float[Array, " p"]
    stretched: Float[Array, " p"]
    gradient: Float[Array, " md"]
    weights: Float[Array, "m d"]
    signs: Float[Array, " m"]


def simulate(x: claims.Instance, key) -> Observed:
    """Outputs at W and c W, the derivative of the loss, and the path of pretraining."""
    network, task = training.started(x, key), source(x)

    def loss(weights):
        return relu.loss(network._replace(weights=weights), task, NORMALISATION)

    return Observed(
        relu.outputs(network, task.inputs),
        relu.outputs(network._replace(weights=x.stretch * network.weights), task.inputs),
        training.vec(jax.grad(loss)(network.weights)),
        network.weights,
        network.signs,
    )


def _slopes(r):
    """Z (u - y), Z of Eq. 6."""
    z = training.features(r.sim.weights, r.sim.signs, source(r.x).inputs)
    residual = r.sim.outputs - r.x.source_labels
    return jnp.einsum("mn,n->m", z, residual, precision="highest")


homogeneous = claims.equal(
    "f is homogeneous", lambda r: r.sim.stretched, lambda r: r.x.stretch * r.sim.outputs
)
gradient = claims.equal("dL/dW", lambda r: r.sim.gradient, _slopes)

theorem = claims.Theorem(
    space=problem_space(
        width=training.SIZES["width"],
        kappa=training.KAPPA,
        stretch=claims.Real(1e-3, 1e3, log=True),
    ),
    simulate=simulate,
    claims=(homogeneous, gradient),
    source=claims.Printed(
        "Section 6.1", "f(x) = a^T sigma(W^T x) / sqrt(m); L(W) = (y - f(X))^T (y - f(X)) / 2"
    ),
    aliases=("def-loss",),
    mutants=(
        claims.Mutant(
            "homogeneous of degree two, as with trained signs",
            claims=(homogeneous.against(lambda r: r.x.stretch**2 * r.sim.outputs),),
        ),
        claims.Mutant("the loss is not halved", claims=(gradient.scaled(2),)),
    ),
    instances=32,
    mutant_instances=32,
)
