"""At the printed step size and number of steps online SGD finds the perturbation.

Theorem 4 of Dayi and Chen (2024), xi = 1: with eta and T as printed, for a sufficiently small
C_delta, <u_T, u>^2 >= 1 - epsilon with high probability over the data, on signs for which |h(0)| >=
gamma (mu_1 != 0) or gamma / sqrt(k), whatever the information exponent: 1 for ReLU, 2 for |a|, 3
for the third Hermite polynomial. Online SGD is run as printed, on the reduced chain, from
sign(h(0)) / sqrt(d), with gamma = 1, constants of the activation left out, at small d and large
epsilon. C_delta has no printed value: it falls from 64 to 4, T growing as 1 / C_delta to some ten
thousands, and the share of runs that fail must vanish.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.gaussian import hermite
from theorysim.theorems.low_rank._printed_runs import finish
from theorysim.theorems.low_rank._recovery import (
    Setting,
    even,
    odd,
    recovery_space,
)
from theorysim.theorems.low_rank._schedule import Order, schedule


def _one(x: claims.Instance) -> float:
    return 1.0


def _least(x: claims.Instance):
    """lambda_min^2."""
    return jnp.min(x.readout) ** 2


def _largest(x: claims.Instance):
    return jnp.max(x.readout)


def _order(power: float) -> Order:
    """S = lambda_min^2 k^power and V = lambda_max^4 k^2."""
    return Order(lambda x: _least(x) * x.k**power, lambda x: _largest(x) ** 4 * x.k**2)


def _run(setting: Setting, order: Order, faster: float = 1.0):
    """m_T, with T divided by `faster`."""

    def simulate(x: claims.Instance, key):
        made, start = schedule(x, order, _largest(x)), 1 / jnp.sqrt(x.dimension)
        steps = jnp.ceil(made.steps) / faster
        given, value = setting.reduced(x), setting.activation().value
        return finish(given, value, start, x.dimension, made.rate, steps, key).overlap

    return simulate


def _fast(setting: Setting, share: float, power: float) -> dict:
    """The event on the signs, |h(0)| >= share k^power: `share` is gamma C_sigma."""

    def margin(x: claims.Instance):
        return setting.start_speed(setting.problem(x)) - share * x.k**power

    return {"|h(0)| is not small": margin}


ODD, EVEN = Setting(True, _one, odd), Setting(True, _one, even)
CUBIC = Setting(True, _one, lambda: hermite(3))

FOUND = (
    claims.tends_to(
        "<u_T, u>^2 < 1 - epsilon",
        lambda r: jnp.mean(r.sim**2 < 1 - r.x.epsilon, axis=0),
        lambda r: 0.0,
        over={"constant": (64.0, 16.0, 4.0)},
    ),
)

SOURCE = claims.Printed(
    "Theorem 4, Section 2.2.1", "satisfies <u_T, u>^2 >= 1 - epsilon with high probability"
)


def _reading(name: str, setting: Setting, order: Order, event: dict) -> claims.Reading:
    return claims.Reading(name, SOURCE, simulate=_run(setting, order), hypotheses=event)


EVENT, EVEN_EVENT = _fast(ODD, 0.2, 0.0), _fast(EVEN, 0.4, -0.5)

theorem = claims.Theorem(
    space=recovery_space(
        k=claims.Size(3, low=2, high=5),
        dimension=claims.Real(8, 12, log=True),
        epsilon=claims.Real(0.75, 0.9),
        constant=claims.Real(4, 64, log=True),
    ),
    simulate=_run(ODD, _order(0.0)),
    claims=FOUND,
    hypotheses=EVENT,
    printed="ReLU",
    source=SOURCE,
    readings=(
        _reading("|a|", EVEN, _order(-0.5), EVEN_EVENT),
        _reading("third Hermite polynomial", CUBIC, _order(-0.5), _fast(CUBIC, 0.4, -0.5)),
    ),
    mutants=(
        claims.Mutant("T over 1000", simulate=_run(ODD, _order(0.0), 1000.0)),
        claims.Mutant("T over 1000, |a|", of=("|a|",), simulate=_run(EVEN, _order(-0.5), 1000.0)),
        claims.Mutant(
            "no step, third Hermite polynomial",
            of=("third Hermite polynomial",),
            simulate=_run(CUBIC, _order(-0.5), 1e9),
        ),
    ),
    keys=32,
    instances=4,
    mutant_instances=4,
)
