"""The errors of finite width in Theorems 1 and 2 and in Eq. 9 fall at least as m^(-1/4).

Liu et al. (2019), Eq. 4 (activation gradient), Eq. 5 and 48 (weight distance), Eq. 9 (the part eps
of the pretrained weights outside of Z_P(0) H_P^(-1) y_P) and Eq. 46 (m^(-1/2), of H_PQ^T -
Z_Q(0)^T Z_P(0)). Real networks are silent at first (pairs of opposite signs), so that the errors
of order kappa vanish, and both stages run to their end.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Real, Size, Theorem, scales_as
from theorysim.numerics.products import dot
from theorysim.systems import two_layer_relu as relu
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    HYPOTHESES,
    NORMALISATION,
    cross_gram,
    form,
    mismatch,
    problem_space,
    smallest,
    solve,
    source,
    source_gram,
    stable_rates,
    target,
    target_gram,
)

WIDTHS = (256, 1024, 4096)

# A stage has ended once what is left of its slowest mode is e^-6.
ENOUGH = 6


def simulate(x: Instance, key):
    """What both theorems measure, and the error terms of the pretrained weights."""
    network, (first, second) = training.silent(x, key), stable_rates(x)
    ready = relu.train_to(network, source(x), first, x.source_steps, normalisation=NORMALISATION)
    tuned = relu.train_to(ready, target(x), second, x.target_steps, normalisation=NORMALISATION)
    coefficients = solve(source_gram(x), x.source_labels)
    lead = dot(training.features(network.weights, network.signs, source(x).inputs), coefficients)
    cross = relu.empirical_gram(network, source(x).inputs, network, target(x).inputs)
    return {
        "gradient": jnp.linalg.norm(relu.outputs(ready, target(x).inputs) - x.target_labels),
        "distance": jnp.linalg.norm(tuned.weights - ready.weights),
        "eps": jnp.linalg.norm(training.vec(ready.weights - network.weights) - lead),
        "cross": jnp.linalg.norm(dot((cross - cross_gram(x)).T, coefficients)),
    }


def _predict(share: float):
    def predict(x: Instance):
        return {
            "gradient": share * jnp.linalg.norm(mismatch(x)),
            "distance": share * jnp.sqrt(form(target_gram(x), mismatch(x))),
            "eps": 1 - share,
            "cross": 1 - share,
        }

    return predict


def _rate(name: str, what: str, exponent: float, power: int = 1):
    """The error of a power of what is measured, averaged over keys in the square."""

    def error(r):
        return jnp.sqrt(jnp.mean(jnp.square(r.sim[what] ** power - r.theory[what] ** power)))

    return scales_as(name, error, over={"width": WIDTHS}, exponent=exponent, relation="at_most")


def _ended(x: Instance):
    first, second = stable_rates(x)
    slowest = jnp.minimum(first * smallest(source_gram(x)), second * smallest(target_gram(x)))
    return jnp.minimum(x.source_steps, x.target_steps) * slowest / ENOUGH - 1


def _wide(x: Instance):
    """On every rung the empirical Gram matrices are near those of infinite width."""
    eigenvalue = jnp.minimum(smallest(source_gram(x)), smallest(target_gram(x)))
    samples = max(x.p, x.q)
    return WIDTHS[0] / ((samples / eigenvalue) ** 2 * jnp.log(2 * samples)) - 1


theorem = Theorem(
    space=problem_space(
        p=Size(2, high=64),
        q=Size(2, high=64),
        width=Size(256, low=2, high=65536),
        source_steps=Size(64, high=100_000),
        target_steps=Size(64, high=100_000),
        kappa=Real(1, 10, log=True),
        rate_share=Real(0.3, 0.9),
    ),
    hypotheses={
        **HYPOTHESES,
        "both stages have ended": _ended,
        "m >= (n / lambda)^2 log(2 n)": _wide,
    },
    simulate=simulate,
    predict=_predict(1.0),
    claims=(
        _rate("Theorem 1: squared gradient", "gradient", -1 / 4, 2),
        _rate("Theorem 2: distance", "distance", -1 / 4),
        _rate("Eq. 48: squared distance", "distance", -1 / 4, 2),
        _rate("Eq. 9: eps", "eps", -1 / 4),
        _rate("Eq. 46", "cross", -1 / 2),
    ),
    aliases=("eq-46",),
    mutants=(Mutant("half of the mismatch", predict=_predict(0.5)),),
    keys=16,
    instances=8,
    mutant_instances=8,
)
