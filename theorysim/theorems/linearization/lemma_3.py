"""Regularised descent follows d theta/dt = -grad R - lambda_t (theta - theta_0) in small steps.

Lemma 3 of Afzal et al. (2025), for a pull that is constant or switches at given times. The
appendix derives it in lines a to d from one step; the substitution that leads to line b, and
line d, are misprinted.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import (
    Choice,
    Gaussian,
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Theorem,
    equal,
    scales_as,
    tends_to,
)
from theorysim.numerics.descent import iterate_to
from theorysim.numerics.flow import integrate, statement_options
from theorysim.systems.fine_tuning import regularised_step
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models

SWITCHES = (0.0, 0.2, 0.5, 0.9, 1.0)
RUNGS = (100.0, 200.0, 400.0, 800.0)


def _end(x: Instance):
    return x.horizon * flow.time_scale(x, x.strength)


def _is_on(x: Instance, share):
    """Whether the pull acts at a share of the time: always, or off twice, between the switches."""
    off = ((share > SWITCHES[1]) & (share < SWITCHES[2])) | (share > SWITCHES[3])
    return jnp.where(off, 1 - x.switching, 1.0)


def simulate(x: Instance, key):
    """Parameters at the end of descent in x.steps steps."""
    steps = jnp.round(x.steps).astype(int)
    loss, rate = models.loss(x), _end(x) / steps

    def step(state):
        k, delta = state
        strength = x.strength * _is_on(x, (k + 0.5) / steps)
        return k + 1, regularised_step(loss, models.start(x), delta, rate, strength).params

    return {"end": iterate_to(step, (jnp.zeros(()), models.start(x)), steps)[1]}


def predict(x: Instance):
    slope = jax.grad(models.loss(x))

    def field(delta, strength):
        return -slope(delta) - strength * delta

    def segment(delta, ends):
        strength = x.strength * _is_on(x, jnp.mean(ends))
        times = _end(x) * ends
        options = statement_options(x.tolerance_scale)
        return integrate(field, delta, times, strength, **options)[-1], None

    segments = jnp.stack([jnp.array(SWITCHES[:-1]), jnp.array(SWITCHES[1:])], axis=1)
    delta, _ = jax.lax.scan(segment, models.start(x), segments)
    return {"end": delta}


def _anchored(x: Instance):
    """theta_0, theta_t, and the gradient there, in coordinates in which theta_0 is not zero."""
    delta = jnp.ravel(x.way)
    return jnp.ravel(x.anchor), jnp.ravel(x.anchor) + delta, jax.grad(models.loss(x))(delta)


def _rate(x: Instance):
    return x.shrink / x.strength


def simulate_step(x: Instance, key):
    """One step of the scheme from theta_t, and its intermediate point."""
    anchor, theta, _ = _anchored(x)

    def loss(theta):
        return models.loss(x)(theta - anchor)

    def step(strength):
        return regularised_step(loss, anchor, theta, _rate(x), strength).params

    return {"next": step(x.strength), "half": step(0.0)}


def predict_step(x: Instance):
    """The right sides of the lines, as far as they do not contain theta_(t+1)."""
    anchor, theta, gradient = _anchored(x)
    rate, shrink, strength = _rate(x), x.shrink, x.strength
    down = (1 - shrink) * gradient
    return {
        "a": theta - rate * gradient - shrink * (theta - rate * gradient - anchor),
        "b": theta - rate * gradient,
        "c": (1 - shrink) * theta - rate * down + shrink * anchor,
        "d": -strength * theta - down + shrink * anchor,
        "d, corrected": -strength * theta - down + strength * anchor,
        "anchor": anchor,
        "theta": theta,
    }


def _pulled(r):
    """(lambda eta / (1 - lambda eta)) (theta_(t+1) - theta_0)."""
    return r.x.shrink / (1 - r.x.shrink) * (r.sim["next"] - r.theory["anchor"])


def _velocity(r):
    return (r.sim["next"] - r.theory["theta"]) / _rate(r.x)


def _lines(factor: float) -> tuple:
    return (
        equal("a", lambda r: r.sim["next"], lambda r: factor * r.theory["a"]),
        equal("b", lambda r: r.sim["next"], lambda r: factor * (r.theory["b"] - _pulled(r))),
        equal("c", lambda r: r.sim["next"], lambda r: factor * r.theory["c"]),
    )


def _substitution(factor):
    return equal(
        "the half step from the whole one",
        lambda r: r.sim["half"] - r.theory["anchor"],
        lambda r: factor(r.x) * (r.sim["next"] - r.theory["anchor"]),
        statement="~theta - theta_0 = (lambda eta / (1 - lambda eta)) (theta_(t+1) - theta_0)",
    )


def _line_d(name: str, factor: float = 1.0):
    return equal("d", _velocity, lambda r: factor * r.theory[name])


def _single_step(name: str, claims: tuple, note: str = "") -> Reading:
    return Reading(
        name,
        Printed("", ""),
        predict=predict_step,
        simulate=simulate_step,
        claims=claims,
        note=note,
    )


def _end_of_descent(r):
    return r.sim["end"]


LIMIT = tends_to(
    "descent to the flow",
    _end_of_descent,
    lambda r: r.theory["end"],
    over={"steps": RUNGS},
)

theorem = Theorem(
    space=models.model_space(
        strength=Real(0.05, 100, log=True),
        horizon=Real(0.1, 5, log=True),
        switching=Choice(0.0, 1.0),
        steps=Real(100, 1000, log=True),
        shrink=Real(0.01, 0.9, log=True),
        anchor=Gaussian("n", models.HIDDEN),
        way=Gaussian("n", models.HIDDEN),
    ),
    simulate=simulate,
    predict=predict,
    claims=(LIMIT,),
    integrates=True,
    readings=(
        Reading(
            "of first order in the step",
            Printed("", ""),
            claims=(
                scales_as(
                    "distance to the flow",
                    lambda r: jnp.linalg.norm(r.sim["end"] - r.theory["end"]),
                    over={"steps": RUNGS},
                    exponent=-1,
                    relation="at_most",
                ),
            ),
        ),
        _single_step("proof lines a to c", _lines(1.0)),
        _single_step(
            "substitution in line b",
            (_substitution(lambda x: x.shrink / (1 - x.shrink)),),
            "the factor is 1 / (1 - lambda eta); line b itself is right",
        ),
        _single_step("substitution, corrected", (_substitution(lambda x: 1 / (1 - x.shrink)),)),
        _single_step("line d", (_line_d("d"),), "lambda theta_0, not lambda eta theta_0"),
        _single_step("line d, corrected", (_line_d("d, corrected"),)),
    ),
    mutants=(
        Mutant(
            "twice the pull, lines off by a tenth",
            predict=lambda x: {**predict(x.replace(strength=2 * x.strength)), **predict_step(x)},
            simulate=lambda x, key: {**simulate(x, key), **simulate_step(x, key)},
            claims=(
                LIMIT,
                *_lines(1.1),
                _substitution(lambda x: 1.1 / (1 - x.shrink)),
                _line_d("d, corrected", 1.1),
            ),
        ),
    ),
    instances=32,
)
