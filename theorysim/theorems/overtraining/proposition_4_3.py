"""Learning one more feature changes the loss under Gaussian noise by at least its printed price.

Proposition 4.3 of Springer et al. (2025), Eq. 2, and its formal version, Lemma A.4, Eq. 14:
L~(n) - L~(n - 1) >= (2 d gamma^2 - pre_n) pre_n. Main text: at the states of the flow at the stage
times, from a start exp(-tau) in every mode. Appendix: at the ideal states, n > 1, with equality
in the proof. The text after the proposition reads off the inflection point: a reading of its own.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Run,
    Size,
    Spectrum,
    Theorem,
    at_least,
    equal,
)
from theorysim.systems.ideal_stages import inflection_point
from theorysim.theorems.overtraining._finetuning import factors, pre_spectrum
from theorysim.theorems.overtraining._perturbation import (
    corrected_radius,
    perturbation_space,
    perturbed_loss_rise,
    sampled_perturbed_loss,
    variance,
)
from theorysim.theorems.overtraining._stages import ideal_modes, log_start_distance, real_modes

DRAWS = 64  # per key


def _increments(x: Instance, modes):
    """L~(n) - L~(n - 1) for n = 2, ..., d; `modes` of the stages 1, ..., d."""
    states = jax.vmap(lambda w: factors(x, w))(modes)
    before = jax.tree.map(lambda w: w[:-1], states)
    moves = jax.tree.map(lambda w: jnp.diff(w, axis=0), states)
    return jax.vmap(lambda state, move: perturbed_loss_rise(x, state, move))(before, moves)


def simulate(x: Instance, key):
    alpha, beta = jnp.sqrt(variance(x)) * jax.random.normal(key, (2, DRAWS, x.d, x.d))
    ideal = ideal_modes(pre_spectrum(x))[1:]

    def sampled(modes):
        return jnp.mean(sampled_perturbed_loss(x, factors(x, modes), alpha, beta))

    return {
        "real": _increments(x, real_modes(pre_spectrum(x), x.tau)[1:]),
        "ideal": _increments(x, ideal),
        "sampled": jnp.diff(jax.vmap(sampled)(ideal)),
    }


def _predict(layers: float):
    """The right side of Eq. 14 for n = 2, ..., d; `layers` = 2 is printed."""

    def predict(x: Instance):
        pre = pre_spectrum(x)[1:]
        return (layers * x.d * variance(x) - pre) * pre

    return predict


def _printed_inflection(r: Run):
    """The smallest n with 2 d gamma^2 > pre_n."""
    return jnp.argmax(2 * r.x.d * variance(r.x) > pre_spectrum(r.x)) + 1


def _exists(r: Run):
    return 2 * r.x.d * variance(r.x) - pre_spectrum(r.x)[-1]


def _inflection(printed):
    return (
        equal(
            "inflection point",
            lambda r: inflection_point(r.sim["ideal"]) + 1,
            printed,
            where=_exists,
        ),
    )


def _close(x: Instance):
    """Margin of the corrected Assumption A.2, in logarithms."""
    return jnp.log(corrected_radius(x)) - log_start_distance(pre_spectrum(x), x.tau)


IDEAL = (
    at_least("Eq. 14", lambda r: r.sim["ideal"], lambda r: r.theory),
    equal("its proof", lambda r: r.mean(r.sim["sampled"]), lambda r: r.theory),
)

theorem = Theorem(
    space=perturbation_space(
        d=Size(3, low=2, high=32), pre=Spectrum("d", 1, 10, gap=1.5), tau=Real(5, 40)
    ),
    simulate=simulate,
    predict=_predict(2.0),
    keys=128,
    claims=(at_least("Eq. 2", lambda r: r.sim["real"], lambda r: r.theory),),
    printed="main text",
    readings=(
        Reading(
            "appendix",
            Printed("", ""),
            claims=IDEAL,
            primary=True,
            note="the main text abbreviates to ideal states; those of the flow at the stage times "
            "may miss the bound by O(exp(-C tau))",
        ),
        Reading(
            "main text, corrected",
            Corrected(""),
            hypotheses={"corrected Assumption A.2": _close},
            claims=(
                at_least(
                    "Eq. 2",
                    lambda r: r.sim["real"],
                    lambda r: r.theory - pre_spectrum(r.x)[-1] ** 2,
                ),
            ),
            note="Lemma A.6, corrected, allows pre_d^2 / 2 for each of the two states",
        ),
        Reading(
            "inflection point in the text", Printed("", ""), claims=_inflection(_printed_inflection)
        ),
        Reading(
            "inflection point, corrected",
            Corrected(""),
            claims=_inflection(lambda r: jnp.maximum(_printed_inflection(r) - 1, 1)),
            note="with Definition 4.2 the point is r = n - 1 for the smallest n with "
            "2 d gamma^2 > pre_n (r = 1 where that is n = 1)",
        ),
    ),
    mutants=(Mutant("four layers of noise", predict=_predict(4.0), claims=IDEAL),),
    aliases=("lemma-a.4",),
)
