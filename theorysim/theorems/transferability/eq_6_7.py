"""Outputs, Gram matrix and steps of descent, by the features of the network.

Eq. 6 and 7 of Liu et al. (2019): with Z the matrix of blocks 1{<w_r, x_i> >= 0} a_r x_i / sqrt(m),
the outputs are Z^T vec(W), the Gram matrix is Z^T Z, and a step of gradient descent is vec(W) - eta
Z (u - y). The loss is differentiated automatically; Z is written down.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import two_layer_relu as relu
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training


class Observed(NamedTuple):
    """At the random start, and along pretraining."""

    outputs: Float[Array, " p"]
    gram: Float[Array, "p p"]
    path: Float[Array, "times m d"]
    signs: Float[Array, " m"]


def simulate(x: claims.Instance, key) -> Observed:
    network, inputs = training.started(x, key), problem.source(x).inputs
    outputs = relu.outputs(network, inputs)
    gram = relu.empirical_gram(network, inputs, network, inputs)
    return Observed(outputs, gram, training.paths(x, network).source, network.signs)


def _features(r):
    """Z along the path."""
    return training.features(r.sim.path, r.sim.signs, problem.source(r.x).inputs)


def _outputs(r):
    """Z^T vec(W) at the start."""
    start = training.vec(r.sim.path[0])
    return jnp.einsum("mn,m->n", _features(r)[0], start, precision="highest")


def _gram(r):
    """Z^T Z at the start."""
    z = _features(r)[0]
    return jnp.einsum("mi,mj->ij", z, z, precision="highest")


def _step(r, factor: float = 1.0):
    """vec(W) - factor eta Z (u - y)."""
    outputs = training.outputs(r.sim.path, r.sim.signs, problem.source(r.x).inputs)
    residual = outputs - r.x.source_labels
    slopes = jnp.einsum("tmn,tn->tm", _features(r), residual, precision="highest")
    return (training.vec(r.sim.path) - factor * problem.stable_rates(r.x)[0] * slopes)[:-1]


outputs = claims.equal("Eq. 6: Z^T vec(W) = u", lambda r: r.sim.outputs, _outputs)
gram = claims.equal("Eq. 6: Z^T Z = H", lambda r: r.sim.gram, _gram)
step = claims.equal("Eq. 7: a step of descent", lambda r: training.vec(r.sim.path[1:]), _step)
lost_root = (
    outputs.against(lambda r: _outputs(r) / jnp.sqrt(r.x.width)),
    gram.against(lambda r: _gram(r) / r.x.width),
)

theorem = claims.Theorem(
    space=training.training_space(),
    simulate=simulate,
    claims=(outputs, gram, step),
    source=claims.Printed("Appendix C, Eq. 6 and 7", "Z_P = (I^P_(r,i) a_r x_(P,i)) / sqrt(m)"),
    aliases=("eq-6", "eq-7"),
    mutants=(
        claims.Mutant("Z with 1 / m for 1 / sqrt(m)", claims=lost_root),
        claims.Mutant("the loss is not halved", claims=(step.against(lambda r: _step(r, 2.0)),)),
    ),
    instances=32,
    mutant_instances=32,
)
