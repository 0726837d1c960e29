"""Fine-tuning follows the linear recursion of infinite width, up to two errors per step.

Eq. 37 to 41 of Liu et al. (2019). u(k+1) - u(k) = -eta H_Q(k) (u(k) - y) + eps_3(k) =
-eta H_Q (u(k) - y) + eps_3(k) + zeta(k) with H_Q of infinite width. Eq. 40 sums the errors with
(I - eta H)^k for each; the t-th of them has the power t. Eq. 39 bounds zeta by H_Q(0) - H_Q(k),
but it contains H_Q - H_Q(k). Eq. 41 and 44: k (1 - s)^(k-1) is at most 1 / s, its sum 1 / s^2,
with s = eta lambda_Q / 4.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import Corrected, Instance, Mutant, Reading, Real, Theorem, at_most, equal
from theorysim.numerics.descent import iterate
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    HYPOTHESES,
    problem_space,
    smallest,
    stable_rates,
    target,
    target_gram,
)


def simulate(x: Instance, key):
    """Outputs and empirical Gram matrices along fine-tuning, and at the random start."""
    path, inputs = training.paths(x, training.started(x, key)), target(x).inputs

    def gram(weights):
        z = training.features(weights, path.signs, inputs)
        return dot(z.T, z)

    return {
        "outputs": training.outputs(path.target, path.signs, inputs),
        "gram": jax.vmap(gram)(path.target),
        "first gram": gram(path.source[0]),
    }


def _residual(r):
    return r.sim["outputs"] - r.x.target_labels


def _times(matrices, vectors):
    return jnp.einsum("...ij,...j->...i", matrices, vectors, precision="highest")


def _errors(r):
    """zeta(k) + eps_3(k), from Eq. 38."""
    linear = _times(target_gram(r.x), _residual(r)[:, :-1])
    return jnp.diff(r.sim["outputs"], axis=1) + stable_rates(r.x)[1] * linear


def _zeta(r):
    step = _times(r.sim["gram"] - target_gram(r.x), _residual(r))
    return -stable_rates(r.x)[1] * step[:, :-1]


def _summed(power_of):
    """(I - eta H)^k (u(P) - y) + sum_t (I - eta H)^power error(k - 1 - t) for k = 0, 1, ..."""

    def side(r):
        errors = _errors(r)
        steps = errors.shape[1]
        shrink = jnp.eye(r.x.q) - stable_rates(r.x)[1] * target_gram(r.x)
        powers = iterate(lambda power: dot(power, shrink), jnp.eye(r.x.q), steps)
        k, t = jnp.arange(steps + 1)[:, None], jnp.arange(steps)[None]
        chosen = jnp.where((t < k)[..., None, None], powers[power_of(k, t)], 0)
        past = errors[:, jnp.maximum(k - 1 - t, 0)]
        carried = jnp.einsum("ktij,sktj->ski", chosen, past, precision="highest")
        return _times(powers, _residual(r)[:, :1]) + carried

    return side


def _eq_39(reference):
    def bound(r):
        change = jnp.linalg.norm(reference(r) - r.sim["gram"], axis=(-2, -1))
        sizes = jnp.linalg.norm(_residual(r), axis=-1)
        return stable_rates(r.x)[1] * (change * sizes)[:, :-1]

    return at_most("Eq. 39: |zeta|", lambda r: jnp.linalg.norm(_zeta(r), axis=-1), bound)


def _share(r):
    return stable_rates(r.x)[1] * smallest(target_gram(r.x)) / 4


def _decaying(r):
    k = jnp.arange(1, 400)
    return k * (1 - _share(r)) ** (k - 1)


def _series(constant: float) -> tuple:
    return (
        at_most(
            "Eq. 41: max of k (1 - s)^(k-1)", _decaying, lambda r: constant / _share(r), strict=True
        ),
        at_most(
            "Eq. 44: sum of k (1 - s)^(k-1)",
            lambda r: jnp.cumsum(_decaying(r)),
            lambda r: (constant / _share(r)) ** 2,
        ),
    )


def _eq_40(power_of):
    return equal("Eq. 40: u(k) - y", _residual, _summed(power_of))


def _start(r):
    return r.sim["first gram"][:, None]


theorem = Theorem(
    space=problem_space(**training.SIZES, kappa=training.KAPPA, rate_share=Real(0.05, 0.95)),
    hypotheses=HYPOTHESES,
    simulate=simulate,
    claims=(_eq_40(lambda k, t: k + 0 * t), _eq_39(_start), *_series(1.0)),
    aliases=("eq-37", "eq-38", "eq-39", "eq-40", "eq-41", "eq-44"),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            claims=(
                _eq_40(lambda k, t: t + 0 * k),
                _eq_39(lambda r: target_gram(r.x)),
                *_series(1.0),
            ),
            primary=True,
            note="(I - eta H)^t in Eq. 40; H_Q for H_Q(0) in Eq. 39",
        ),
    ),
    mutants=(
        Mutant(
            "one power less, a hundredth of the bounds",
            claims=(
                _eq_40(lambda k, t: jnp.maximum(t - 1, 0) + 0 * k),
                _eq_39(lambda r: 0.01 * target_gram(r.x) + 0.99 * r.sim["gram"]),
                *_series(0.1),
            ),
        ),
    ),
    instances=32,
    mutant_instances=32,
)
