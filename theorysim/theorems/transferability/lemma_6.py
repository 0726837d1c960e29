"""Features and Gram matrix of the target hardly change during fine-tuning of wide networks.

Lemma 6 of Liu et al. (2019), with probability 1 - delta: ||Z_Q(0) - Z_Q(k)||_F = O(m^(-1/4)) and
||H_Q(0) - H_Q(k)||_F = O(m^(-1/2)), at the printed powers of the width. ||Z_Q(0) - Z_Q(k)||_F^2 is
the share of units per input whose pattern has flipped. Real networks are silent at first.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Real, Size, Theorem, equal, scales_as
from theorysim.systems import two_layer_relu as relu
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    HYPOTHESES,
    NORMALISATION,
    problem_space,
    source,
    stable_rates,
    target,
)

WIDTHS = (256, 1024, 4096)


def simulate(x: Instance, key):
    """Changes of Z_Q and H_Q over both stages, and the flips."""
    network, rates = training.silent(x, key), stable_rates(x)
    ready = relu.train_to(network, source(x), rates[0], x.source_steps, normalisation=NORMALISATION)
    now = relu.train_to(ready, target(x), rates[1], x.target_steps, normalisation=NORMALISATION)
    inputs = target(x).inputs
    grams = [relu.empirical_gram(n, inputs, n, inputs) for n in (network, now)]
    z = [training.features(n.weights, n.signs, inputs) for n in (network, now)]
    return {
        "features": jnp.linalg.norm(z[1] - z[0]),
        "gram": jnp.linalg.norm(grams[1] - grams[0]),
        "flips": jnp.sum(relu.observe(now, network, target(x), NORMALISATION).flips) / x.width,
    }


def _rate(what: str, exponent: float):
    return scales_as(
        what,
        lambda r: jnp.sqrt(jnp.mean(jnp.square(r.sim[what]))),
        over={"width": WIDTHS},
        exponent=exponent,
        relation="at_most",
    )


def _identity(factor: float):
    return equal(
        "|Z_Q(0) - Z_Q(k)|^2 is the share of flips",
        lambda r: r.sim["features"] ** 2,
        lambda r: factor * r.sim["flips"],
    )


theorem = Theorem(
    space=problem_space(
        width=Size(256, low=2, high=65536),
        source_steps=Size(24, high=100_000),
        target_steps=Size(24, high=100_000),
        kappa=Real(0.3, 10, log=True),
        rate_share=Real(0.3, 0.9),
    ),
    hypotheses=HYPOTHESES,
    simulate=simulate,
    claims=(_rate("features", -1 / 4), _rate("gram", -1 / 2), _identity(1.0)),
    mutants=(
        Mutant(
            "the square of the rates",
            claims=(_rate("features", -1.0), _rate("gram", -2.0), _identity(0.5)),
        ),
    ),
    keys=16,
    instances=8,
    mutant_instances=8,
)
