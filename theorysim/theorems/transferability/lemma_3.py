"""The cross Gram matrix of a pretrained network is near that of infinite width, in wide networks.

Lemma 3 (Eq. 11) of Liu et al. (2019), under the conditions of Lemma 1: with probability 1 - delta,
||H_PQ(P) - H_PQ||_F = O(n_P^2 n_Q / (sqrt(m) lambda_P kappa delta^(3/2))). The bound vanishes with
1 / kappa; the deviation of H_PQ(0) from its mean does not know kappa (Eq. 15). Eq. 12
to 14 bound what training changes; some indices in print are i for j. R is Lemma 1's, c = 4.
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
from theorysim.systems import two_layer_relu as relu
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    HYPOTHESES,
    NORMALISATION,
    cross_gram,
    problem_space,
    smallest,
    source,
    source_gram,
    stable_rates,
    target,
)

LARGE_SCALES = (1.0, 10.0, 100.0, 1000.0)


def simulate(x: Instance, key):
    """Cross Gram matrices before and after pretraining, patterns, and the radius R of Lemma 1."""
    network, task = training.started(x, key), source(x)
    tuned = relu.train_to(
        network, task, stable_rates(x)[0], x.source_steps, normalisation=NORMALISATION
    )
    start = jnp.linalg.norm(task.labels - relu.outputs(network, task.inputs))
    seen = relu.observe(tuned, network, target(x), NORMALISATION)
    inputs = target(x).inputs

    def gram(now):
        return relu.empirical_gram(network, task.inputs, now, inputs)

    return {
        "before": gram(network),
        "after": gram(tuned),
        "source": training.active(network.weights, task.inputs),
        "target before": training.active(network.weights, inputs),
        "target after": training.active(tuned.weights, inputs),
        "flips": seen.flips / x.width,
        "radius": 4 * jnp.sqrt(x.p) * start / (jnp.sqrt(x.width) * smallest(source_gram(x))),
    }


def _norm(matrices):
    return jnp.linalg.norm(matrices, axis=(-2, -1))


def _total(r):
    return _norm(r.sim["after"] - cross_gram(r.x))


def _order(r):
    rest = jnp.sqrt(r.x.width) * smallest(source_gram(r.x)) * r.x.failure**1.5
    return r.x.p**2 * r.x.q / (rest * r.x.kappa)


def _sampling(r):
    """Eq. 15, corrected."""
    log = jnp.log(2 * r.x.p * r.x.q / r.x.failure)
    return r.x.p * r.x.q * jnp.sqrt(log / (2 * r.x.width))


def _lemma(scale):
    return exists_constant(
        "|H_PQ(P) - H_PQ|_F",
        lambda r: jnp.quantile(_total(r), 1 - r.x.failure),
        scale,
        over={"kappa": LARGE_SCALES, "failure": (0.5, 0.25, 0.125)},
    )


def _chance(r):
    """2 R / (sqrt(2 pi) kappa) + delta / m."""
    return 2 * r.sim["radius"] / (jnp.sqrt(2 * jnp.pi) * r.x.kappa) + r.x.failure / r.x.width


def _change(r):
    return jnp.abs(r.sim["after"] - r.sim["before"])


def _displayed(r, last: str):
    """|<x_i, x_j> / m sum_r (I_ri(0) I_rj(P) - I_ri(0) `last`)|."""
    first = jnp.swapaxes(r.sim["source"], 1, 2)
    both = dot(first, r.sim["target after"])
    old = dot(first, r.sim["target before"])
    if last == "I_ri(0)":
        own = jnp.sum(r.sim["source"] * r.sim["target before"], axis=1)[:, :, None]
        old = jnp.broadcast_to(own, both.shape)
    inner = dot(source(r.x).inputs, target(r.x).inputs.T)
    return jnp.abs(inner * (both - old)) / r.x.width


def _displays(last: str, transposed: bool, share: float) -> tuple:
    """Eq. 12 to 14; the chance of a flip is that of input i or (`transposed`: no) j."""

    def flips(r):
        return r.sim["flips"][:, None, :] if transposed else r.sim["flips"][:, :, None]

    return (
        equal(
            "Eq. 12: the change",
            lambda r: share * _change(r),
            lambda r: _displayed(r, last),
        ),
        at_most("Eq. 12: at most the flips", _change, lambda r: share * flips(r)),
        at_most(
            "Eq. 13: on average",
            lambda r: r.mean(_change(r)),
            lambda r: share * r.mean(_chance(r)),
        ),
        with_probability(
            "Eq. 14: |H_PQ(P) - H_PQ(0)|_F",
            lambda r: _norm(_change(r)),
            lambda r: share * r.x.p * r.x.q / r.x.failure * _chance(r),
            at_least=lambda r: 1 - r.x.failure,
        ),
    )


theorem = Theorem(
    space=problem_space(
        width=Size(128, high=65536),
        source_steps=Size(32, high=100_000),
        kappa=Real(0.1, 1000, log=True),
        failure=Real(0.05, 0.5, log=True),
        rate_share=Real(0.05, 0.95),
    ),
    hypotheses=HYPOTHESES,
    simulate=simulate,
    claims=(_lemma(_order),),
    aliases=("eq-11", "eq-12", "eq-13", "eq-14"),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            claims=(_lemma(lambda r: (1 + r.x.kappa) * _order(r) + _sampling(r)),),
            primary=True,
            note="plus n_P n_Q sqrt(log(2 n_P n_Q / delta) / (2 m)), which no scale makes small",
        ),
        Reading(
            "Eq. 12 to 14 as printed",
            Printed("", ""),
            claims=_displays("I_ri(0)", False, 1.0),
            note="the indicators of the target are those of input j throughout",
        ),
        Reading("Eq. 12 to 14, corrected", Corrected(""), claims=_displays("I_rj(0)", True, 1.0)),
    ),
    mutants=(
        Mutant(
            "a thousandth, and decaying faster",
            claims=(
                _lemma(lambda r: _order(r) / r.x.kappa),
                *_displays("I_ri(0)", True, 0.001),
            ),
        ),
    ),
    keys=128,
    instances=16,
    mutant_instances=16,
)
