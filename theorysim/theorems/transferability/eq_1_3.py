"""The Gram matrices of wide ReLU networks have a closed form in the angles of the inputs.

Eq. 1 to 3 of Liu et al. (2019): H_ij = E_w <x_i, x_j> 1{<w, x_i> >= 0, <w, x_j> >= 0} is
<x_i, x_j> (pi - arccos <x_i, x_j>) / (2 pi), for two source inputs, two target inputs and one of
each. The expectation is sampled; entries of which fewer than ten samples are active, counted and
expected, are left out: a mean of none has no error that could be measured.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Theorem, equal
from theorysim.numerics.kernels import tangent_gram
from theorysim.numerics.products import dot
from theorysim.theorems.transferability._problem import problem_space, source, target
from theorysim.theorems.transferability._training import active

DRAWS, KEYS = 256, 64
LEAST = 10
"""samples that an average is made of"""


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


def _averages(name: str, entry: str):
    def enough(r):
        counted = jnp.mean(r.sim[entry], axis=0)
        largest = jnp.maximum(jnp.abs(counted), jnp.abs(r.theory[entry]))
        a, b = _pairs(r.x)[entry]
        return largest * DRAWS * KEYS - LEAST * jnp.abs(dot(a, b.T))

    return equal(name, lambda r: r.mean(r.sim[entry]), lambda r: r.theory[entry], where=enough)


theorem = Theorem(
    space=problem_space(),
    simulate=simulate,
    predict=predict,
    claims=(
        _averages("Eq. 1: H_P", "H_P"),
        _averages("Eq. 2: H_Q", "H_Q"),
        _averages("Eq. 3: H_PQ", "H_PQ"),
    ),
    aliases=("eq-1", "eq-2", "eq-3"),
    mutants=(Mutant("twice the angle", predict=twice_the_angle),),
    keys=KEYS,
    instances=16,
    mutant_instances=16,
)
