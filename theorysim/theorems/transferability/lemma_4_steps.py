"""The steps by which Lemma 4 is proved, along real fine-tuning.

Proof of Lemma 4 of Liu et al. (2019), with eta = O(lambda_Q / n_Q^2): (i) a distance after k steps
is printed as equal to a sum of lengths over k' = 0, ..., k, one step more than were taken (nor is
it equal to the sum of those that were, where steps turn); (iii) has u_Q(k') for u_Q(P) under a
geometric sum without end, (iv) calls that sum equal to a bound. It goes by induction: (iii), and
(iv) as printed, are of runs that meet Condition 1. What is left of the sum without end after the
last step is at most that of residuals that stay, so that the printed sum is not underestimated: in
such runs it is below the right side of (iv) even so.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._generic import LABELLED

# Units are exchangeable: the displays of the proof are looked at on so many.
UNITS = 8


class Observed(NamedTuple):
    """At every step of fine-tuning."""

    residual: Float[Array, " times"]
    """||y_Q - u_Q(k)||"""
    slopes: Float[Array, "times r d"]
    """dL/dw_r of some units"""


def simulate(x: claims.Instance, key) -> Observed:
    ready, task = training.pretrained(x, training.started(x, key)), problem.target(x)

    def record(now):
        residual = training.outputs(now.weights, now.signs, task.inputs) - task.labels
        some = training.active(now.weights[:UNITS], task.inputs) * residual
        slopes = jnp.einsum("ri,id->rd", some, task.inputs, precision="highest")
        signs = now.signs[:UNITS, None]
        return Observed(jnp.linalg.norm(residual), signs * slopes / jnp.sqrt(x.width))

    return training.fine_tuning(x, ready, record, rate=training.theorem_3_rate(x))


def _distance(r):
    """||w_r(k) - w_r(P)|| for k = 1, 2, ..., summed before it is rounded to the weights' size."""
    steps = jnp.cumsum(r.sim.slopes[:-1], axis=0)
    return training.theorem_3_rate(r.x) * jnp.linalg.norm(steps, axis=-1)


def _gradients(r):
    """||dL/dw_r||."""
    return jnp.linalg.norm(r.sim.slopes, axis=-1)


def _summed(r):
    """eta sum of the gradients' lengths over k' <= k, for k = 0, 1, ..."""
    return training.theorem_3_rate(r.x) * jnp.cumsum(_gradients(r), axis=0)


def _travelled(r):
    """eta sum of the gradients' lengths over k' < k, for k = 1, 2, ..."""
    return _summed(r)[:-1]


def _one_step_more(r):
    """eta sum of the gradients' lengths over k' <= k, for k = 1, 2, ..."""
    return _summed(r)[1:]


def _lengths(r):
    """eta sqrt(n_Q / m) ||y_Q - u_Q(k')||."""
    return training.theorem_3_rate(r.x) * jnp.sqrt(r.x.q / r.x.width) * r.sim.residual


def _shrink(r):
    """(1 - eta lambda_Q / 2)^(1/2)."""
    return jnp.sqrt(1 - training.theorem_3_rate(r.x) * problem.lambda_q(r.x) / 2)


def _condition_1(r):
    """||y_Q - u_Q(k)|| <= (1 - eta lambda_Q / 2)^(k/2) ||y_Q - u_Q(P)|| at every step."""
    k = jnp.arange(len(r.sim.residual))
    return jnp.min(_shrink(r) ** k * r.sim.residual[0] - r.sim.residual)


def _literal(r):
    """The third display's sum without end, with u_Q(k') in it."""
    shrink, lengths = _shrink(r), _lengths(r)
    k = jnp.arange(len(lengths))
    rest = shrink ** len(lengths) / (1 - shrink) * lengths[-1]
    return jnp.sum(shrink**k * lengths) + rest


def _geometric(r):
    """The third display's sum with u_Q(P) in it."""
    return _lengths(r)[0] / (1 - _shrink(r))


def _term(r):
    """4 sqrt(n_Q) ||y_Q - u_Q(P)|| / (sqrt(m) lambda_Q)."""
    return training.target_reach(r.x, r.sim.residual[0])


def _per_step(r):
    return _lengths(r)[:, None] / training.theorem_3_rate(r.x)


def _total(r):
    return jnp.sum(_lengths(r))


FIRST, FOURTH = "(i) the distance and the sum of steps", "(iv) the geometric sum"
ALIKE = "(i) as an equality, without the step too many"
first = claims.at_most(FIRST, _distance, _travelled)
second = claims.at_most("(ii) gradients", _gradients, _per_step)
third = claims.at_most("(iii) sums of lengths", _total, _geometric, where=_condition_1)
fourth = claims.at_most(FOURTH, _geometric, _term)
printed = (
    claims.equal(FIRST, _distance, _one_step_more),
    claims.equal(ALIKE, _distance, _travelled),
    second,
    third.against(_literal),
    claims.equal(FOURTH, _literal, _term, where=_condition_1),
)
without_root = second.against(lambda r: _per_step(r) / jnp.sqrt(r.x.q))

theorem = claims.Theorem(
    space=training.lemma_4_space(600),
    assumes=(problem.REGULAR,),
    hypotheses=LABELLED,
    simulate=simulate,
    claims=printed,
    printed="displays as printed",
    source=claims.Printed(
        "proof of Lemma 4",
        "||w_(Q,r)(k) - w_r(P)|| = eta sum_(k' = 0)^k ||dL/dw_r|| <= eta sum_(k' = 0)^k sqrt(n_Q "
        "/ m) ||y_Q - u_Q(k')|| <= eta sum_(k' = 0)^inf sqrt(n_Q / m) (1 - eta lambda_Q / "
        "2)^(k'/2) ||y_Q - u_Q(k')|| = 4 sqrt(n_Q) ||y_Q - u_Q(P)|| / (sqrt(m) lambda_Q)",
    ),
    note="bounds are printed as equalities, the sum of (i) has a step too many, and the decay of "
    "the residuals is counted twice",
    readings=(
        claims.Reading(
            "displays, corrected",
            claims.Corrected(
                "<= for = in (i) and (iv), k' < k in (i), u_Q(P) for u_Q(k') in (iii) and (iv)"
            ),
            claims=(first, second, third, fourth),
            hypotheses={},
            primary=True,
            note="lengths add up to at most their sum, and Theorem 3 bounds each of them",
        ),
    ),
    mutants=(
        claims.Mutant("reversed", claims=(first.reversed(),)),
        claims.Mutant("without sqrt(n_Q)", claims=(without_root,)),
        claims.Mutant("u_Q(k') for u_Q(P), as printed", claims=(third.against(_literal),)),
        claims.Mutant("2 for 4", claims=(fourth.scaled(1 / 2),)),
    ),
    instances=32,
    mutant_instances=32,
)
