"""After enough steps every learned feature is near the minimiser of its regularised loss.

Lemma A.11 of Springer et al. (2025): under Assumptions A.8 and A.10 the features
(U^T theta(K) V)_ii, i <= n, of the ideal infinite-batch run are within epsilon of
(pre_i + lam ft_i) / (1 + lam), where the minimiser of the loss has the two spectra swapped. The
displays of the proof state the same of the entries of W_1: in print neither rotated nor as square
roots, and with a sufficient number of steps whose logarithm depends on the unit of the features.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.claims import Corrected, Instance, Mutant, Printed, Reading, Theorem, at_most
from theorysim.numerics.products import dot
from theorysim.systems.two_layer_linear import Factors, FineTuning, fine_tune_to
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import assumption_a_8, assumption_a_10
from theorysim.theorems.overtraining.assumption_a_10 import STEPS, accuracy, logarithm, steps_for


class Ends(NamedTuple):
    """The features (U^T theta(K) V)_ii; diagonals of W_1 and of U^T W_1, early and late."""

    features: Float[Array, " d"]
    entries: Float[Array, "times d"]
    modes: Float[Array, "times d"]


def _display_log(x: Instance):
    """The logarithm in the proof's last display, per learned mode."""
    difference = jnp.abs(ft.pre_spectrum(x) - ft.ft_spectrum(x))
    return jnp.log(ft.learned(x, 100 * jnp.sqrt(ft.gamma(x)) * difference / accuracy(x)))


def _simulate(steps: Callable) -> Callable:
    """The run after `more_steps` (early) and after all steps (late)."""

    def simulate(x: Instance, key):
        straight = ft.rotated(x)
        start = ft.ideal_start(straight)
        target = jnp.diag(ft.ft_spectrum(x))
        tuning, rate = FineTuning(target, dot(*start), ft.pull_back(x)), ft.learning_rate(x)
        early = fine_tune_to(Factors(*start), tuning, rate, x.more_steps)
        late = fine_tune_to(early, tuning, rate, steps(x) - x.more_steps)
        return Ends(
            features=jnp.diag(dot(*late)),
            entries=_entries(x.U, early, late),
            modes=_entries(jnp.eye(x.d, dtype=x.U.dtype), early, late),
        )

    return simulate


def _entries(basis, early, late):
    """Diagonals of basis W_1 at both times."""
    return jnp.stack([jnp.diag(dot(basis, first)) for first, _ in (early, late)])


def _mixed(major: Callable, minor: Callable) -> Callable:
    def predict(x: Instance):
        lam = ft.pull_back(x)
        return (major(x) + lam * minor(x)) / (1 + lam)

    return predict


_PRINTED = _mixed(ft.pre_spectrum, ft.ft_spectrum)
_MINIMISER = _mixed(ft.ft_spectrum, ft.pre_spectrum)


def _is_learned(r):
    return jnp.where(jnp.arange(r.x.d) < r.x.n, 1, -1)


def _near(r):
    return jnp.abs(r.sim.features - r.theory)


def _displays(entries: Callable, root: Callable) -> tuple:
    """The proof's displays for simulated entries, whose limits are roots of features."""

    def distance(time):
        return lambda r: jnp.abs(entries(r.sim)[time] - root(r.theory))

    def bound(r):
        smaller = jnp.minimum(ft.pre_spectrum(r.x), ft.ft_spectrum(r.x))
        kept = (1 - 2 * ft.learning_rate(r.x) * smaller) ** r.x.more_steps
        return kept * jnp.abs(root(ft.pre_spectrum(r.x)) - root(r.theory))

    def radius(r):
        return accuracy(r.x) / (100 * jnp.sqrt(ft.gamma(r.x)))

    return (
        at_most("P1: contraction by 1 - 2 eta min", distance(0), bound, where=_is_learned),
        at_most(
            "P2: steps for epsilon / (100 sqrt(Gamma))", distance(1), radius, where=_is_learned
        ),
    )


theorem = Theorem(
    space=ft.fine_tuning_space(**assumption_a_10.FIELDS),
    assumes=(assumption_a_8.ASSUMPTION, assumption_a_10.ASSUMPTION),
    simulate=_simulate(STEPS),
    predict=_PRINTED,
    source=Printed(
        "Lemma A.11", "|(U^T theta(K) V)_ii - (pre_i + lam ft_i) / (1 + lam)| <= epsilon, i <= n"
    ),
    note="the two spectra are swapped: fine-tuning would move away from its target",
    claims=(
        at_most(
            "C1: within epsilon of the limit", _near, lambda r: accuracy(r.x), where=_is_learned
        ),
    ),
    readings=(
        Reading(
            "corrected",
            Corrected("the limit is (ft_i + lam pre_i) / (1 + lam)"),
            predict=_MINIMISER,
            primary=True,
            note="the limit is the minimiser of the regularised loss",
        ),
        Reading(
            "proof displays",
            Printed(
                "proof of Lemma A.11",
                "|W_1(K)_ii - (pre_i + lam ft_i) / (1 + lam)| <= (1 - 2 eta min)^K |pre_i - ...|",
            ),
            simulate=_simulate(steps_for(_display_log, 2.0)),
            claims=_displays(lambda sim: sim.entries, lambda s: s),
            assumes=(assumption_a_8.ASSUMPTION,),
            note="the displays compare entries of W_1, neither rotated nor squared, with features",
        ),
        Reading(
            "proof displays, corrected",
            Corrected("(U^T W_1)_ii, roots of features, K >= log(100 Gamma / eps) / (2 eta min)"),
            predict=_MINIMISER,
            simulate=_simulate(steps_for(logarithm, 2.0)),
            claims=_displays(lambda sim: sim.modes, jnp.sqrt),
            assumes=(assumption_a_8.ASSUMPTION,),
            note="with this number of steps the displays hold in every unit of the features",
        ),
    ),
    mutants=(
        Mutant("the limit forgets pre-training", predict=ft.ft_spectrum),
        Mutant("the two spectra swapped", predict=_PRINTED),
    ),
)
