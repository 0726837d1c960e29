"""Fine-tuning follows the linear recursion of infinite width, up to two errors per step.

Eq. 37 to 41 of Liu et al. (2019). u(k+1) - u(k) = -eta H_Q(k) (u(k) - y) + eps_3(k) =
-eta H_Q (u(k) - y) + eps_3(k) + zeta(k) with H_Q of infinite width. Eq. 40 sums the errors with
(I - eta H)^k for each; the t-th of them has the power t. Eq. 39 bounds zeta by H_Q(0) - H_Q(k),
but it contains H_Q - H_Q(k). transferability/eq-37 bounds eps_3, transferability/eq-44 has the
series that Eq. 41 and 44 sum the errors with, and transferability/eq-36-48 the orders.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.descent import iterate
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._generic import LABELLED


class Observed(NamedTuple):
    """Outputs and H_Q(k) along fine-tuning, and H_Q(0) of the random start."""

    outputs: Float[Array, "times q"]
    gram: Float[Array, "times q q"]
    first_gram: Float[Array, "q q"]


def simulate(x: claims.Instance, key) -> Observed:
    path, inputs = training.paths(x, training.started(x, key)), problem.target(x).inputs

    def gram(weights):
        z = training.features(weights, path.signs, inputs)
        return jnp.einsum("mi,mj->ij", z, z, precision=problem.HIGHEST)

    outputs = training.outputs(path.target, path.signs, inputs)
    return Observed(outputs, jax.vmap(gram)(path.target), gram(path.source[0]))


def _residual(r):
    return r.sim.outputs - r.x.target_labels


def _rate(r):
    return problem.stable_rates(r.x)[1]


def _times(matrices, vectors):
    return jnp.einsum("...ij,...j->...i", matrices, vectors, precision=problem.HIGHEST)


def _errors(r):
    """zeta(k) + eps_3(k), from Eq. 38."""
    linear = _times(problem.target_gram(r.x), _residual(r)[:-1])
    return jnp.diff(r.sim.outputs, axis=0) + _rate(r) * linear


def _zeta(r):
    return -_rate(r) * _times(r.sim.gram - problem.target_gram(r.x), _residual(r))[:-1]


def _summed(power_of):
    """(I - eta H)^k (u(P) - y) + sum_t (I - eta H)^power error(k - 1 - t) for k = 0, 1, ..."""

    def side(r):
        errors = _errors(r)
        steps = len(errors)
        shrink = jnp.eye(r.x.q) - _rate(r) * problem.target_gram(r.x)

        def carried_on(power):
            return jnp.matmul(power, shrink, precision=problem.HIGHEST)

        powers = iterate(carried_on, jnp.eye(r.x.q), steps)
        k, t = jnp.arange(steps + 1)[:, None], jnp.arange(steps)[None]
        chosen = jnp.where((t < k)[..., None, None], powers[power_of(k, t)], 0)
        past = errors[jnp.maximum(k - 1 - t, 0)]
        carried = jnp.einsum("ktij,ktj->ki", chosen, past, precision=problem.HIGHEST)
        return _times(powers, _residual(r)[0]) + carried

    return side


def _product(reference):
    """eta ||H - H_Q(k)||_F ||u_Q(k) - y_Q||."""

    def bound(r):
        change = jnp.linalg.norm(reference(r) - r.sim.gram, axis=(-2, -1))
        return _rate(r) * (change * jnp.linalg.norm(_residual(r), axis=-1))[:-1]

    return bound


eq_40 = claims.equal("Eq. 40: u(k) - y", _residual, _summed(lambda k, t: t + 0 * k))
one_more = eq_40.against(_summed(lambda k, t: t + 1 + 0 * k))
eq_39 = claims.at_most(
    "Eq. 39: |zeta|",
    lambda r: jnp.linalg.norm(_zeta(r), axis=-1),
    _product(lambda r: problem.target_gram(r.x)),
)

theorem = claims.Theorem(
    space=training.training_space(),
    assumes=(problem.REGULAR,),
    hypotheses=LABELLED,
    simulate=simulate,
    claims=(
        eq_40.against(_summed(lambda k, t: k + 0 * t)),
        eq_39.against(_product(lambda r: r.sim.first_gram)),
    ),
    source=claims.Printed(
        "Appendix C.2, Eq. 37 to 41",
        "... + sum_t (I - eta H_Q)^k (zeta(k-1-t) + eps_3(k-1-t)); "
        "||zeta(k)|| <= eta ||H_Q(0) - H_Q(k)||_F ||u_Q(k) - y_Q||",
    ),
    note="an error of t steps ago has decayed t times; zeta holds H_Q, not H_Q(0)",
    aliases=("eq-38", "eq-39", "eq-40", "eq-41"),
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected(
                "(I - eta H_Q)^t in Eq. 40; H_Q of infinite width for H_Q(0) in Eq. 39"
            ),
            claims=(eq_40, eq_39),
            hypotheses={},
            primary=True,
            note="the recursion of Eq. 38, solved",
        ),
    ),
    mutants=(
        claims.Mutant("one power more", claims=(one_more,)),
        claims.Mutant("half of the product", claims=(eq_39.scaled(1 / 2),)),
    ),
    instances=32,
    mutant_instances=32,
)
