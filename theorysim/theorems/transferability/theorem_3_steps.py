"""The steps by which Theorem 3 is proved, along real fine-tuning.

Proof of Theorem 3 of Liu et al. (2019). S_i are the units with |<w_r(0), x_i>| > R, I_1 and I_2 the
parts of u(k+1) - u(k) that come from S_i and from the rest, r(k) = y_Q - u_Q(k). Where no unit has
moved by R, ||r(k+1)||^2 = ||r||^2 - 2 eta r^T H r + 2 eta r^T H_perp r - 2 r^T I_2 + ||u(k+1) -
u(k)||^2. H_perp is defined with a factor (u_j - y_j) in its entries, which the vectors beside it
supply already.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Corrected, Instance, Mutant, Reading, Real, Theorem, at_most, equal
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    HIGHEST,
    HYPOTHESES,
    problem_space,
    stable_rates,
    target,
)


def simulate(x: Instance, key):
    """Everything that one step of fine-tuning sums, for every step."""
    path = training.paths(x, training.started(x, key))
    inputs, first = target(x).inputs, path.source[0]
    values = jnp.matmul(path.target, inputs.T, precision=HIGHEST)
    moved = jnp.linalg.norm(path.target - first, axis=-1)
    radius = x.radius_share * jnp.max(moved)
    near = (jnp.abs(dot(first, inputs.T)) <= radius).astype(float)
    signs = path.signs[:, None] / jnp.sqrt(x.width)
    steps = signs * jnp.diff(jnp.maximum(values, 0), axis=0)
    pattern = training.active(path.target[:-1], inputs)
    residual = x.target_labels - training.outputs(path.target, path.signs, inputs)
    inner = dot(inputs, inputs.T) / x.width

    def gram(units):
        """<x_i, x_j> / m times the number of `units` of input i that both inputs turn on."""
        chosen = units * pattern
        return inner * jnp.einsum("tri,trj->tij", chosen, pattern, precision=HIGHEST)

    slopes = jnp.einsum("tri,ti,id->trd", pattern, residual[:-1], inputs, precision=HIGHEST)
    return {
        "residual": residual,
        "I_1": jnp.sum((1 - near) * steps, axis=1),
        "I_2": jnp.sum(near * steps, axis=1),
        "near": jnp.sum(near, axis=0),
        "H": gram(jnp.ones_like(near)),
        "H_perp": gram(near),
        "slopes": jnp.sum(jnp.linalg.norm(slopes, axis=-1), axis=-1) / jnp.sqrt(x.width),
        "room": radius - jnp.max(moved),
    }


def _rate(r):
    return stable_rates(r.x)[1]


def _before(r):
    return r.sim["residual"][:, :-1]


def _norm(vectors):
    return jnp.linalg.norm(vectors, axis=-1)


def _times(matrices, vectors):
    return jnp.einsum("ktij,ktj->kti", matrices, vectors, precision=HIGHEST)


def _change(r):
    """u(k+1) - u(k)."""
    return -jnp.diff(r.sim["residual"], axis=1)


def _within(*axes: int):
    """Claims that need every unit within R of its start."""
    return lambda r: jnp.expand_dims(r.sim["room"], axes)


def _inner(one, other):
    return jnp.sum(one * other, axis=-1)


def _expansion(literal: bool, share: float):
    def side(r):
        before, perp = _before(r), r.sim["H_perp"]
        if literal:
            perp = perp * -before[:, :, None, :]
        return (
            _norm(before) ** 2
            - 2 * _rate(r) * _inner(before, _times(r.sim["H"], before))
            + 2 * share * _rate(r) * _inner(before, _times(perp, before))
            - 2 * _inner(before, r.sim["I_2"])
            + _norm(_change(r)) ** 2
        )

    return side


def _claims(literal: bool, share: float) -> tuple:
    return (
        equal(
            "T1: u(k+1) - u(k) = I_1 + I_2",
            _change,
            lambda r: r.sim["I_1"] + share * r.sim["I_2"],
        ),
        at_most(
            "T2: |I_2|",
            lambda r: jnp.abs(r.sim["I_2"]),
            lambda r: (
                share
                * (_rate(r) * jnp.sqrt(r.x.q) / r.x.width)
                * r.sim["near"][:, None]
                * _norm(_before(r))[:, :, None]
            ),
        ),
        equal(
            "T4: I_1 by the Gram matrices",
            lambda r: r.sim["I_1"],
            lambda r: _rate(r) * _times(r.sim["H"] - share * r.sim["H_perp"], _before(r)),
            where=_within(1, 2),
        ),
        at_most(
            "T5: the same over the rest",
            lambda r: jnp.abs(_rate(r) * _times(r.sim["H_perp"], _before(r))),
            lambda r: (
                share
                * (_rate(r) * jnp.sqrt(r.x.q) / r.x.width)
                * r.sim["near"][:, None]
                * _norm(_before(r))[:, :, None]
            ),
        ),
        at_most(
            "T7: by the gradients",
            lambda r: _norm(_change(r)) ** 2,
            lambda r: share * _rate(r) ** 2 * r.x.q * r.sim["slopes"] ** 2 / r.x.width,
        ),
        at_most(
            "T7: by the residual",
            lambda r: r.x.q * r.sim["slopes"] ** 2 / r.x.width,
            lambda r: share * r.x.q**2 * _norm(_before(r)) ** 2,
        ),
        equal(
            "T8: the residual after a step",
            lambda r: _norm(r.sim["residual"][:, 1:]) ** 2,
            _expansion(literal, share),
            where=_within(1),
        ),
    )


theorem = Theorem(
    space=problem_space(
        **training.SIZES,
        kappa=training.KAPPA,
        rate_share=Real(0.05, 0.95),
        radius_share=Real(0.5, 4, log=True),
    ),
    hypotheses=HYPOTHESES,
    simulate=simulate,
    claims=_claims(True, 1.0),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            claims=_claims(False, 1.0),
            primary=True,
            note="H_perp without (u_j - y_j) in its entries",
        ),
    ),
    mutants=(Mutant("a hundredth of every part", claims=_claims(False, 0.01)),),
    instances=32,
    mutant_instances=32,
)
