"""Descent with ever smaller steps: it tends to the flow of Lemma 3, but for the selective scheme.

Lemma 3 of Afzal et al. (2025) has no figure. Here drawn models (quadratic, sine, a tanh network)
are fine-tuned with a pull that is constant or switches at given times, in 50 steps, 100, 200, and
so on, up to one time; and the selective scheme, with its condition at theta_(t-1), in a valley that
turns back, where both of its flows lead to the surface on which they change places. There lambda_t
is asked whether it is "either 0 or lambda" and "switches at most countably often": the sliding flow
(selective-sliding) has a pull between them, and descent switches at a share of all its steps.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _valley as valley
from theorysim.theorems.linearization import lemma_3, selective_sliding

FEWEST, FEWEST_SELECTIVE = 50, 1000
FAMILIES = (0.0, 1.0, 2.0)
SCHEDULES = (0.0, 1.0)
HORIZON = 5.0
"""of the drawn models, in units of the fastest time"""
STEEP, BEND, LEVEL, END = 3.0, 2.0, 1.0, 0.3
"""the valley, and the time up to which descent runs through it"""
QUARTER = 0.25
"""powers are told from the next halves"""


class Refined(NamedTuple):
    """By the number of halvings of the step size; of selective runs the last part is told."""

    error: Float[Array, "schedule model halving"]
    """distance of the end from that of the flow"""
    selective_error: Float[Array, "halving"]
    """distance of the end from that of the sliding flow"""
    switches: Float[Array, "halving"]
    """the share of steps at which lambda_t changes"""
    sliding_switches: Float[Array, "halving"]
    pull: Float[Array, "halving"]
    """the mean of lambda_t, in units of lambda"""
    sliding_pull: Float[Array, "halving"]


Steps = Callable[[Array, int], Array]
"""(number of halvings, steps at first) -> steps"""


def _halved(halving: Array, first: int) -> Array:
    return first * 2.0**halving


def _never(halving: Array, first: int) -> Array:
    return jnp.full_like(halving, first)


def _refined(
    x: claims.Instance, key: Array, steps: Steps, selective: Callable[..., selective_sliding.Slid]
) -> Refined:
    halvings = jnp.arange(x.halvings, dtype=jnp.float32)
    keys = jax.random.split(key, 5)

    def error(schedule: Array, family: Array, key: Array) -> Float[Array, "halving"]:
        space = lemma_3.theorem.space
        drawn = space.sample(key, space.default_sizes()).replace(
            family=family, switching=schedule, horizon=jnp.asarray(HORIZON)
        )
        flow = lemma_3.theorem.predict(drawn)

        def at(halving: Array) -> Float[Array, ""]:
            end = lemma_3.simulate(drawn.replace(steps=steps(halving, FEWEST)), key)
            return jnp.linalg.norm(end - flow) / jnp.linalg.norm(flow)

        return jax.vmap(at)(halvings)

    def errors(schedule: Array) -> Float[Array, "model halving"]:
        families = jnp.asarray(FAMILIES)
        return jax.vmap(lambda f, k: error(schedule, f, k))(families, keys[: len(FAMILIES)])

    turning = _turning_valley(keys[3])
    sliding = selective_sliding.theorem.predict(turning)
    found = jax.vmap(
        lambda halving: selective(
            turning.replace(steps=steps(halving, FEWEST_SELECTIVE)),
            jax.random.fold_in(keys[4], halving.astype(int)),
        )
    )(halvings)
    return Refined(
        error=jax.vmap(errors)(jnp.asarray(SCHEDULES)),
        selective_error=jnp.linalg.norm(found.end - sliding.end, axis=-1),
        switches=found.switches,
        sliding_switches=jnp.full_like(halvings, sliding.switches),
        pull=found.share,
        sliding_pull=jnp.full_like(halvings, sliding.share),
    )


def _turning_valley(key: Array) -> claims.Instance:
    """One in which the flow slides until `END`: its aim and its pull are drawn."""
    space = selective_sliding.theorem.space
    aim, strength = jax.random.uniform(key, (2,))
    return space.sample(key, space.default_sizes()).replace(
        steep=jnp.asarray(STEEP),
        bend=jnp.asarray(BEND),
        level=jnp.asarray(LEVEL),
        horizon=jnp.asarray(END),
        aim=0.5 + 0.2 * aim,
        strength=0.5 * 10**strength,
    )


def _by_a_coin(x: claims.Instance, key: Array) -> selective_sliding.Slid:
    """What a fair coin in the place of the condition would do to lambda_t."""
    late = selective_sliding.WINDOW * x.steps
    switches, pulls = jax.random.binomial(key, late, 0.5, (2,)) / late
    return selective_sliding.Slid(jnp.array(valley.START), pulls, switches)


def simulate(x: claims.Instance, key: Array) -> Refined:
    """Descent at every step size, and the flows."""
    return _refined(x, key, _halved, selective_sliding.simulate)


def unrefined(x: claims.Instance, key: Array) -> Refined:
    """The null whose steps stay as long as they were, and which pulls by a coin."""
    return _refined(x, key, _never, _by_a_coin)


def axes(x: claims.Instance) -> dict[str, object]:
    """Schedules, models, and halvings of the step size."""
    return {
        "schedule": np.asarray(("constant", "switching")),
        "model": np.asarray(("quadratic", "sine", "tanh network")),
        "halving": np.arange(x.halvings),
    }


def _order(r: claims.Run) -> Float[Array, "run schedule model"]:
    """p in error ~ (step size)^p, by least squares."""
    halvings = jnp.arange(r.x.halvings) - (r.x.halvings - 1) / 2
    return -jnp.sum(jnp.log2(r.sim.error) * halvings, axis=-1) / jnp.sum(halvings**2)


def _tends(name: str, part: str, printed: bool = True) -> claims.Claim:
    return claims.on_average(
        name,
        lambda r: jnp.log(getattr(r.sim, part)[..., 1:]),
        lambda r: jnp.log(getattr(r.sim, part)[..., :-1]),
        statement="the error falls at every halving of the step size",
        printed=printed,
    )


def _switches(sim: Refined) -> Float[Array, "run halving"]:
    """How much nearer the share of steps that switch is to the sliding flow's than to none."""
    return sim.switches - jnp.abs(sim.switches - sim.sliding_switches)


