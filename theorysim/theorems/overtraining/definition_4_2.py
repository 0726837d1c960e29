"""The two definitions of the inflection point agree under Gaussian noise.

Definition 4.2 of Springer et al. (2025): the smallest r with L(t_r) < L(t_{r+1}). Theorem A.25
calls by the same name the smallest r such that L increases at every n > r. They are compared on
the ideal states: under Gaussian noise, where the increments change sign once, and after fine-tuning
to a spectrum in any order, where they need not.
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.systems.ideal_stages import inflection_point, last_descent
from theorysim.theorems.overtraining._finetuning import (
    factors,
    fine_tuning_space,
    ft_spectrum,
    learning_rate,
    pre_spectrum,
    pull_back,
)
from theorysim.theorems.overtraining._perturbation import perturbed_loss
from theorysim.theorems.overtraining._stages import fine_tuned, ideal_modes, loss_against


def _simulate_noise(x: claims.Instance, key):
    modes = ideal_modes(pre_spectrum(x))[1:]
    return jax.vmap(lambda w: perturbed_loss(x, factors(x, w)))(modes)


def _simulate_fine_tuning(x: claims.Instance, key):
    modes = ideal_modes(pre_spectrum(x))[1:]
    theta = fine_tuned(ft_spectrum(x), modes, pull_back(x), learning_rate(x), x.steps)
    return loss_against(theta, pre_spectrum(x))


def _last_rise(increments):
    """The largest r with L(r) < L(r + 1), counted from 0."""
    stages = jnp.arange(increments.shape[-1])
    return jnp.max(jnp.where(increments > 0, stages, 0), axis=-1)


def _point(definition):
    """The stage, counted from 1, at which a definition puts the inflection point."""
    return lambda r: definition(jnp.diff(r.sim)) + 1


def _agree(definition):
    return (claims.equal("the same point", _point(definition), _point(last_descent)),)


theorem = claims.Theorem(
    space=fine_tuning_space(
        steps=claims.Size(200, high=20_000), noise=claims.Real(0.1, 100, log=True)
    ),
    simulate=_simulate_fine_tuning,
    claims=_agree(inflection_point),
    printed="after fine-tuning",
    source=claims.Finding("whether Definition 4.2 and Theorem A.25 define the same point"),
    note="after fine-tuning to features in no order the loss may turn several times",
    readings=(
        claims.Reading(
            "under Gaussian noise",
            claims.Finding("the same question where the modification is noise, as in Section 4.2"),
            simulate=_simulate_noise,
            primary=True,
            note="they agree where the loss turns only once, which fine-tuning does not ensure",
        ),
    ),
    mutants=(claims.Mutant("the last rise", simulate=_simulate_noise, claims=_agree(_last_rise)),),
)
