"""For all signs there are features that rank-one fine-tuning makes orthonormal.

Claim 2 of Dayi and Chen (2024): for d > 1 + k(k+1)/2 there are unit w_i and u orthogonal to them
with <w_i + c_i u, w_j + c_j u> = 0 for i != j, that is <w_i, w_j> = -c_i c_j. Constructed as in the
proof: 1/sqrt(k) on a coordinate of one's own and one coordinate per pair, k(k+1)/2 in all. u is on
a coordinate that is left, the last one here; the proof, which may number coordinates as it likes
("WLOG"), calls it the p-th, p = k(k+1)/2.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims

# Section 3.5, k = 4: rows of +-1/2 in 11 dimensions.
EXAMPLE = np.array(
    [
        [1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0],
        [1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0],
        [0, -1, 0, 1, 0, 1, 0, 0, 1, 0, 0],
        [0, 0, 1, 0, -1, 1, 0, 0, 0, 1, 0],
    ]
)


def features(
    signs: Float[Array, " k"], *, spare: int = 1, flip: float = 1.0, own: float = 1.0
) -> Float[Array, "k d"]:
    """Unit rows in d = k(k+1)/2 + spare dimensions with <w_i, w_j> = -c_i c_j, c = signs/sqrt(k).

    Row i has 1/sqrt(k) on coordinate i and, on the coordinate of every pair {i, j} with i < j,
    c_i; row j has -c_j there. `flip` and `own` are 1, but in mutants.
    """
    k = signs.shape[0]
    first, second = np.triu_indices(k, 1)
    pairs = np.arange(len(first))
    shared = jnp.zeros((k, len(first)))
    shared = shared.at[first, pairs].set(signs[first]).at[second, pairs].set(-flip * signs[second])
    return jnp.concatenate([own * jnp.eye(k), shared, jnp.zeros((k, spare))], axis=1) / jnp.sqrt(k)


def _outcome(rows: Array, c: Array, last: int = -1) -> tuple[Array, Array, Array]:
    """|w_i|, <w_i, u> and the cosines between the w_i + c_i u, for the coordinate vector u."""
    u = jnp.zeros(rows.shape[1]).at[last].set(1.0)
    moved = rows + jnp.outer(c, u)
    lengths = jnp.linalg.norm(moved, axis=1)
    cosines = moved @ moved.T / jnp.outer(lengths, lengths)
    return jnp.linalg.norm(rows, axis=1), rows @ u, cosines


def _simulate(last: int = -1, **construction):
    def simulate(x: claims.Instance, key):
        signs = jnp.where(x.signs >= 0, 1.0, -1.0)
        return _outcome(features(signs, **construction), signs / jnp.sqrt(x.k), last)

    return simulate


def _example(coefficient):
    """The rows of the example, c_i = coefficient^i for i = 1..4, over its last number."""
    return lambda x, key: _outcome(jnp.asarray(EXAMPLE) / 2, coefficient(jnp.arange(1, 5)))


FOUR = {"k = 4": lambda x: -jnp.abs(x.k - 4.0)}

theorem = claims.Theorem(
    space=claims.Space(k=claims.Size(4, low=2, high=40), signs=claims.Real(-1, 1, shape="k")),
    simulate=_simulate(spare=2),
    claims=(
        claims.equal("unit features", lambda r: r.sim[0], lambda r: 1.0),
        claims.equal("u is orthogonal to them", lambda r: 1 + r.sim[1], lambda r: 1.0),
        claims.equal(
            "orthonormal neurons",
            lambda r: 1 + r.sim[2],
            lambda r: 1 + jnp.eye(r.sim[2].shape[0]),
        ),
    ),
    source=claims.Printed(
        "Claim 2, Section 3.5", "for d > 1 + k(k+1)/2 there exist unit norm weights"
    ),
    readings=(
        claims.Reading(
            "the example",
            claims.Printed("Section 3.5, before Claim 2", "k = 4, c_i = (-1/2)^i"),
            simulate=_example(lambda i: (-0.5) ** i),
            hypotheses=FOUR,
            note="powers of 1/2 are not in {+-1/2}; the rows are those of c_i = (-1)^i / 2",
        ),
        claims.Reading(
            "the example, corrected",
            claims.Corrected("c_i = (-1)^i / 2 for (-1/2)^i"),
            simulate=_example(lambda i: (-1.0) ** i / 2),
            hypotheses=FOUR,
            note="with c_i = (-1)^i / 2 the printed rows become orthonormal",
        ),
        claims.Reading(
            "d = 1 + k(k+1)/2",
            claims.Finding("the least dimension of the construction"),
            simulate=_simulate(),
            note="the construction needs no dimension beyond 1 + k(k+1)/2",
        ),
    ),
    mutants=(
        claims.Mutant("no coordinate of one's own", simulate=_simulate(spare=2, own=0.0)),
        claims.Mutant("u on the coordinate of a pair", simulate=_simulate(last=-3, spare=2)),
        claims.Mutant("<w_i, w_j> = +c_i c_j", simulate=_simulate(spare=2, flip=-1.0)),
    ),
)
