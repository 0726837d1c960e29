"""What the noise of the steps adds up to along a run (Appendix B.1 and B.2), on the reduced chain.

Runs take T = alpha d V steps of size eta = delta / (d V) at xi = 1 on orthonormal features with
ReLU. V is the least for which Condition 2, which demands V >= 1, holds with a constant of one where
a run starts; there the second moment of the gradient is E[a^2]. With V far below 1, for which the
proofs have no factors 1 / sqrt(V), the chances of Claim 6 first rise with d.
delta is a share of the largest that a claim allows. The noise E is what a gradient has beyond the
population's, which is Proposition 1's.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from theorysim import claims
from theorysim.claims.hypotheses import Margin
from theorysim.systems import rank_one_chain as chain
from theorysim.systems.rank_one import RankOne
from theorysim.systems.rank_one_walk import Rules, Walk, walk
from theorysim.theorems.low_rank._recovery import Setting, odd

SETTING = Setting(True, lambda x: 1.0, odd)
DIMENSIONS = (32.0, 64.0, 128.0, 256.0, 512.0)
STEPS = 1024  # the largest T, at the last dimension
DRAWS = 256
BETAS, EPSILONS = (0.25, 1.0, 4.0), (0.96, 0.48, 0.24, 0.12, 0.06, 0.03)


def noise_space(**fields: claims.Field | claims.Size) -> claims.Space:
    """Problems of the convergence theorems with alpha, a share of delta, beta and epsilon."""
    given: dict[str, claims.Field | claims.Size] = {
        "k": claims.Size(5, low=2, high=30),  # d is 32 at least
        "readout": claims.Real(0.6, 1.2, log=True, shape="k"),
        "teacher": claims.Real(-1, 1, shape="k"),
        "student": claims.Real(-1, 1, shape="k"),
        "dimension": claims.Real(32, 512, log=True),
        "alpha": claims.Real(0.25, 1, log=True),
        "share": claims.Real(0.5, 1),
        "beta": claims.Real(0.25, 4, log=True),
        "epsilon": claims.Real(0.03, 0.96, log=True),
    }
    return claims.Space(**{**given, **fields})


class Regime(NamedTuple):
    """A problem, V, and S, the largest of Condition 3."""

    problem: RankOne
    variance: Float[Array, ""]
    signal: Float[Array, ""]


class Plan(NamedTuple):
    """What a run is made with: eta and T."""

    regime: Regime
    rate: Float[Array, ""]
    steps: Float[Array, ""]


class Sums(NamedTuple):
    """A sum over the steps of a run, at T; its infimum and its supremum over t = 1, ..., T."""

    total: Float[Array, ""]
    lowest: Float[Array, ""]
    highest: Float[Array, ""]


def run(
    x: claims.Instance,
    key: PRNGKeyArray,
    delta: Callable[[claims.Instance, Regime], Array],
    increment: Callable[[Plan, chain.Step], Array],
) -> Sums:
    """What the increments of a run's steps add up to, from an overlap of beta / sqrt(d)."""
    given, activation = SETTING.reduced(x), SETTING.activation()
    regime = Regime(given, variance_bound(x), SETTING.start_speed(given) / 2)
    volume = x.dimension * regime.variance
    rate, steps = delta(x, regime) / volume, jnp.minimum(x.alpha * volume, STEPS)

    def goes_on(plan: Plan, walk: Walk) -> Bool[Array, ""]:
        return walk.steps < plan.steps

    def add(plan: Plan, walk: Walk, step: chain.Step) -> Sums:
        total = walk.noted.total + increment(plan, step)
        lowest, highest = walk.noted[1:]
        return Sums(total, jnp.minimum(lowest, total), jnp.maximum(highest, total))

    start = chain.begin(given, x.beta / jnp.sqrt(x.dimension))
    nothing = Sums(*map(jnp.asarray, (0.0, jnp.inf, -jnp.inf)))
    plan, rules = Plan(regime, rate, steps), Rules(activation.value, goes_on, add)
    return walk(given, rules, start, x.dimension, rate, key, until=plan, noted=nothing).noted


def small_delta(x: claims.Instance, _: Regime):
    """alpha delta^2 <= epsilon^2 / log d."""
    return x.share * x.epsilon / jnp.sqrt(x.alpha * jnp.log(x.dimension))


def threshold(x: claims.Instance):
    """beta / (10 sqrt(d))."""
    return x.beta / (10 * jnp.sqrt(x.dimension))


def variance_bound(x: claims.Instance) -> Float[Array, ""]:
    """V = max{E[a^2], 1} at an overlap of beta / sqrt(d)."""
    given, start = SETTING.reduced(x), x.beta / jnp.sqrt(x.dimension)
    activation, fixed = SETTING.activation().value, jax.random.key(0)
    return jnp.maximum(chain.mean_square_pull(given, activation, start, fixed, DRAWS), 1.0)


def room(x: claims.Instance):
    """Margin of T <= STEPS in all dimensions, which a large second moment would exceed."""
    return STEPS - x.alpha * DIMENSIONS[-1] * variance_bound(x)


FITS: dict[str, Margin] = {"T fits into the run": room}

# What Claims 6 to 9 have in common.
SETUP: dict[str, Any] = {
    "space": noise_space(),
    "hypotheses": FITS,
    "keys": 64,
    "instances": 16,
    "mutant_instances": 16,
}


def rarely(name: str, event: Callable, bound: Callable, **ladders: tuple[float, ...]):
    """The frequency of an event over the runs is at most a constant times the bound."""
    return claims.exists_constant(
        name,
        lambda r: jnp.mean(event(r), axis=0),
        lambda r: bound(r.x),
        over={"dimension": DIMENSIONS, **ladders},
    )
