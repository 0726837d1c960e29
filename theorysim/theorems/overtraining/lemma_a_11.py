"""After enough steps every learned feature is near the minimiser of its regularised loss.

Lemma A.11 of Springer et al. (2025): under Assumptions A.8 and A.10 the features
(U^T theta(K) V)_ii, i <= n, of the ideal infinite-batch run are within epsilon of
(pre_i + lam ft_i) / (1 + lam), where the minimiser of the loss has the two spectra swapped. The
displays of the proof state the same of the entries of W_1: in print neither rotated nor as square
roots, and with a sufficient number of steps whose logarithm depends on the unit of the features.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Instance,
    Integer,
    Mutant,
    Printed,
    Reading,
    Real,
    Theorem,
    at_most,
)
from theorysim.numerics.products import dot
from theorysim.systems.two_layer_linear import Factors, fine_tune_to
from theorysim.theorems.overtraining import _finetuning as ft


def _accuracy(x: Instance):
    return x.accuracy * ft.gamma(x)


def _steps(logarithm: Callable, rate: float) -> Callable:
    """The least number of steps K >= log(...) / (rate eta min), and some more."""

    def steps(x: Instance):
        slowest = rate * ft.learning_rate(x) * ft.smallest_learned(x)
        least = jnp.ceil(jnp.max(logarithm(x)) / slowest)
        return jnp.maximum(least, 0).astype(int) + x.more_steps

    return steps


def _printed_log(x: Instance):
    """A.10's logarithm."""
    return jnp.log(100 * ft.gamma(x) / _accuracy(x))


def _display_log(x: Instance):
    """The logarithm in the proof's last display, per learned mode."""
    difference = jnp.abs(ft.pre_spectrum(x) - ft.ft_spectrum(x))
    return jnp.log(ft.learned(x, 100 * jnp.sqrt(ft.gamma(x)) * difference / _accuracy(x)))


A10 = _steps(_printed_log, 1.0)


def _simulate(steps: Callable) -> Callable:
    """The run after `more_steps` (early) and after all steps (late)."""

    def simulate(x: Instance, key):
        straight = ft.rotated(x)
        start = ft.ideal_start(straight)
        tuning, rate = ft.tuning(straight, dot(*start)), ft.learning_rate(x)
        early = fine_tune_to(Factors(*start), tuning, rate, x.more_steps)
        late = fine_tune_to(early, tuning, rate, steps(x) - x.more_steps)
        return {
            "features": jnp.diag(dot(*late)),
            "entries": _entries(x.U, early, late),
            "modes": _entries(jnp.eye(x.d, dtype=x.U.dtype), early, late),
        }

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
    return jnp.abs(r.sim["features"] - r.theory)


def _displays(what: str, root: Callable) -> tuple:
    """The proof's displays for the simulated entry `what`, whose limit is `root` of a feature."""

    def distance(time):
        return lambda r: jnp.abs(r.sim[what][:, time] - root(r.theory))

    def bound(r):
        smaller = jnp.minimum(ft.pre_spectrum(r.x), ft.ft_spectrum(r.x))
        kept = (1 - 2 * ft.learning_rate(r.x) * smaller) ** r.x.more_steps
        return kept * jnp.abs(root(ft.pre_spectrum(r.x)) - root(r.theory))

    def radius(r):
        return _accuracy(r.x) / (100 * jnp.sqrt(ft.gamma(r.x)))

    return (
        at_most("P1: contraction by 1 - 2 eta min", distance(0), bound, where=_is_learned),
        at_most(
            "P2: steps for epsilon / (100 sqrt(Gamma))", distance(1), radius, where=_is_learned
        ),
    )


DISPLAY_STEPS = _steps(_display_log, 2.0)
ENOUGH_STEPS = _steps(_printed_log, 2.0)

theorem = Theorem(
    space=ft.fine_tuning_space(
        strength=Real(0.01, 10, log=True),
        rate_share=Real(0.2, 1),
        accuracy=Real(1e-3, 10, log=True),
        more_steps=Integer(0, 50),
    ),
    hypotheses={
        "Assumption A.8": ft.small_rate,
        "Assumption A.10": lambda x: ft.enough_steps(x, A10(x), _accuracy(x)),
    },
    requirements={"steps": A10},
    simulate=_simulate(A10),
    predict=_PRINTED,
    claims=(
        at_most(
            "C1: within epsilon of the limit", _near, lambda r: _accuracy(r.x), where=_is_learned
        ),
    ),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            predict=_MINIMISER,
            primary=True,
            note="the limit is (ft + lam pre) / (1 + lam): the two spectra are swapped in print",
        ),
        Reading(
            "proof displays",
            Printed("", ""),
            simulate=_simulate(DISPLAY_STEPS),
            claims=_displays("entries", lambda s: s),
            hypotheses={"Assumption A.8": ft.small_rate},
        ),
        Reading(
            "proof displays, corrected",
            Corrected(""),
            predict=_MINIMISER,
            simulate=_simulate(ENOUGH_STEPS),
            claims=_displays("modes", jnp.sqrt),
            hypotheses={"Assumption A.8": ft.small_rate},
            note="of the rotated entries (U^T W_1)_ii and roots of features; "
            "K >= log(100 Gamma / epsilon) / (2 eta min) is enough at every scale",
        ),
    ),
    mutants=(Mutant("the limit forgets pre-training", predict=ft.ft_spectrum),),
)
