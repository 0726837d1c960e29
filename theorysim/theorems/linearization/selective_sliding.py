"""The selective scheme switches at a share of its steps and slides between its two flows.

Lemma 3 of Afzal et al. (2025) assumes that lambda switches at most countably often, and Theorem 2
that lambda_t is 0 or lambda. In a valley that turns back, both flows lead to the surface where
<grad R, theta - theta_0> = 0. Descent then tends to the flow that stays on the surface,
d theta/dt = -grad R - mu (theta - theta_0) with mu strictly between 0 and lambda, the value for
which the product stays zero. It switches in proportion to its steps, without bound, and the mean of
lambda_t over a stretch of the run tends to that of mu: no lambda_t of the values 0 and lambda is
the limit. So the assumption of the lemma is not met by the scheme that it is stated for; with mu
for lambda_t its equation still holds. The condition is taken at theta_(t-1), where it is defined;
that the limit slides in the last part of the run is asked of the sliding flow alone.
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

RUNGS = (1000.0, 4000.0, 16000.0)
WINDOW = 1 / 8
"""the last part of the run"""
LATE = tuple(1 - WINDOW * (1 - k / 16) for k in range(17))
"""times of it that are kept, as shares of the horizon"""
ON_SURFACE = 1e-7
BACK = 100.0
"""rate at which the flow returns to the surface, in units of 1 / horizon"""


class Slid(NamedTuple):
    """The end, and of the last part the mean of lambda_t and the switches per step."""

    end: valley.Delta
    share: Float[Array, ""]
    """mean lambda_t, as a share of lambda"""
    switches: Float[Array, ""]


class Sliding(NamedTuple):
    """What a `Slid` tends to, and whether the flow is on the surface in the last part."""

    end: valley.Delta
    share: Float[Array, ""]
    switches: Float[Array, ""]
    """two for every step of the rarer kind: no two steps of it follow each other"""
    inside: Float[Array, ""]
    """the least distance of mu / lambda from 0 and 1, negative where the flow is off the surface"""


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
    return Slid(end, on / (WINDOW * steps), switches / (WINDOW * steps))


def _needed(x: claims.Instance, delta: valley.Delta) -> Float[Array, ""]:
    """mu / lambda for which the product <grad R, delta> stays zero; 2 where no pull lowers it."""
    loss, start = valley.loss(x), jnp.array(valley.START)
    gradient = jax.grad(loss)(delta)
    across = jax.grad(lambda d: towards_loss(loss, start, d))(delta)
    drift = BACK / x.horizon * jnp.vdot(gradient, delta) - jnp.vdot(across, gradient)
    lowers = x.strength * jnp.vdot(across, delta)
    share = jnp.where(lowers > 0, drift / jnp.where(lowers > 0, lowers, 1), 2)
    return jnp.where(jnp.vdot(gradient, delta) < -ON_SURFACE, -1, share)


def _flow(pull: Callable[[Array], Array]) -> Callable[[claims.Instance], Sliding]:
    """The sliding flow; `pull` makes the share of lambda of the needed one."""

    def predict(x: claims.Instance) -> Sliding:
        def field(state: tuple, strength: Array) -> tuple:
            share = pull(_needed(x, state[0]))
            delta = -jax.grad(valley.loss(x))(state[0]) - strength * share * state[0]
            return delta, share, 2 * jnp.minimum(share, 1 - share)

        times = x.horizon * jnp.array((0.0, *LATE))
        state = jnp.array(valley.START), jnp.zeros(()), jnp.zeros(())
        options = statement_options(x.tolerance_scale)
        path, *sums = integrate(field, state, times, x.strength, **options)
        means = ((total[-1] - total[1]) / (WINDOW * x.horizon) for total in sums)
        needed = jax.vmap(lambda delta: _needed(x, delta))(path[1:])
        return Sliding(path[-1], *means, inside=jnp.min(jnp.minimum(needed, 1 - needed)))

    return predict


def _held(share: Array) -> Array:
    return jnp.clip(share, 0, 1)


def _tends(name: str, part: str) -> claims.Claim:
    """A part of the run tends to that of the flow."""
    return claims.tends_to(
        name,
        lambda r: getattr(r.sim, part),
        lambda r: getattr(r.theory, part),
        over={"steps": RUNGS},
    )


TO_SLIDING = _tends("descent to the sliding flow", "end")
BETWEEN = _tends("mean of lambda_t to that of mu", "share")
CHATTERS = _tends("switches per step to twice the rarer kind's share", "switches")

theorem = claims.Theorem(
    space=valley.space(
        horizon=claims.Real(0.1, 3, log=True), steps=claims.Real(1000, 16000, log=True)
    ),
    simulate=simulate,
    predict=_flow(_held),
    hypotheses={"0 < mu < lambda in the last part": lambda x: _flow(_held)(x).inside},
    claims=(TO_SLIDING, BETWEEN, CHATTERS),
    printed="sliding",
    source=claims.Finding("what the selective descent tends to where both flows meet the surface"),
    integrates=True,
    # A flow that is hardly pulled is near one that is not: mutants change what all instances have.
    mutants=(
        claims.Mutant("pulled at every step", predict=_flow(jnp.ones_like)),
        claims.Mutant(
            "the share of steps that do not switch",
            claims=(
                claims.tends_to(
                    CHATTERS.name,
                    lambda r: r.sim.switches,
                    lambda r: 1 - r.theory.switches,
                    over={"steps": RUNGS},
                ),
            ),
        ),
    ),
    instances=64,
)
