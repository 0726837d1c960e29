"""The cross Gram matrix of an untrained network deviates by 1 / sqrt(m) from infinite width.

Eq. 15 of Liu et al. (2019), "by Hoeffding's inequality": with probability 1 - delta,
||H_PQ - H_PQ(0)||_F <= n_P n_Q log(2 n_P n_Q / delta) / (2 m). Hoeffding's inequality has the
square root of the logarithm over 2 m.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Instance,
    Mutant,
    Reading,
    Real,
    Size,
    Theorem,
    with_probability,
)
from theorysim.systems.two_layer_relu import empirical_gram
from theorysim.theorems.transferability._problem import cross_gram, problem_space, source, target
from theorysim.theorems.transferability._training import KAPPA, started


def simulate(x: Instance, key):
    """The deviation."""
    network = started(x, key)
    gram = empirical_gram(network, source(x).inputs, network, target(x).inputs)
    return jnp.linalg.norm(gram - cross_gram(x))


def _claims(power: float) -> tuple:
    def bound(r):
        pairs = r.x.p * r.x.q
        return pairs * (jnp.log(2 * pairs / r.x.failure) / (2 * r.x.width)) ** power

    return (
        with_probability(
            "|H_PQ - H_PQ(0)|_F", lambda r: r.sim, bound, at_least=lambda r: 1 - r.x.failure
        ),
    )


theorem = Theorem(
    space=problem_space(
        p=Size(2, high=64),
        q=Size(2, high=64),
        width=Size(4096, high=65536),
        kappa=KAPPA,
        failure=Real(0.05, 0.5, log=True),
    ),
    simulate=simulate,
    claims=_claims(1.0),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            claims=_claims(0.5),
            primary=True,
            note="n_P n_Q sqrt(log(2 n_P n_Q / delta) / (2 m)): the square root is lost in print",
        ),
    ),
    mutants=(Mutant("the square of the printed bound", claims=_claims(2.0)),),
    keys=128,
    instances=16,
    mutant_instances=16,
)
