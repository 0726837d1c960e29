"""The network is homogeneous in its weights, and its gradient has a closed form.

Section 6.1 of Liu et al. (2019): f(x) = a^T relu(W^T x) / sqrt(m), so c W gives c f for c > 0, and
the loss (y - f)^T (y - f) / 2 has dL/dw_r = sum_i (u_i - y_i) a_r 1{<w_r, x_i> >= 0} x_i / sqrt(m).
Eq. 6 and 7: with Z the matrix of blocks 1{...} a_r x_i / sqrt(m), the outputs are Z^T vec(W), the
Gram matrix is Z^T Z, and a step of gradient descent is vec(W) - eta Z (u - y).
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.claims import Instance, Mutant, Printed, Real, Theorem, equal
from theorysim.systems import two_layer_relu as relu
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    NORMALISATION,
    problem_space,
    source,
    stable_rates,
)


class Observed(NamedTuple):
    """What a network of random weights does on the source task, and the path of pretraining."""

    outputs: Float[Array, " p"]
    stretched: Float[Array, " p"]
    gradient: Float[Array, " md"]
    gram: Float[Array, "p p"]
    path: Float[Array, "times m d"]
    signs: Float[Array, " m"]


def simulate(x: Instance, key) -> Observed:
    """Outputs at W and c W, the derivative of the loss, and the path of pretraining."""
    network, task = training.started(x, key), source(x)

    def loss(weights):
        return relu.loss(network._replace(weights=weights), task, NORMALISATION)

    return Observed(
        relu.outputs(network, task.inputs),
        relu.outputs(network._replace(weights=x.stretch * network.weights), task.inputs),
        training.vec(jax.grad(loss)(network.weights)),
        relu.empirical_gram(network, task.inputs, network, task.inputs),
        training.paths(x, network).source,
        network.signs,
    )


def _features(r):
    """Z along the path."""
    return training.features(r.sim.path, r.sim.signs, source(r.x).inputs)


def _slopes(r):
    """Z (u - y) along the path."""
    outputs = training.outputs(r.sim.path, r.sim.signs, source(r.x).inputs)
    return jnp.einsum("tmn,tn->tm", _features(r), outputs - r.x.source_labels, precision="highest")


def _outputs(r):
    """Z^T vec(W) at the start."""
    start = training.vec(r.sim.path[0])
    return jnp.einsum("mn,m->n", _features(r)[0], start, precision="highest")


def _gram(r):
    """Z^T Z at the start."""
    return jnp.einsum("mi,mj->ij", *[_features(r)[0]] * 2, precision="highest")


def _step(factor: float):
    def step(r):
        rate = factor * stable_rates(r.x)[0]
        return (training.vec(r.sim.path) - rate * _slopes(r))[:-1]

    return step


homogeneous = equal(
    "f is homogeneous", lambda r: r.sim.stretched, lambda r: r.x.stretch * r.sim.outputs
)
gradient = equal("dL/dW", lambda r: r.sim.gradient, lambda r: _slopes(r)[0])
outputs = equal("Eq. 6: Z^T vec(W) = u", lambda r: r.sim.outputs, _outputs)
gram = equal("Eq. 6: Z^T Z = H", lambda r: r.sim.gram, _gram)
step = equal("Eq. 7: a step of descent", lambda r: training.vec(r.sim.path[1:]), _step(1.0))

theorem = Theorem(
    space=problem_space(
        **training.SIZES,
        kappa=training.KAPPA,
        rate_share=Real(0.05, 0.95),
        stretch=Real(1e-3, 1e3, log=True),
    ),
    simulate=simulate,
    claims=(homogeneous, gradient, outputs, gram, step),
    source=Printed(
        "Section 6.1, Eq. 6 and Eq. 7",
        "f(x) = a^T sigma(W^T x) / sqrt(m); L(W) = (y - f(X))^T (y - f(X)) / 2; "
        "vec(W_P(k+1)) = vec(W_P(k)) - eta Z_P(k) (u(k) - y_P)",
    ),
    aliases=("def-loss", "eq-6", "eq-7"),
    mutants=(
        Mutant(
            "homogeneous of degree two, as with trained signs",
            claims=(homogeneous.against(lambda r: r.x.stretch**2 * r.sim.outputs),),
        ),
        Mutant("the loss is not halved", claims=(gradient.scaled(2), step.against(_step(2.0)))),
        Mutant(
            "Z with 1/m for 1/sqrt(m)",
            claims=(
                outputs.against(lambda r: _outputs(r) / jnp.sqrt(r.x.width)),
                gram.against(lambda r: _gram(r) / r.x.width),
            ),
        ),
    ),
    instances=32,
    mutant_instances=32,
)
