"""The selective scheme switches at every other step and slides between its two flows.

Lemma 3 of Afzal et al. (2025) assumes that lambda switches at most countably often, and Theorem 2
that lambda_t is 0 or lambda. In a valley that turns back, both flows lead to the surface where
<grad R, theta - theta_0> = 0. Descent then switches as often as it steps, and tends to the flow
that stays on the surface: d theta/dt = -grad R - mu (theta - theta_0) with mu strictly between 0
and lambda, the value for which the product stays zero. So the assumption of the lemma is not met by
the scheme that it is stated for; with mu for lambda_t its equation still is the limit.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.descent import iterate_to
from theorysim.numerics.flow import integrate, statement_options
from theorysim.systems.fine_tuning import regularised_step, towards_loss
from theorysim.theorems.linearization import _valley as valley

RUNGS = (1000.0, 2000.0, 4000.0, 8000.0)
TRIAL = 4000
WINDOW = 1 / 16
"""the last part of the run, in which it slides"""
ON_SURFACE = 1e-7
BACK = 100.0
"""rate at which the flow returns to the surface, in units of 1 / horizon"""


class Slid(NamedTuple):
    """The end of descent, and of its last part how often it switched and the mean of lambda_t."""

    end: valley.Delta
    switches: Float[Array, ""]
    share: Float[Array, ""]
    """mean lambda_t, as a share of lambda"""


def simulate(x: claims.Instance, key) -> Slid:
    """Descent in x.steps steps, the condition at the point before each."""
    steps = jnp.round(x.steps).astype(int)
    loss, start, rate = valley.loss(x), jnp.array(valley.START), x.horizon / steps

    def step(state: tuple) -> tuple:
        k, delta, was_on, switches, on_steps = state
        taken = regularised_step(loss, start, delta, rate, x.strength, "old")
        on = jnp.asarray(taken.strength > 0, float)
        late = jnp.asarray(k >= (1 - WINDOW) * steps, float)
        changed = late * jnp.abs(on - was_on)
        return k + 1, taken.params, on, switches + changed, on_steps + late * on

    zero = jnp.zeros(())
    _, end, _, switches, on = iterate_to(step, (zero, start, zero, zero, zero), steps)
    return Slid(end, switches, on / (WINDOW * steps))


def _predict(held: bool = True) -> Callable:
    """The end of the flow; a mutant's is not held on the surface, and never pulled."""

    def predict(x: claims.Instance) -> valley.Delta:
        loss, start = valley.loss(x), jnp.array(valley.START)

        def field(delta: Array, strength: Array) -> Array:
            gradient = jax.grad(loss)(delta)
            product = jnp.vdot(gradient, delta)
            across = jax.grad(lambda d: towards_loss(loss, start, d))(delta)
            drift = BACK / x.horizon * product - jnp.vdot(across, gradient)
            lowers = jnp.vdot(across, delta)
            sliding = jnp.clip(drift / jnp.where(lowers > 0, lowers, 1), 0, strength)
            pulled = jnp.where(lowers > 0, sliding, strength) if held else 0.0
            return -gradient - jnp.where(product < -ON_SURFACE, 0, pulled) * delta

        times = jnp.stack([jnp.zeros(()), x.horizon])
        return integrate(field, start, times, x.strength, **statement_options(x.tolerance_scale))[
            -1
        ]

    return predict


def _slides(x: claims.Instance) -> Float[Array, ""]:
    """Switches per step in the last part of a run, above a tenth."""
    trial = simulate(x.replace(steps=jnp.asarray(float(TRIAL))), jax.random.key(0))
    return trial.switches / (WINDOW * TRIAL) - 0.1


TO_SLIDING = claims.tends_to(
    "descent to the sliding flow",
    lambda r: r.sim.end,
    lambda r: r.theory,
    over={"steps": RUNGS},
)


def _is_fine(r) -> Float[Array, ""]:
    """With steps as fine as those of the hypothesis, or finer."""
    return r.x.steps - TRIAL


CHATTERS = claims.at_least(
    "switches per step",
    lambda r: r.sim.switches / (WINDOW * jnp.round(r.x.steps)),
    lambda r: 0.05,
    where=_is_fine,
)
BETWEEN = claims.at_least(
    "mean of lambda_t, from 0 and lambda",
    lambda r: jnp.minimum(r.sim.share, 1 - r.sim.share),
    lambda r: 0.02,
    where=_is_fine,
)

theorem = claims.Theorem(
    space=claims.Space(
        steep=claims.Real(2, 5, log=True),
        bend=claims.Real(1, 3, log=True),
        level=claims.Real(0.5, 2, log=True),
        aim=claims.Real(0.2, 1, log=True),
        strength=claims.Real(1, 20, log=True),
        horizon=claims.Real(0.3, 1, log=True),
        steps=claims.Real(1000, 16000, log=True),
    ),
    simulate=simulate,
    predict=_predict(),
    hypotheses={"the scheme chatters": _slides},
    claims=(TO_SLIDING, CHATTERS, BETWEEN),
    printed="sliding",
    source=claims.Finding("what the selective descent tends to where both flows meet the surface"),
    integrates=True,
    mutants=(
        claims.Mutant("not held on the surface", predict=_predict(held=False)),
        claims.Mutant("at every step", claims=(CHATTERS.scaled(20.0), BETWEEN.scaled(20.0))),
    ),
    instances=64,
)
