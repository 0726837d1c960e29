"""Near the ideal start the perturbed loss is off by at most half the square of the least feature.

Lemma A.6 of Springer et al. (2025): |L~(theta^n) - L~(ideal^n)| <= (pre_d)^2 / 2 under Assumption
A.2, for factors within e = exp(-C tau) of the ideal ones (Theorem A.1). Factors are drawn at a
share of the largest admissible distance, in any direction; another reading takes states of the
flow itself. The displays of the proof are readings of their own.
"""

from __future__ import annotations

from collections.abc import Callable

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
    Theorem,
    at_most,
    equal,
)
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining._finetuning import factors, ideal_start, pre_spectrum
from theorysim.theorems.overtraining._perturbation import (
    corrected_radius,
    move_by,
    move_in_ball,
    perturbation_space,
    perturbed_loss_rise,
    printed_radius,
    target,
    variance,
)


def _norm(matrix):
    return jnp.linalg.norm(matrix, axis=(-2, -1))


def _compare(x: Instance, move, distance):
    """What the lemma and its proof bound: a state against the ideal start, from the move to it."""
    ideal = ideal_start(x)
    state = move_by(ideal, move)
    return {
        "e": distance,
        "rise": perturbed_loss_rise(x, ideal, move),
        "norms": jnp.stack([jnp.sum(m * (w + i)) for m, w, i in zip(move, state, ideal)]),
        "product": _norm(dot(ideal[0], move[1]) + dot(move[0], state[1])),
        "products": _norm(dot(*state) + dot(*ideal) - 2 * target(x)),
        "loss rise": perturbed_loss_rise(x.replace(noise=0 * x.noise), ideal, move),
        "loss": jnp.sum((dot(*state) - target(x)) ** 2),
        "printed loss": jnp.sum((dot(*ideal) - target(x)) ** 2)
        + x.d * variance(x) * sum(jnp.sum(w**2) for w in state),
    }


def _simulate(radius: Callable) -> Callable:
    """Factors at a share of the radius from the ideal ones."""

    def simulate(x: Instance, key):
        e = x.share * radius(x)
        ways = zip(ideal_start(x), (x.first, x.second))
        return _compare(x, [move_in_ball(w, e, way, x.aligned) for w, way in ways], e)

    return simulate


def _flow_modes(x: Instance):
    """Modes of the flow from W_1 = W_2 = e^(-tau) I, U = V, when the last one lags behind.

    The closed form of separate modes (statement eq-5-6) at the time when mode d is within a share
    of the printed radius of its end; all others are closer.
    """
    pre = pre_spectrum(x)
    last = jnp.sqrt(pre[-1]) - x.share * printed_radius(x)
    gap = 2 * x.tau + jnp.log(pre - jnp.exp(-2 * x.tau))
    time = (gap[-1] - jnp.log(pre[-1] / last**2 - 1)) / (4 * pre[-1])
    return jnp.sqrt(pre / (1 + jnp.exp(gap - 4 * pre * time)))


def _flow_distance(x: Instance):
    return jnp.linalg.norm(jnp.sqrt(pre_spectrum(x)) - _flow_modes(x))


def _simulate_flow(x: Instance, key):
    full = x.replace(n=0 * x.n + x.d)
    lag = _flow_modes(x) - jnp.sqrt(pre_spectrum(x))
    return _compare(full, factors(full, lag), _flow_distance(x))


def _half_square(r: Run):
    return pre_spectrum(r.x)[-1] ** 2 / 2


def _displays(frobenius: Callable, operator: Callable, tail: Callable, mixed: Callable):
    """P1 to P5, with what the proof uses for the norms of the ideal factors.

    `frobenius(x)` bounds |W_j|_F times 1 in P1, `operator(x)` the mean factor norm in P2, `tail(x)`
    is |ideal product - A|_F in P3, `mixed(x)` the final factor of e in P5.
    """

    def e(r: Run):
        return r.sim["e"]

    def near(r: Run):
        return 2 * e(r) * operator(r.x) + e(r) ** 2

    return (
        at_most(
            "P1: norms of the factors",
            lambda r: jnp.abs(r.sim["norms"]),
            lambda r: (2 * e(r) * frobenius(r.x) + e(r) ** 2)[:, None],
        ),
        at_most("P2: product", lambda r: r.sim["product"], near),
        at_most(
            "P3: sum of the products",
            lambda r: r.sim["products"],
            lambda r: near(r) + e(r) ** 2 + 2 * tail(r.x),
        ),
        at_most(
            "P4: loss",
            lambda r: jnp.abs(r.sim["loss rise"]),
            lambda r: mixed(r.x.replace(noise=0 * r.x.noise)) * e(r),
        ),
        at_most(
            "P5: perturbed loss", lambda r: jnp.abs(r.sim["rise"]), lambda r: mixed(r.x) * e(r)
        ),
    )


def _largest(x: Instance):
    return pre_spectrum(x)[0]


def _root(x: Instance):
    return jnp.sqrt(_largest(x))


PRINTED_DISPLAYS = (
    *_displays(
        _largest,
        lambda x: jnp.sqrt(x.d) * _largest(x),
        lambda x: jnp.sqrt(x.d) * _largest(x),
        lambda x: 8 * x.d * _largest(x) * (2 * _largest(x) + variance(x)),
    ),
    equal("P6: noise and loss", lambda r: r.sim["loss"], lambda r: r.sim["printed loss"]),
)

CORRECTED_DISPLAYS = _displays(
    lambda x: jnp.sqrt(x.d) * _root(x),
    _root,
    lambda x: jnp.sqrt(x.d) * _largest(x),
    lambda x: 3 * jnp.sqrt(x.d) * _root(x) * (5 * _largest(x) + 2 * x.d * variance(x)),
)

STATEMENT = (at_most("perturbed loss", lambda r: jnp.abs(r.sim["rise"]), _half_square),)


theorem = Theorem(
    space=perturbation_space(
        scale=Real(1e-6, 10, log=True),
        noise=Real(1e-3, 1e3, log=True),
        first=Gaussian("d", "d"),
        second=Gaussian("d", "d"),
        aligned=Real(-1, 1),
        share=Real(0, 1),
        tau=Real(10, 40),
    ),
    simulate=_simulate(printed_radius),
    instances=128,
    claims=STATEMENT,
    readings=(
        Reading(
            "states of the flow",
            Printed("", ""),
            simulate=_simulate_flow,
            hypotheses={"Assumption A.2": lambda x: printed_radius(x) - _flow_distance(x)},
            note="the counterexamples are not far-fetched: the flow passes through some",
        ),
        Reading(
            "corrected",
            Corrected(""),
            simulate=_simulate(corrected_radius),
            primary=True,
            note="A.2 must bound e by pre_d^2 / (6 sqrt(d pre_1) (5 pre_1 + 2 d gamma^2)): factors "
            "have norms of order sqrt(pre_1), for which the proof takes pre_1",
        ),
        Reading("proof displays", Printed("", ""), claims=PRINTED_DISPLAYS),
        Reading(
            "proof displays, corrected",
            Corrected(""),
            simulate=_simulate(corrected_radius),
            claims=CORRECTED_DISPLAYS,
            note="sqrt(d pre_1) and sqrt(pre_1) bound the norms of the ideal factors; P6 is Eq. 15",
        ),
    ),
    mutants=(
        Mutant("twenty times as far away", simulate=_simulate(lambda x: 20 * corrected_radius(x))),
    ),
)
