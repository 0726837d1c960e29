"""The steps by which Theorem 3 is proved, along real fine-tuning.

Proof of Theorem 3 of Liu et al. (2019). S_i are the units with |<w_r(0), x_i>| > R, I_1 and I_2 the
parts of u(k+1) - u(k) that come from S_i and from the rest, r(k) = y_Q - u_Q(k). Where no unit has
moved by R, ||r(k+1)||^2 = ||r||^2 - 2 eta r^T H r + 2 eta r^T H_perp r - 2 r^T I_2 + ||u(k+1) -
u(k)||^2. H_perp is defined with a factor (u_j - y_j) in its entries, which the vectors beside it
supply already. R is any radius here, below and above the largest movement R'; whether the printed
choice of R is above it is transferability/theorem-3-choices. transferability/theorem-3-gradients
bounds the last term.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._generic import LABELLED
from theorysim.theorems.transferability._steps import before, changed, simulate, times


def _square(vectors):
    return jnp.sum(jnp.square(vectors), axis=-1)


def _few(units):
    """eta |units| sqrt(n_Q) ||r|| / m."""

    def bound(r):
        share = problem.stable_rates(r.x)[1] * jnp.sqrt(r.x.q) / r.x.width
        return share * units(r) * jnp.sqrt(_square(before(r)))[:, None]

    return bound


def _by_gram(factor: float):
    return lambda r: (
        problem.stable_rates(r.x)[1] * times(r.sim.gram - factor * r.sim.perp, before(r))
    )


def _expansion(literal: bool = False, factor: float = 2.0):
    """The right side of T8; a factor of the term in H_perp."""

    def side(r):
        now = before(r)
        perp = r.sim.perp * (-now[:, None, :] if literal else 1)
        return (
            _square(now)
            - 2 * problem.stable_rates(r.x)[1] * jnp.sum(now * times(r.sim.gram, now), axis=-1)
            + factor * problem.stable_rates(r.x)[1] * jnp.sum(now * times(perp, now), axis=-1)
            - 2 * jnp.sum(now * r.sim.i_2, axis=-1)
            + _square(changed(r))
        )

    return side


t1 = claims.equal("T1: u(k+1) - u(k) = I_1 + I_2", changed, lambda r: r.sim.i_1 + r.sim.i_2)
t2 = claims.at_most("T2: |I_2|", lambda r: jnp.abs(r.sim.i_2), _few(lambda r: r.sim.near))
t4 = claims.equal(
    "T4: I_1 by the Gram matrices", lambda r: r.sim.i_1, _by_gram(1.0), where=lambda r: r.sim.room
)
t5 = claims.at_most(
    "T5: the same over the rest",
    lambda r: jnp.abs(problem.stable_rates(r.x)[1] * times(r.sim.perp, before(r))),
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
    hypotheses=LABELLED,
    simulate=simulate,
    claims=(t1, t2, t4, t5, t8.against(_expansion(literal=True))),
    source=claims.Printed(
        "proof of Theorem 3",
        "denote by H_Q(k)^perp the matrix whose i,j entry is (1/m) x_i^T x_j (u_j - y_j) sum_(r in "
        "S_bar_i) I{...}; ||y_Q - u_Q(k+1)||^2 = ... + 2 eta (y_Q - u_Q(k))^T H_Q(k)^perp (y_Q - "
        "u_Q(k)) - 2 (y_Q - u_Q(k))^T I_2 + ||u_Q(k+1) - u_Q(k)||^2",
    ),
    note="the entries of H_perp have a factor (u_j - y_j) too many",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("H_perp without (u_j - y_j) in its entries"),
            claims=(t1, t2, t4, t5, t8),
            hypotheses={},
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
