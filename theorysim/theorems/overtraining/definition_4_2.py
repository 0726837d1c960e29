"""The two definitions of the inflection point agree under Gaussian noise.

Definition 4.2 of Springer et al. (2025): the smallest r with L(t_r) < L(t_{r+1}). Theorem A.25
calls by the same name the smallest r such that L increases at every n > r. They are compared, where
the loss rises at all, on the ideal states: under Gaussian noise, where the increments change sign
once, and after fine-tuning to a spectrum in any order, where they need not.
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.systems.ideal_stages import inflection_point, last_descent
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _stages as stages
from theorysim.theorems.overtraining._perturbation import perturbed_loss


def _simulate_noise(x: claims.Instance, key):
    modes = stages.ideal_modes(ft.pre_spectrum(x))[1:]
    return jax.vmap(lambda w: perturbed_loss(x, ft.factors(x, w)))(modes)


def _simulate_fine_tuning(x: claims.Instance, key):
    modes = stages.ideal_modes(ft.pre_spectrum(x))[1:]
    target, settings = ft.ft_spectrum(x), (ft.pull_back(x), ft.learning_rate(x), x.steps)
    theta = stages.fine_tuned(target, modes, *settings)
    return stages.loss_against(theta, ft.pre_spectrum(x))


def _last_rise(increments):
    """The largest r with L(r) < L(r + 1), counted from 0."""
    count = jnp.arange(increments.shape[-1])
    return jnp.max(jnp.where(increments > 0, count, 0), axis=-1)


def _rises(r: claims.Run):
    """Nonnegative where the loss rises at all: else Definition 4.2 has no point."""
    return jnp.where(jnp.any(jnp.diff(r.sim) > 0, axis=-1), 1.0, -1.0)


def _agree(definition):
    """The stage, counted from 1, at which a definition puts the inflection point."""

    def point(of):
        return lambda r: of(jnp.diff(r.sim)) + 1

    return (claims.equal("the same point", point(definition), point(last_descent), where=_rises),)


theorem = claims.Theorem(
    space=ft.fine_tuning_space(
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
