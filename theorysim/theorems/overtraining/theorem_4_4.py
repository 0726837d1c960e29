"""From some stage on, longer pre-training raises the loss under Gaussian noise.

Theorem 4.4 of Springer et al. (2025) and its formal version, Theorem A.3. Main text: for some
gamma there is r < d such that L~(n) increases for n >= r; at the ideal states, as the main text
abbreviates. Appendix: under Assumption A.2 and gamma^2 > pre_d / d there is s < d such that L~
increases at every n > s; checked where least is claimed, s = d - 1, at factors within exp(-C tau)
of the ideal ones (Theorem A.1). The displays of the proof are readings of their own.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

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
)
from theorysim.theorems.overtraining._finetuning import pre_spectrum
from theorysim.theorems.overtraining._perturbation import (
    at_stage,
    corrected_radius,
    move_by,
    move_in_ball,
    perturbation_space,
    perturbed_loss_rise,
    printed_radius,
    variance,
)

# gamma^2 in units of scale / d, from far below to far above the features.
NOISES = (0.01, 0.1, 1.0, 10.0, 100.0)


def _ideal_states(x: Instance):
    """The ideal factors at n = 1, ..., d, stacked along the leading axis."""
    return jax.vmap(lambda n: at_stage(x, n))(jnp.arange(1, x.d + 1))


def _gains(x: Instance, states, moves):
    """What L~ gains by moves from stacked states."""
    return jax.vmap(lambda state, move: perturbed_loss_rise(x, state, move))(states, moves)


def _rises(x: Instance, states):
    """Increments of L~ along stacked states."""
    before = jax.tree.map(lambda w: w[:-1], states)
    return _gains(x, before, jax.tree.map(lambda w: jnp.diff(w, axis=0), states))


def _simulate(radius: Callable) -> Callable:
    """Increments of L~ at n = 2, ..., d, and its gains over the ideal states at n = 1, ..., d."""

    def simulate(x: Instance, key):
        e = x.share * radius(x)
        ideal = _ideal_states(x)
        ball = jax.vmap(lambda w, way, aligned: move_in_ball(w, e, way, aligned))
        moves = ball(ideal[0], x.first, x.aligned), ball(ideal[1], x.second, x.aligned)
        return {
            "rises": _rises(x, move_by(ideal, moves)),
            "ideal rises": _rises(x, ideal),
            "gains": _gains(x, ideal, moves),
        }

    return simulate


def _simulate_noises(x: Instance, key):
    """Increments of L~ at the ideal states for every strength of noise."""
    ideal = _ideal_states(x)

    def rises(noise):
        return _rises(x.replace(noise=noise.astype(x.noise.dtype)), ideal)

    return {"rises": jax.vmap(rises)(jnp.array(NOISES) * x.pre[0])}


def _best_noise(r: Run):
    """The least increment at n > r under the noise that makes it largest; r = 1 suffices."""
    return jnp.max(jnp.min(r.sim["rises"], axis=-1), axis=-1)


def _squares(r: Run):
    return pre_spectrum(r.x)[1:] ** 2


def _displays(first_index: Callable):
    """The choice of s and P1 to P4, which are displayed for n > s."""

    def s(x: Instance):
        above = variance(x) > pre_spectrum(x) / x.d
        return first_index(jnp.argmax(above) + 1)

    def later(r: Run):
        return jnp.arange(2, r.x.d + 1) - s(r.x) - 1

    def always(name, left, right):
        return at_least(name, left, right, strict=True, where=later)

    return (
        at_most("the choice of s: s <= d - 1", lambda r: s(r.x), lambda r: r.x.d - 1),
        always("P1: ideal increments", lambda r: r.sim["ideal rises"], _squares),
        always("P2: state n", lambda r: r.sim["gains"][..., 1:], lambda r: -_squares(r) / 2),
        always("P3: state n - 1", lambda r: -r.sim["gains"][..., :-1], lambda r: -_squares(r) / 2),
        always("P4: increments", lambda r: r.sim["rises"], lambda r: 0.0),
    )


theorem = Theorem(
    space=perturbation_space(
        d=Size(3, low=2, high=32),
        first=Gaussian("d", "d", "d"),
        second=Gaussian("d", "d", "d"),
        aligned=Real(-1, 1, shape="d"),
        share=Real(0, 1),
    ),
    hypotheses={"gamma^2 > pre_d / d": lambda x: variance(x) - pre_spectrum(x)[-1] / x.d},
    simulate=_simulate(printed_radius),
    claims=(
        at_least(
            "the last increment", lambda r: r.sim["rises"][..., -1], lambda r: 0.0, strict=True
        ),
    ),
    printed="appendix",
    readings=(
        Reading(
            "main text",
            Printed("", ""),
            simulate=_simulate_noises,
            hypotheses={},
            claims=(at_least("increments", _best_noise, lambda r: 0.0, strict=True),),
        ),
        Reading("proof displays", Printed("", ""), claims=_displays(lambda index: index)),
        Reading(
            "proof displays, corrected",
            Corrected(""),
            simulate=_simulate(corrected_radius),
            claims=_displays(lambda index: index - 1),
            note="s is one less than the first index with gamma^2 > pre_s / d, and exp(-C tau) is "
            "as small as the corrected Lemma A.6 asks",
        ),
    ),
    mutants=(
        Mutant(
            "whatever the noise",
        ),
    ),
    aliases=("theorem-a.3",),
)
