"""The network is homogeneous in its weights, and its gradient has a closed form.

Section 6.1 of Liu et al. (2019): f(x) = a^T relu(W^T x) / sqrt(m), so c W gives c f for c > 0, and
the loss (y - f)^T (y - f) / 2 has dL/dw_r = sum_i (u_i - y_i) a_r 1{<w_r, x_i> >= 0} x_i / sqrt(m).
Eq. 6 and 7: with Z the matrix of blocks 1{...} a_r x_i / sqrt(m), the outputs are Z^T vec(W), the
Gram matrix is Z^T Z, and a step of gradient descent is vec(W) - eta Z (u - y).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Real, Theorem, equal
from theorysim.numerics.products import dot
from theorysim.systems import two_layer_relu as relu
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    NORMALISATION,
    problem_space,
    source,
    stable_rates,
)


def simulate(x: Instance, key):
    """Outputs at W and c W, the derivative of the loss, and the path of pretraining."""
    network, task = training.started(x, key), source(x)
    stretched = network._replace(weights=x.stretch * network.weights)

    def loss(weights):
        return relu.loss(network._replace(weights=weights), task, NORMALISATION)

    return {
        "outputs": relu.outputs(network, task.inputs),
        "stretched": relu.outputs(stretched, task.inputs),
        "gradient": training.vec(jax.grad(loss)(network.weights)),
        "gram": relu.empirical_gram(network, task.inputs, network, task.inputs),
        "path": training.paths(x, network).source,
        "signs": network.signs,
    }


def _features(r):
    """Z along the path."""
    return jax.vmap(training.features, (0, 0, None))(
        r.sim["path"], r.sim["signs"], source(r.x).inputs
    )


def _slopes(r, share: float):
    """Z (u - y) along the path."""
    along = jax.vmap(training.outputs, (0, 0, None))
    residual = along(r.sim["path"], r.sim["signs"], source(r.x).inputs) - r.x.source_labels
    return share * jnp.einsum("ktmn,ktn->ktm", _features(r), residual, precision="highest")


def _step(r, share: float):
    vec = training.vec(r.sim["path"])
    return (vec - stable_rates(r.x)[0] * _slopes(r, share))[:, :-1]


def _claims(power: float, share: float) -> tuple:
    def start(r):
        return _features(r)[:, 0]

    return (
        equal(
            "f is homogeneous",
            lambda r: r.sim["stretched"],
            lambda r: r.x.stretch**power * r.sim["outputs"],
        ),
        equal("dL/dW", lambda r: r.sim["gradient"], lambda r: _slopes(r, share)[:, 0]),
        equal(
            "Eq. 6: Z^T vec(W) = u",
            lambda r: r.sim["outputs"],
            lambda r: (
                share
                * jnp.einsum(
                    "kmn,km->kn", start(r), training.vec(r.sim["path"][:, 0]), precision="highest"
                )
            ),
        ),
        equal(
            "Eq. 6: Z^T Z = H",
            lambda r: r.sim["gram"],
            lambda r: share * dot(jnp.swapaxes(start(r), 1, 2), start(r)),
        ),
        equal(
            "Eq. 7: a step of descent",
            lambda r: training.vec(r.sim["path"][:, 1:]),
            lambda r: _step(r, share),
        ),
    )


theorem = Theorem(
    space=problem_space(
        **training.SIZES,
        kappa=training.KAPPA,
        rate_share=Real(0.05, 0.95),
        stretch=Real(1e-3, 1e3, log=True),
    ),
    simulate=simulate,
    claims=_claims(1.0, 1.0),
    aliases=("def-loss", "eq-6", "eq-7"),
    mutants=(Mutant("homogeneous of degree two, loss averaged", claims=_claims(2.0, 1 / 3)),),
    instances=32,
    mutant_instances=32,
)
