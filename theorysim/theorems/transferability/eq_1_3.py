"""The Gram matrices of wide ReLU networks have a closed form in the angles of the inputs.

Eq. 1 to 3 of Liu et al. (2019): H_ij = E_w <x_i, x_j> 1{<w, x_i> >= 0, <w, x_j> >= 0} is
<x_i, x_j> (pi - arccos <x_i, x_j>) / (2 pi), for two source inputs, two target inputs and one of
each. The expectation is sampled; entries of which fewer than ten samples are active, counted and
expected, are left out: a mean of none has no error that could be measured.
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability._training import active

DRAWS, KEYS = 256, 64
LEAST = 10
"""samples that an average is made of"""


def _each_pair(x: claims.Instance, gram) -> tuple:
    """Some function of the inputs of the rows and of the columns: for H_P, H_Q and H_PQ."""
    p, q = problem.source(x).inputs, problem.target(x).inputs
    return gram(p, p), gram(q, q), gram(p, q)


def simulate(x: claims.Instance, key) -> tuple:
    """Averages over some normal w per key."""
    w = jax.random.normal(key, (DRAWS, x.d))
    return _each_pair(x, lambda a, b: dot(a, b.T) * dot(active(w, a).T, active(w, b)) / DRAWS)


def predict(x: claims.Instance) -> tuple:
    """The closed form, with the angle taken so that near inputs lose no digits."""
    return problem.source_gram(x), problem.target_gram(x), problem.cross_gram(x)


def twice_the_angle(x: claims.Instance) -> tuple:
    inner = _each_pair(x, lambda a, b: dot(a, b.T))
    return tuple(2 * gram - one / 2 for gram, one in zip(predict(x), inner, strict=True))


def _averages(name: str, entry: int):
    def enough(r):
        counted = jnp.mean(r.sim[entry], axis=0)
        largest = jnp.maximum(jnp.abs(counted), jnp.abs(r.theory[entry]))
        inner = _each_pair(r.x, lambda a, b: dot(a, b.T))[entry]
        return largest * DRAWS * KEYS - LEAST * jnp.abs(inner)

    return claims.equal(
        name, lambda r: r.mean(r.sim[entry]), lambda r: r.theory[entry], where=enough
    )


theorem = claims.Theorem(
    space=problem.problem_space(),
    simulate=simulate,
    predict=predict,
    claims=(_averages("Eq. 1: H_P", 0), _averages("Eq. 2: H_Q", 1), _averages("Eq. 3: H_PQ", 2)),
    source=claims.Printed(
        "Section 6.1, Eq. 1 to 3", "H_ij = x_i^T x_j (pi - arccos(x_i^T x_j)) / (2 pi)"
    ),
    aliases=("eq-1", "eq-2", "eq-3"),
    mutants=(claims.Mutant("twice the angle", predict=twice_the_angle),),
    keys=KEYS,
    instances=16,
    mutant_instances=16,
)