def _between(sim: Refined) -> Float[Array, "run halving"]:
    """How much nearer the mean of lambda_t is to the sliding flow's than to 0 and to lambda."""
    return jnp.minimum(sim.pull, 1 - sim.pull) - jnp.abs(sim.pull - sim.sliding_pull)


theorem = claims.Experiment(
    space=claims.Space(halvings=claims.Size(6, low=2, high=10)),
    simulate=simulate,
    claims=(
        _tends("descent tends to the flow", "error"),
        claims.on_average(
            "of first order",
            lambda r: jnp.abs(_order(r) - 1),
            lambda r: QUARTER,
            statement="|p - 1| < 1/4 where the error is like (step size)^p",
            printed=False,
        ),
        _tends("selective: descent tends to the sliding flow", "selective_error", printed=False),
        # A lambda_t of the values 0 and lambda that switches a few times can have any mean over a
        # stretch: the paper is contradicted by both together.
        claims.on_average(
            "selective: lambda_t is 0 or lambda, switching countably often",
            lambda r: jnp.minimum(_switches(r.sim), _between(r.sim))[:, -1],
            lambda r: 0.0,
            statement="at the smallest steps, the share of them that switch is nearer to none, or "
            "the mean of lambda_t over the last part nearer to 0 or lambda, than to the sliding "
            "flow's",
        ),
    ),
    source=claims.Printed(
        "slides, Section 3, Lemma 3 and Theorem 2",
        "Let theta_t be the gradient flow limit of the regularized fine-tuning gradient descent "
        "described above. If we assume that lambda switches at most countably often [...] "
        "d theta_t/dt = -grad R - lambda_t (theta_t - theta_0) [...] Denote the instantaneous "
        "value of the regularization parameter by lambda_t, which can be either 0 or lambda",
    ),
    note="small models; the valley is one in which both flows of the selective scheme meet",
    mutants=(claims.Mutant("no smaller steps, and a coin for the condition", simulate=unrefined),),
    axes=axes,
    keys=16,
)
