"""The scalar map of one mode stays between its two ends and contracts to its fixed point.

Lemma A.28 of Springer et al. (2025). One mode of regularised fine-tuning is gradient descent of
(w_1 w_2 - sigma^2)^2 + lam (w_1 w_2 - sigma_0^2)^2 from w_1 = w_2 = sigma_0. The map f is printed
twice: in Section A.6 with the factor x in its last term, in Eq. 18 without it. The fixed point is
printed as sqrt((sigma_0^2 + lam sigma^2) / (1 + lam)); the map's own one has the two swapped.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import optax

from theorysim.claims import (
    Choice,
    Corrected,
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Run,
    Size,
    Space,
    Theorem,
    at_least,
    at_most,
    equal,
)
from theorysim.numerics.descent import descend, iterate
from theorysim.systems.linear_modes import Tuning, limit, printed_limit, printed_step, step

# Points of the range at which the displays of the proof are compared.
DISPLAY_POINTS = 9


def _largest(x: Instance) -> jax.Array:
    return jnp.maximum(x.sigma, x.sigma_0) ** 2


def _smallest(x: Instance) -> jax.Array:
    return jnp.minimum(x.sigma, x.sigma_0) ** 2


def _printed_load(x: Instance) -> jax.Array:
    """What eta is multiplied with in the lemma's step condition, (...) eta < 1."""
    return (x.lam + 2) * (2 * _largest(x) + x.lam + x.lam * x.sigma_0 / x.sigma)


def _scale_free_load(x: Instance) -> jax.Array:
    """The same without the two terms that do not scale like sigma^2."""
    return (x.lam + 2) * 2 * _largest(x)


def _tuning(x: Instance, load: Callable, share: float = 1.0) -> Tuning:
    return Tuning(x.sigma**2, x.sigma_0**2, x.lam, share * x.step_share / load(x))


def _margin(load: Callable) -> dict[str, Callable]:
    return {"step condition": lambda x: 1 - _tuning(x, load).learning_rate * load(x)}


def _simulate(load: Callable) -> Callable:
    def simulate(x: Instance, key):
        feature, anchor, lam, rate = _tuning(x, load)

        def loss(weights):
            product = weights[0] * weights[1]
            return (product - feature) ** 2 + lam * (product - anchor) ** 2

        start = jnp.stack([x.sigma_0, x.sigma_0])
        return descend(loss, start, optax.sgd(rate), x.steps)[:, 0]

    return simulate


def _predict(
    end: Callable = printed_limit, load: Callable = _printed_load, f=step, share: float = 1.0
) -> Callable:
    """The iterates of f with the lemma's fixed point and rate, and f on a grid over the range."""

    def predict(x: Instance):
        tuning = _tuning(x, load, share)
        grid = jnp.linspace(0.0, 1.0, DISPLAY_POINTS, dtype=x.sigma.dtype)
        grid = x.sigma * (1 - grid) + x.sigma_0 * grid
        contraction = 1 - 2 * tuning.learning_rate * _smallest(x)
        return {
            "path": iterate(lambda w: f(w, tuning), x.sigma_0, x.steps),
            "star": jnp.sqrt(end(tuning)),
            "contraction": contraction,
            "decay": contraction ** jnp.arange(x.steps + 1),
            "rate": 2 * tuning.learning_rate,
            "grid": grid,
            "image": f(grid, tuning),
        }

    return predict


def _distance(r: Run):
    return jnp.abs(r.theory["path"] - r.theory["star"])


STATEMENT = (
    equal("f is the descent step", lambda r: r.sim, lambda r: r.theory["path"]),
    at_least("range, lower", lambda r: r.theory["path"], lambda r: jnp.sqrt(_smallest(r.x))),
    at_most("range, upper", lambda r: r.theory["path"], lambda r: jnp.sqrt(_largest(r.x))),
    at_most(
        "rate",
        _distance,
        lambda r: r.theory["decay"] * _distance(r)[..., :1],
        statement="|f^(k)(sigma_0) - sigma*| <= (1 - 2 eta min)^k |sigma_0 - sigma*|",
    ),
)


def _step_away(r: Run):
    """f(x) - sigma* on the grid."""
    return r.theory["image"] - r.theory["star"]


def _away(r: Run):
    return r.theory["grid"] - r.theory["star"]


def _gradient(r: Run, anchor):
    """x (x^2 - sigma^2) + lam x (x^2 - anchor) on the grid."""
    x = r.theory["grid"]
    return x * (x**2 - r.x.sigma**2) + r.x.lam * x * (x**2 - anchor)


