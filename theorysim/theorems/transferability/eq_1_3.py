"""The Gram matrices of wide ReLU networks have a closed form in the angles of the inputs.

Eq. 1 to 3 of Liu et al. (2019): H_ij = E_w <x_i, x_j> 1{<w, x_i> >= 0, <w, x_j> >= 0} is
<x_i, x_j> (pi - arccos <x_i, x_j>) / (2 pi), for two source inputs, two target inputs and one of
each. The expectation is sampled.
"""

from __future__ import annotations

import jax

from theorysim.claims import Instance, Reading, Theorem, equal
from theorysim.numerics.kernels import tangent_gram
from theorysim.theorems.transferability._problem import dot, problem_space, source, target
from theorysim.theorems.transferability._training import active

DRAWS = 256


def _pairs(x: Instance):
    p, q = source(x).inputs, target(x).inputs
    return {"H_P": (p, p), "H_Q": (q, q), "H_PQ": (p, q)}


def simulate(x: Instance, key):
    """Averages over some normal w per key."""
    w = jax.random.normal(key, (DRAWS, x.d))
    return {
        name: dot(a, b.T) * dot(active(w, a).T, active(w, b)) / DRAWS
        for name, (a, b) in _pairs(x).items()
    }


def predict(x: Instance):
    """The closed form, with the angle taken so that near inputs lose no digits."""
    return {name: tangent_gram(a, b) for name, (a, b) in _pairs(x).items()}


def twice_the_angle(x: Instance):
    return {name: 2 * tangent_gram(a, b) - dot(a, b.T) / 2 for name, (a, b) in _pairs(x).items()}


theorem = Theorem(
    space=problem_space(),
    simulate=simulate,
    predict=predict,
    claims=(
        equal("Eq. 1: H_P", lambda r: r.mean(r.sim["H_P"]), lambda r: r.theory["H_P"]),
        equal("Eq. 2: H_Q", lambda r: r.mean(r.sim["H_Q"]), lambda r: r.theory["H_Q"]),
        equal("Eq. 3: H_PQ", lambda r: r.mean(r.sim["H_PQ"]), lambda r: r.theory["H_PQ"]),
    ),
    aliases=("eq-1", "eq-2", "eq-3"),
    wrong=Reading("twice the angle", predict=twice_the_angle),
    keys=64,
    instances=16,
    teeth=16,
)
