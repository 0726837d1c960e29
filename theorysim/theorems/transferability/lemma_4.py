"""Over both stages no unit moves far from its random start.

Lemma 4 (Eq. 36) and Corollary 1 of Liu et al. (2019): with probability 1 - delta, for all r and k,
||w_(Q,r)(k) - w_r(0)|| <= 4 sqrt(n_P) ||y_P - u_P(0)|| / (sqrt(m) lambda_P) + 4 sqrt(n_Q)
||y_Q - u_Q(P)|| / (sqrt(m) lambda_Q). The proof's first display is printed as an equality of a
length and a sum of lengths, its third has u_Q(k') for u_Q(P) under a geometric sum, its last
equality bounds that sum; and y_Q - u_Q(0) is called O(kappa sqrt(n_Q / delta)), which is u_Q(0).
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Size,
    Theorem,
    at_most,
    equal,
    exists_constant,
    with_probability,
)
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    HYPOTHESES,
    problem_space,
    smallest,
    source,
    source_gram,
    stable_rates,
    target,
    target_gram,
)

# Units are exchangeable: the displays of the proof are looked at on so many.
UNITS = 8


def _rates(x: Instance):
    """The learning rate of Theorem 3, O(lambda_Q / n_Q^2), for fine-tuning."""
    return stable_rates(x)[0], x.rate_share * smallest(target_gram(x)) / x.q**2


def simulate(x: Instance, key):
    """Largest movement, residuals, and of some units the movements and gradients in fine-tuning."""
    path = training.paths(x, training.started(x, key), _rates(x))
    inputs = target(x).inputs
    residual = training.outputs(path.target, path.signs, inputs) - x.target_labels
    some = path.target[:, :UNITS]
    slopes = dot(training.active(some, inputs) * residual[:, None], inputs)
    first, signs = path.source[0], path.signs
    return {
        "over both": jnp.max(jnp.linalg.norm(path.target - first, axis=-1), axis=-1),
        "fine-tuning": jnp.linalg.norm(jnp.cumsum(slopes, axis=0), axis=-1) / jnp.sqrt(x.width),
        "gradients": jnp.linalg.norm(slopes, axis=-1) / jnp.sqrt(x.width),
        "residuals": jnp.linalg.norm(residual, axis=-1),
        "source residual": jnp.linalg.norm(
            x.source_labels - training.outputs(first, signs, source(x).inputs)
        ),
        "first outputs": training.outputs(first, signs, inputs),
    }


def _parts(r):
    """The two terms of the bound."""
    root, rest = jnp.sqrt(r.x.width), r.sim["residuals"][:, 0]
    first = 4 * jnp.sqrt(r.x.p) * r.sim["source residual"] / (root * smallest(source_gram(r.x)))
    return first, 4 * jnp.sqrt(r.x.q) * rest / (root * smallest(target_gram(r.x)))


def _lemma(factor: float):
    return with_probability(
        "Eq. 36",
        lambda r: r.sim["over both"],
        lambda r: factor * jnp.add(*_parts(r))[:, None],
        at_least=lambda r: 1 - r.x.failure,
    )


def _distance(r):
    """||w_r(k) - w_r(P)|| for k = 1, 2, ..., summed before it is rounded to the weights' size."""
    return _rates(r.x)[1] * r.sim["fine-tuning"]


def _travelled(r):
    """eta sum of the gradients' lengths over k' < k, for k = 1, 2, ..."""
    return _rates(r.x)[1] * jnp.cumsum(r.sim["gradients"], axis=1)


def _lengths(r):
    """eta sqrt(n_Q / m) ||y_Q - u_Q(k')||."""
    return _rates(r.x)[1] * jnp.sqrt(r.x.q / r.x.width) * r.sim["residuals"]


def _third(r):
    k = jnp.arange(r.sim["residuals"].shape[1])
    shrink = (1 - _rates(r.x)[1] * smallest(target_gram(r.x)) / 2) ** (k / 2)
    return shrink * _lengths(r)


def _geometric(r):
    """The third display's sum with u_Q(P) in it."""
    shrink = jnp.sqrt(1 - _rates(r.x)[1] * smallest(target_gram(r.x)) / 2)
    return _lengths(r)[:, 0] / (1 - shrink)


def _order(vectors):
    return exists_constant(
        "(v) of order kappa sqrt(n_Q / delta)",
        lambda r: jnp.quantile(jnp.linalg.norm(vectors(r), axis=1), 1 - r.x.failure),
        lambda r: r.x.kappa * jnp.sqrt(r.x.q / r.x.failure),
        over={"kappa": (0.1, 0.01, 1e-3, 1e-4)},
    )


def _displays(relation, bound, vectors) -> tuple:
    return (
        relation("(i) the distance and the sum of steps", _distance, _travelled),
        at_most(
            "(ii) gradients",
            lambda r: r.sim["gradients"],
            lambda r: (_lengths(r) / _rates(r.x)[1])[:, :, None],
        ),
        at_most(
            "(iii) sums of lengths",
            lambda r: jnp.cumsum(_lengths(r), axis=1)[:, 1:],
            lambda r: bound(r)[:, 1:],
        ),
        relation("(iv) the geometric sum", _geometric, lambda r: _parts(r)[1]),
        _order(vectors),
    )


def _literal(r):
    return jnp.cumsum(_third(r), axis=1)


def _meant(r):
    return _geometric(r)[:, None] + 0 * _lengths(r)


def _start(r):
    return r.sim["first outputs"]


theorem = Theorem(
    space=problem_space(
        p=Size(2, high=64),
        q=Size(2, high=64),
        width=Size(128, high=65536),
        source_steps=Size(12, high=100_000),
        target_steps=Size(24, high=100_000),
        kappa=Real(1e-4, 10, log=True),
        rate_share=Real(0.05, 0.95),
        failure=Real(0.15, 0.5, log=True),
    ),
    hypotheses=HYPOTHESES,
    simulate=simulate,
    claims=(_lemma(1.0),),
    aliases=("corollary-1", "eq-36"),
    readings=(
        Reading(
            "displays as printed",
            Printed("", ""),
            claims=_displays(equal, _literal, lambda r: r.x.target_labels - _start(r)),
        ),
        Reading(
            "displays, corrected",
            Corrected(""),
            claims=_displays(at_most, _meant, _start),
            note="lengths add up to at most their sum, u_Q(P) in (iii), u_Q(0) alone in (v)",
        ),
    ),
    mutants=(
        Mutant(
            "a hundredth of the bound",
            claims=(
                _lemma(0.01),
                equal(
                    "(i) the distance and the sum of steps", _travelled, lambda r: 2 * _travelled(r)
                ),
                equal("(iv) the geometric sum", _geometric, lambda r: 2 * _geometric(r)),
            ),
        ),
    ),
    keys=64,
    instances=16,
    mutant_instances=16,
)
