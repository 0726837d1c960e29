"""Fine-tuning harms the pre-training loss the more, the more features were learned before.

Theorem 4.6 (progressive sensitivity) of Springer et al. (2025), formally Theorem A.24. With
Delta_pre(n) = L_pre(theta^n(K)) - L_pre(theta^n(0)): it is never negative and grows with n. The
main text asks for (alpha, 1)-misaligned spectra with alpha > 1 and leaves the sizes open (they are
those of the corrected reading here); the appendix asks for Assumption A.21 instead. Item 3 of A.21
is read as printed, as the Assumption A.10 that it names, and corrected.

The batch is infinite, which item 4 of A.21 admits; batches of the size it asks for have the
identity as covariance to hundreds of digits.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Finding,
    Instance,
    Mutant,
    Printed,
    Reading,
    Run,
    Theorem,
    at_least,
    at_most,
    decreasing,
    equal,
    increasing,
)
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _practice as practice
from theorysim.theorems.overtraining._finetuning import gamma, pre_spectrum
from theorysim.theorems.overtraining._stages import (
    diagonal,
    ideal_modes,
    loss_against,
    loss_change,
)

AS_PRINTED = a_21.Assumption(a_21.steps_as_printed)
AS_LABELLED = a_21.Assumption(a_21.steps_as_labelled)
CORRECTED = a_21.Assumption(a_21.steps_free_of_scale)


def _simulate(run: Callable) -> Callable:
    """Delta_pre(n) for n = 0, ..., d, and how far the real start is from the ideal one."""

    def simulate(x: Instance, key):
        theta, modes = run(x, a_21.pull_back(x), key)
        start, ideal, pre = diagonal(modes), diagonal(ideal_modes(pre_spectrum(x))), pre_spectrum(x)
        return {
            "change": loss_change(theta, start, pre),
            "start loss": loss_change(start, ideal, pre),
            "start": jnp.linalg.norm(start - ideal, axis=(-2, -1)),
        }

    return simulate


def predict(x: Instance):
    """Losses of the limits U (ft_:n + lam pre_:n) / (1 + lam) V^T and of U pre_:n V^T."""
    pre, lam = pre_spectrum(x), a_21.pull_back(x)
    learned = jnp.tril(jnp.ones((x.d + 1, x.d)), -1)
    limit = learned * (a_21.ft_spectrum(x) + lam * pre) / (1 + lam)
    losses = [loss_against(diagonal(jnp.sqrt(theta)), pre) for theta in (limit, learned * pre)]
    return {"change": losses[0] - losses[1]}


def _gap(r: Run):
    """|ft_n - pre_n|."""
    return jnp.abs(a_21.ft_spectrum(r.x) - pre_spectrum(r.x))


def _tolerance(r: Run, share: float):
    """A share of min over i <= n of |pre_i - ft_i|^2 / (lam_0 + 1)^2."""
    return share * a_21.smallest_gaps(r.x) / (r.x.lam_0 + 1) ** 2


def _step(r: Run):
    """((ft_n - pre_n) / (1 + lam))^2."""
    return (_gap(r) / (1 + a_21.pull_back(r.x))) ** 2


def _change(r: Run):
    """Delta_pre(n) from n = 1."""
    return r.sim["change"][..., 1:]


def _increments(r: Run):
    """Delta_pre(n) - Delta_pre(n - 1) from n = 1, with Delta_pre(0) = 0."""
    return jnp.diff(_change(r), prepend=0)


NOT_NEGATIVE = at_least(
    "Delta_pre(n) >= 0", _change, lambda r: 0.0, statement="L_pre(theta^n(K)) >= L_pre(theta^n(0))"
)
GROWS = increasing("Delta_pre(n) in n", _change)

P1 = at_most(
    "P1: losses of the starts",
    lambda r: jnp.abs(r.sim["start loss"])[..., 1:],
    lambda r: 32 * gamma(r.x) * r.sim["start"][..., 1:],
    statement="|L_pre(theta(0)) - L_pre(ideal)| <= 32 Gamma |theta(0) - ideal|_F",
)

LIMIT = equal(
    "P2: Delta_pre of the limit",
    lambda r: r.theory["change"][1:],
    lambda r: jnp.cumsum(_step(r)),
)

DISPLAYS = (
    at_most(
        "P1: starts are close",
        lambda r: 32 * gamma(r.x) * r.sim["start"][..., 1:],
        lambda r: _tolerance(r, 1 / 10)[-1],
    ),
    LIMIT,
    at_most(
        "P3: near the limit",
        lambda r: jnp.abs(_change(r) - r.theory["change"][1:]),
        lambda r: _tolerance(r, 3 / 10),
    ),
    at_least(
        "P4: increments",
        _increments,
        lambda r: _step(r) - _tolerance(r, 3 / 5),
        statement="Delta_n - Delta_(n-1) >= (pre_n - ft_n)^2/(1+lam)^2 - 3 min/(5 (lam_0+1)^2)",
    ),
    at_least("P4: increments > 0", _increments, lambda r: 0.0, strict=True),
)

SKETCH = equal("increments: (ft_n - pre_n)^2", _increments, lambda r: _gap(r) ** 2)


def _misaligned(x: Instance):
    """Margin of ft_i > pre_i for all i > 1."""
    return jnp.min((a_21.ft_spectrum(x) / pre_spectrum(x))[1:] - 1, initial=jnp.inf)


practical_run = _simulate(practice.run)

SIZES = CORRECTED.hypotheses()

theorem = Theorem(
    space=a_21.assumption_space(**practice.FIELDS),
    hypotheses={
        **SIZES,
        "(1, 1)-misaligned": _misaligned,
        "fine-tuning features in order": a_21.in_order,
    },
    requirements=CORRECTED.requirements(),
    simulate=_simulate(CORRECTED.run),
    predict=predict,
    claims=(NOT_NEGATIVE, GROWS),
    printed="main text",
    aliases=("theorem-a.24",),
    readings=(
        Reading(
            "appendix",
            Printed("", ""),
            simulate=_simulate(AS_PRINTED.run),
            hypotheses=AS_PRINTED.hypotheses(),
            requirements=AS_PRINTED.requirements(),
            note="item 3 of A.21 as printed, without the learning rate: K steps need not move",
        ),
        Reading(
            "appendix, item 3 as A.10",
            Printed("", ""),
            simulate=_simulate(AS_LABELLED.run),
            hypotheses=AS_LABELLED.hypotheses(),
            requirements=AS_LABELLED.requirements(),
            note="log(100 Gamma / epsilon) <= 0 asks for no step where the features are small",
        ),
        Reading(
            "corrected",
            Corrected(""),
            hypotheses=SIZES,
            primary=True,
            note="K >= log(100 / epsilon) / (eta min): with eta, and free of the features' scale",
        ),
        Reading("proof displays", Printed("", ""), hypotheses=SIZES, claims=DISPLAYS),
        Reading(
            "proof display P1",
            Printed("", ""),
            simulate=practical_run,
            hypotheses=practice.HYPOTHESES,
            requirements={},
            claims=(P1,),
            note="on real starts far enough from the ideal ones to be told apart",
        ),
        Reading(
            "proof sketch",
            Printed("", ""),
            claims=(SKETCH,),
            note="true with lam = 0; a pull-back divides the difference by 1 + lam",
        ),
        Reading(
            "practical sizes",
            Finding(""),
            simulate=practical_run,
            hypotheses=practice.HYPOTHESES,
            requirements=AS_LABELLED.requirements(),
            note=practice.NOTE,
        ),
    ),
    mutants=(
        Mutant(
            "progress falls with n, twice the loss",
            claims=(
                NOT_NEGATIVE,
                decreasing(GROWS.name, _change),
                equal(LIMIT.name, LIMIT.lhs, lambda r: 2 * jnp.cumsum(_step(r))),
                equal(SKETCH.name, SKETCH.lhs, lambda r: 2 * _gap(r) ** 2),
            ),
        ),
    ),
)
