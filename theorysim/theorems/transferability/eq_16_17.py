"""The gradient in the hidden activations is of rank one, and its size is the residual's.

Eq. 16 and 17 of Liu et al. (2019): dL(W(P))/dX^1 = a (u_Q(P) - y_Q)^T / sqrt(m), so its squared
norm is ||u_Q(P) - y_Q||^2 = ||u_Q(0) - y_Q||^2 + ||u_Q(P) - u_Q(0)||^2
+ 2 <u_Q(P) - u_Q(0), u_Q(0) - y_Q>. X^1 are the activations after the ReLU on the target inputs;
the loss is differentiated in them.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Real, Theorem, equal
from theorysim.numerics.products import dot
from theorysim.systems.two_layer_relu import squared_error
from theorysim.theorems.transferability._problem import NORMALISATION, problem_space, target
from theorysim.theorems.transferability._training import KAPPA, SIZES, outputs, paths, started


def simulate(x: Instance, key):
    """The gradient at W(P), and the outputs on the target at W(0) and W(P)."""
    path, task = paths(x, started(x, key)), target(x)
    weights = path.source[-1]

    def loss(activations):
        values = dot(path.signs, activations) / jnp.sqrt(x.width)
        return squared_error(values - task.labels, NORMALISATION)

    values = [outputs(path.source[k], path.signs, task.inputs) for k in (0, -1)]
    gradient = jax.grad(loss)(jnp.maximum(dot(weights, task.inputs.T), 0))
    return {"gradient": gradient, "signs": path.signs, "start": values[0], "end": values[1]}


def _outer(r, factor):
    residual = r.sim["end"] - r.x.target_labels
    return factor * r.sim["signs"][:, :, None] * residual[:, None] / jnp.sqrt(r.x.width)


def _square(vectors):
    return jnp.sum(jnp.square(vectors), axis=-1)


def _expanded(r, factor):
    before, change = r.sim["start"] - r.x.target_labels, r.sim["end"] - r.sim["start"]
    return _square(before) + _square(change) + factor * jnp.sum(change * before, axis=-1)


def _claims(factor: float) -> tuple:
    return (
        equal("Eq. 16", lambda r: r.sim["gradient"], lambda r: _outer(r, factor)),
        equal(
            "Eq. 17: the squared norm",
            lambda r: jnp.sum(jnp.square(r.sim["gradient"]), axis=(1, 2)),
            lambda r: _expanded(r, 2 * factor),
        ),
    )


theorem = Theorem(
    space=problem_space(**SIZES, kappa=KAPPA, rate_share=Real(0.05, 0.95)),
    simulate=simulate,
    claims=_claims(1.0),
    aliases=("eq-16", "eq-17"),
    mutants=(Mutant("half of it", claims=_claims(0.5)),),
)