def _printed_slope(r: Run):
    """x (x + (lam + 1) sigma*), by which P3 multiplies x - sigma*."""
    return r.theory["grid"] * (r.theory["grid"] + (r.x.lam + 1) * r.theory["star"])


def _true_slope(r: Run):
    return (1 + r.x.lam) * r.theory["grid"] * (r.theory["grid"] + r.theory["star"])


def _displays(anchor: Callable, slope: Callable, factor: Callable) -> tuple:
    """P1 to P5 and P7: what g subtracts in its last term, g / (x - sigma*), the bound of P5."""
    return (
        equal(
            "P1: g(sigma*) = 0",
            lambda r: (1 + r.x.lam) * r.theory["star"] ** 3,
            lambda r: r.theory["star"] * (r.x.sigma**2 + r.x.lam * anchor(r.x)),
        ),
        equal(
            "P2: f = x - 2 eta g",
            lambda r: r.theory["image"],
            lambda r: r.theory["grid"] - r.theory["rate"] * _gradient(r, anchor(r.x)),
        ),
        equal(
            "P3: g factors",
            lambda r: _gradient(r, r.x.sigma_0**2),
            lambda r: _away(r) * slope(r),
        ),
        equal(
            "P4: f - sigma* factors",
            _step_away,
            lambda r: _away(r) * (1 - r.theory["rate"] * slope(r)),
        ),
        at_least("P5, lower", slope, lambda r: _smallest(r.x)),
        at_most("P5, upper", slope, lambda r: factor(r.x.lam) * _largest(r.x)),
        at_most(
            "P7: one step contracts",
            lambda r: jnp.abs(_step_away(r)),
            lambda r: jnp.abs(_away(r)) * r.theory["contraction"],
        ),
    )


def _signs(slope: Callable) -> tuple:
    return (
        at_least(
            "P6: no overshoot",
            lambda r: 1 - r.theory["rate"] * slope(r),
            lambda r: 0.0,
            strict=True,
        ),
        at_least("P8: f stays on its side", lambda r: _step_away(r) * _away(r), lambda r: 0.0),
    )


scale_free_run, scale_free_theory = _simulate(_scale_free_load), _predict(limit, _scale_free_load)

theorem = Theorem(
    space=Space(
        steps=Size(200, high=20_000),
        sigma=Real(0.03, 30, log=True),
        sigma_0=Real(0.03, 30, log=True),
        lam=Choice(0.0, 0.1, 1.0, 3.0, 10.0, 30.0),
        step_share=Real(0, 1),
    ),
    hypotheses=_margin(_printed_load),
    simulate=_simulate(_printed_load),
    predict=_predict(),
    claims=STATEMENT,
    printed="Section A.6",
    readings=(
        Reading(
            "Eq. 18",
            Printed("", ""),
            predict=_predict(f=printed_step),
            note="the map as Eq. 18 prints it, without the factor x in the pull-back",
        ),
        Reading(
            "corrected",
            Corrected(""),
            predict=_predict(limit),
            primary=True,
            note="the fixed point is sqrt((sigma^2 + lam sigma_0^2) / (1 + lam)): swapped in print",
        ),
        Reading(
            "corrected, step condition free of scale",
            Corrected(""),
            predict=scale_free_theory,
            simulate=scale_free_run,
            hypotheses=_margin(_scale_free_load),
            note="2 (lam + 2) eta max(sigma^2, sigma_0^2) < 1 is enough at every scale",
        ),
        Reading(
            "proof displays",
            Printed("", ""),
            claims=(
                *_displays(lambda x: x.sigma_0, _printed_slope, lambda lam: lam + 2),
                *_signs(_printed_slope),
            ),
        ),
        Reading(
            "proof displays, corrected",
            Corrected(""),
            predict=_predict(limit),
            claims=_displays(lambda x: x.sigma_0**2, _true_slope, lambda lam: 2 * (1 + lam)),
            note="g = (1 + lam) x (x - sigma*) (x + sigma*); g pulls to sigma_0^2, not to sigma_0",
        ),
        Reading(
            "proof displays, signs, step condition free of scale",
            Printed("", ""),
            predict=scale_free_theory,
            simulate=scale_free_run,
            hypotheses=_margin(_scale_free_load),
            claims=_signs(_true_slope),
            note="with lam > 1 a step may overshoot sigma*: P6 and P8 fail, P7 and the rate do not",
        ),
    ),
    mutants=(Mutant("half the gradient", predict=_predict(limit, share=0.5)),),
)
