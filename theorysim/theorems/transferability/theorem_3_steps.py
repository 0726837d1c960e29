"""The steps by which Theorem 3 is proved, along real fine-tuning.

Proof of Theorem 3 of Liu et al. (2019). S_i are the units with |<w_r(0), x_i>| > R, I_1 and I_2 the
parts of u(k+1) - u(k) that come from S_i and from the rest, r(k) = y_Q - u_Q(k). Where no unit has
moved by R, ||r(k+1)||^2 = ||r||^2 - 2 eta r^T H r + 2 eta r^T H_perp r - 2 r^T I_2 + ||u(k+1) -
u(k)||^2. H_perp is defined with a factor (u_j - y_j) in its entries, which the vectors beside it
supply already. transferability/theorem-3-gradients bounds the last term.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training


class Steps(NamedTuple):
    """Of every step of fine-tuning; `near` counts the units that are not in S_i."""

    residual: Float[Array, "times_plus_1 q"]
    i_1: Float[Array, "times q"]
    i_2: Float[Array, "times q"]
    near: Float[Array, " q"]
    gram: Float[Array, "times q q"]
    perp: Float[Array, "times q q"]
    room: Float[Array, ""]
    """R minus the largest movement: where it is above 0, patterns change within `near` only"""


def simulate(x: claims.Instance, key) -> Steps:
    path = training.paths(x, training.started(x, key))
    inputs, first = problem.target(x).inputs, path.source[0]
    values = jnp.matmul(path.target, inputs.T, precision=problem.HIGHEST)
    moved = jnp.linalg.norm(path.target - first, axis=-1)
    radius = x.radius_share * jnp.max(moved)
    near = (jnp.abs(dot(first, inputs.T)) <= radius).astype(float)
    steps = path.signs[:, None] * jnp.diff(jnp.maximum(values, 0), axis=0) / jnp.sqrt(x.width)
    pattern = training.active(path.target[:-1], inputs)
    residual = x.target_labels - training.outputs(path.target, path.signs, inputs)

    def gram(units):
        both = jnp.einsum("tri,trj->tij", units * pattern, pattern, precision=problem.HIGHEST)
        return dot(inputs, inputs.T) / x.width * both

    return Steps(
        residual=residual,
        i_1=jnp.sum((1 - near) * steps, axis=1),
        i_2=jnp.sum(near * steps, axis=1),
        near=jnp.sum(near, axis=0),
        gram=gram(jnp.ones_like(near)),
        perp=gram(near),
        room=radius - jnp.max(moved),
    )


def _before(r):
    return r.sim.residual[:-1]


def _square(vectors):
    return jnp.sum(jnp.square(vectors), axis=-1)


def _times(matrices, vectors):
    return jnp.einsum("tij,tj->ti", matrices, vectors, precision=problem.HIGHEST)


def _change(r):
    return -jnp.diff(r.sim.residual, axis=0)


def _few(units):
    """eta |units| sqrt(n_Q) ||r|| / m."""

    def bound(r):
        share = problem.stable_rates(r.x)[1] * jnp.sqrt(r.x.q) / r.x.width
        return share * units(r) * jnp.sqrt(_square(_before(r)))[:, None]

    return bound


def _by_gram(factor: float):
    return lambda r: (
        problem.stable_rates(r.x)[1] * _times(r.sim.gram - factor * r.sim.perp, _before(r))
    )


def _expansion(literal: bool = False, factor: float = 2.0):
    """The right side of T8; a factor of the term in H_perp."""

    def side(r):
        before = _before(r)
        perp = r.sim.perp * (-before[:, None, :] if literal else 1)
        return (
            _square(before)
            - 2
            * problem.stable_rates(r.x)[1]
            * jnp.sum(before * _times(r.sim.gram, before), axis=-1)
            + factor
            * problem.stable_rates(r.x)[1]
            * jnp.sum(before * _times(perp, before), axis=-1)
            - 2 * jnp.sum(before * r.sim.i_2, axis=-1)
            + _square(_change(r))
        )

    return side


t1 = claims.equal("T1: u(k+1) - u(k) = I_1 + I_2", _change, lambda r: r.sim.i_1 + r.sim.i_2)
t2 = claims.at_most("T2: |I_2|", lambda r: jnp.abs(r.sim.i_2), _few(lambda r: r.sim.near))
t4 = claims.equal(
    "T4: I_1 by the Gram matrices", lambda r: r.sim.i_1, _by_gram(1.0), where=lambda r: r.sim.room
)
t5 = claims.at_most(
    "T5: the same over the rest",
    lambda r: jnp.abs(problem.stable_rates(r.x)[1] * _times(r.sim.perp, _before(r))),
    t2.rhs,
)
t8 = claims.equal(
    "T8: the residual after a step",
    lambda r: _square(r.sim.residual[1:]),
    _expansion(),
    where=lambda r: r.sim.room,
)

theorem = claims.Theorem(
    space=training.training_space(radius_share=claims.Real(0.5, 4, log=True)),
    assumes=(problem.REGULAR,),
    simulate=simulate,
    claims=(t1, t2, t4, t5, t8.against(_expansion(literal=True))),
    source=claims.Printed(
        "proof of Theorem 3",
        "||y_Q - u_Q(k+1)||^2 = ||y_Q - u_Q(k)||^2 - ... + ||u_Q(k+1) - u_Q(k)||^2, where "
        "|I_2^i| <= eta |S_bar_i| sqrt(n_Q) ||u_Q(k) - y_Q|| / m",
    ),
    note="the entries of H_perp have a factor (u_j - y_j) too many",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("H_perp without (u_j - y_j) in its entries"),
            claims=(t1, t2, t4, t5, t8),
            primary=True,
            note="the vectors beside H_perp supply the residual already",
        ),
    ),
    mutants=(
        claims.Mutant("without I_2", claims=(t1.against(lambda r: r.sim.i_1),)),
        claims.Mutant(
            "S_i for its complement",
            claims=tuple(t.against(_few(lambda r: r.x.width - r.sim.near)) for t in (t2, t5)),
        ),
        claims.Mutant(
            "without H_perp", claims=(t4.against(_by_gram(0.0)), t8.against(_expansion(factor=0.0)))
        ),
    ),
    instances=32,
    mutant_instances=32,
)
