"""From some stage on, longer pre-training raises the loss under Gaussian noise.

Theorem 4.4 of Springer et al. (2025) and its formal version, Theorem A.3. Main text: for some
gamma there is r < d such that L~(n) increases for n >= r; at the ideal states, as the main text
abbreviates. Appendix: under Assumption A.2 and gamma^2 > pre_d / d there is s < d such that L~
increases at every n > s; checked where least is claimed, s = d - 1, at factors within exp(-C tau)
of the ideal ones (Theorem A.1). The displays of the proof are readings of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.claims import (
    Corrected,
    Gaussian,
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Run,
    Size,
    Theorem,
    at_least,
    at_most,
    strict,
)
from theorysim.theorems.overtraining import _perturbation as noise
from theorysim.theorems.overtraining._finetuning import pre_spectrum
from theorysim.theorems.overtraining.assumption_a_2 import corrected_radius, printed_radius

# gamma^2 in units of scale / d, from far below to far above the features.
NOISES = (0.01, 0.1, 1.0, 10.0, 100.0)


class Gains(NamedTuple):
    """Increments of L~ at n = 2, ..., d, real and ideal, and gains over the ideal n = 1, ..., d."""

    rises: Float[Array, " d-1"]
    ideal_rises: Float[Array, " d-1"]
    gains: Float[Array, " d"]


def _ideal_states(x: Instance):
    """The ideal factors at n = 1, ..., d, stacked along the leading axis."""
    return jax.vmap(lambda n: noise.at_stage(x, n))(jnp.arange(1, x.d + 1))


def _gains(x: Instance, states, moves):
    """What L~ gains by moves from stacked states."""
    return jax.vmap(lambda state, move: noise.perturbed_loss_rise(x, state, move))(states, moves)


def _rises(x: Instance, states):
    """Increments of L~ along stacked states."""
    before = jax.tree.map(lambda w: w[:-1], states)
    return _gains(x, before, jax.tree.map(lambda w: jnp.diff(w, axis=0), states))


def _simulate(radius: Callable) -> Callable:
    """At a share of the radius from the ideal states."""

    def simulate(x: Instance, key) -> Gains:
        e = x.share * radius(x)
        ideal = _ideal_states(x)
        ball = jax.vmap(lambda w, way, aligned: noise.move_in_ball(w, e, way, aligned))
        moves = ball(ideal[0], x.first, x.aligned), ball(ideal[1], x.second, x.aligned)
        return Gains(
            rises=_rises(x, noise.move_by(ideal, moves)),
            ideal_rises=_rises(x, ideal),
            gains=_gains(x, ideal, moves),
        )

    return simulate


def _simulate_noises(x: Instance, key) -> Float[Array, "noises d-1"]:
    """Increments of L~ at the ideal states for every strength of noise."""
    ideal = _ideal_states(x)

    def rises(strength):
        return _rises(x.replace(noise=strength.astype(x.noise.dtype)), ideal)

    return jax.vmap(rises)(jnp.array(NOISES) * x.pre[0])


def _best_noise(r: Run):
    """The least increment at n > r under the noise that makes it largest; r = 1 suffices."""
    return jnp.max(jnp.min(r.sim, axis=-1))


def _worst_noise(r: Run):
    return jnp.min(r.sim)


def _squares(r: Run):
    return pre_spectrum(r.x)[1:] ** 2


def _displays(first_index: Callable) -> tuple:
    """The choice of s and P1 to P4, which are displayed for n > s."""

    def s(x: Instance):
        above = noise.variance(x) > pre_spectrum(x) / x.d
        return first_index(jnp.argmax(above) + 1)

    def always(name, left, right):
        later = lambda r: jnp.arange(2, r.x.d + 1) - s(r.x) - 1  # noqa: E731
        return at_least(name, left, right, strict=True, where=later)

    return (
        at_most("the choice of s: s <= d - 1", lambda r: s(r.x), lambda r: r.x.d - 1),
        always("P1: ideal increments", lambda r: r.sim.ideal_rises, _squares),
        always("P2: state n", lambda r: r.sim.gains[1:], lambda r: -_squares(r) / 2),
        always("P3: state n - 1", lambda r: -r.sim.gains[:-1], lambda r: -_squares(r) / 2),
        always("P4: increments", lambda r: r.sim.rises, lambda r: 0.0),
    )


def _last_increment(place: int = -1):
    return at_least("the last increment", lambda r: r.sim.rises[place], lambda r: 0.0, strict=True)


def _some_noise(increment: Callable):
    return at_least("increments", increment, lambda r: 0.0, strict=True)


theorem = Theorem(
    space=noise.perturbation_space(
        d=Size(3, low=2, high=32),
        first=Gaussian("d", "d", "d"),
        second=Gaussian("d", "d", "d"),
        aligned=Real(-1, 1, shape="d"),
        share=Real(0, 1),
    ),
    hypotheses={
        "gamma^2 > pre_d / d": strict(lambda x: noise.variance(x) - pre_spectrum(x)[-1] / x.d)
    },
    simulate=_simulate(printed_radius),
    claims=(_last_increment(),),
    source=Printed(
        "Theorem A.3", "if gamma^2 > pre_d / d, there is s < d such that L~ increases for n > s"
    ),
    printed="appendix",
    note="exp(-C tau) is a share of what Assumption A.2 admits",
    readings=(
        Reading(
            "main text",
            Printed(
                "Theorem 4.4",
                "for some gamma > 0 there is r < d with L~ increasing for n >= r",
            ),
            simulate=_simulate_noises,
            hypotheses={
                "pre-training features in order": strict(
                    lambda x: jnp.min(-jnp.diff(pre_spectrum(x)), initial=jnp.inf)
                )
            },
            claims=(_some_noise(_best_noise),),
        ),
        Reading(
            "proof displays",
            Printed(
                "proof of Theorem A.3", "s the least index with gamma^2 > pre_s / d, s <= d - 1"
            ),
            claims=_displays(lambda index: index),
            note="s may be d, and Lemma A.6, on which P2 and P3 rest, fails",
        ),
        Reading(
            "proof displays, corrected",
            Corrected("s is one less than that index, and exp(-C tau) as in the corrected A.2"),
            simulate=_simulate(corrected_radius),
            claims=_displays(lambda index: index - 1),
            note="with s one less, and starts as small as the corrected Lemma A.6 asks",
        ),
    ),
    mutants=(
        Mutant("the increment before the last", claims=(_last_increment(place=0),)),
        Mutant("for every gamma", of=("main text",), claims=(_some_noise(_worst_noise),)),
    ),
    aliases=("theorem-a.3",),
)
