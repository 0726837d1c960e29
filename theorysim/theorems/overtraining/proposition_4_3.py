"""Learning one more feature changes the loss under Gaussian noise by at least its printed price.

Proposition 4.3 of Springer et al. (2025), Eq. 2, and its formal version, Lemma A.4, Eq. 14:
L~(n) - L~(n - 1) >= (2 d gamma^2 - pre_n) pre_n at the ideal states, which the main text takes for
brevity, n > 1, with equality in the proof. Further readings take the states of the flow at the
stage times, from a start sqrt(pre_1) exp(-tau) in every mode.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _perturbation as noise
from theorysim.theorems.overtraining import _stages as stages
from theorysim.theorems.overtraining._finetuning import factors, pre_spectrum
from theorysim.theorems.overtraining.assumption_a_2 import CORRECTED

DRAWS = 64  # per key


def increments(x: claims.Instance, modes):
    """L~(n) - L~(n - 1) in closed form; `modes` of the stages 1, ..., d."""
    return noise.rises(x, jax.vmap(lambda w: factors(x, w))(modes))


class Increments(NamedTuple):
    """L~(n) - L~(n - 1) for n = 2, ..., d: real states, ideal ones, and a mean over draws."""

    real: Float[Array, "keys d-1"]
    ideal: Float[Array, "keys d-1"]
    sampled: Float[Array, "keys d-1"]


def simulate(x: claims.Instance, key) -> Increments:
    alpha, beta = jnp.sqrt(noise.variance(x)) * jax.random.normal(key, (2, DRAWS, x.d, x.d))
    ideal = stages.ideal_modes(pre_spectrum(x))[1:]

    def sampled(modes):
        return jnp.mean(noise.sampled_perturbed_loss(x, factors(x, modes), alpha, beta))

    return Increments(
        real=increments(x, stages.real_modes(pre_spectrum(x), x.tau)[1:]),
        ideal=increments(x, ideal),
        sampled=jnp.diff(jax.vmap(sampled)(ideal)),
    )


def _predict(layers: float) -> Callable:
    """The right side of Eq. 14 for n = 2, ..., d; `layers` = 2 is printed."""

    def predict(x: claims.Instance):
        pre = pre_spectrum(x)[1:]
        return (layers * x.d * noise.variance(x) - pre) * pre

    return predict


EQ_2 = claims.at_least("Eq. 2", lambda r: r.sim.ideal, lambda r: r.theory)


def _at_real_states(spared: float):
    """Eq. 2 at the states of the flow, less `spared` times the square of the least feature."""
    return claims.at_least(
        "Eq. 2", lambda r: r.sim.real, lambda r: r.theory - spared * pre_spectrum(r.x)[-1] ** 2
    )


theorem = claims.Theorem(
    space=noise.flow_space(),
    simulate=simulate,
    predict=_predict(2.0),
    keys=128,
    claims=(EQ_2,),
    source=claims.Printed(
        "Proposition 4.3, Eq. 2", "L~(t_n) - L~(t_{n-1}) >= (2 d gamma^2 - sigma_n) sigma_n"
    ),
    printed="main text",
    readings=(
        claims.Reading(
            "appendix",
            claims.Printed(
                "Lemma A.4, Eq. 14", "... = 2 d gamma^2 pre_n - pre_n^2 at the ideal states"
            ),
            claims=(
                claims.at_least("Eq. 14", lambda r: r.sim.ideal, lambda r: r.theory),
                claims.equal("its proof", lambda r: r.mean(r.sim.sampled), lambda r: r.theory),
                claims.equal("its proof, moments", lambda r: r.sim.ideal, lambda r: r.theory),
            ),
            primary=True,
            note="at the ideal states, with equality",
        ),
        claims.Reading(
            "states of the flow",
            claims.Finding("Eq. 2 at the states of the flow in place of the ideal ones"),
            claims=(_at_real_states(spared=0),),
            note="states of the flow may miss the bound by O(exp(-C tau))",
        ),
        claims.Reading(
            "states of the flow, with room",
            claims.Finding("Eq. 2 at the states of the flow, less pre_d^2, under a corrected A.2"),
            assumes=(CORRECTED,),
            claims=(_at_real_states(spared=1),),
            note="Lemma A.6, corrected, allows pre_d^2 / 2 for each of the two states",
        ),
    ),
    mutants=(
        claims.Mutant("four layers of noise", of=("main text", "appendix"), predict=_predict(4.0)),
        claims.Mutant(
            "a hundredth less noise",
            of=("appendix",),
            predict=_predict(1.98),
            breaks=("its proof, moments",),
        ),
    ),
    aliases=("lemma-a.4",),
)
