"""The selective scheme at work: how often it pulls, how far it goes, whether the loss ever rises.

Section 3 of Afzal et al. (2025) pulls to the start only where <grad R, theta - theta_0> >= 0, and
says below Theorem 1 that the loss then never rises. There is no figure of it. Here a tanh network
that was pretrained on digits is fine-tuned on another question about them, in all weights, by
descent on all examples and on batches of 16 (whose own loss is the R of a step), with the condition
at theta_(t-1) ("old") and after the gradient step ("intermediate"), beside a pull that is always
on. The linearised model, trained with the pull always on, is known in closed form; trained by the
selective scheme it is never pulled (ridge-selective). What rounding may part from the run without a
pull counts as equal to it: a scheme that does not pull is neither nearer nor farther. That no step
raises its loss is shown of a pull at every step, too, so that it says nothing of the choice.
"""

from enum import Enum
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import linearized
from theorysim.systems.fine_tuning import Scheme, regularised_step, squared_loss
from theorysim.theorems.linearization import _digits as digits
from theorysim.theorems.linearization import _table as table
from theorysim.theorems.linearization.table_1 import STRENGTHS as PRINTED

STRENGTHS = PRINTED[:-1]
SCHEMES: tuple[Scheme, ...] = ("always", "old", "intermediate")
SELECTIVE = 1
"""the schemes from here on choose"""
TRAININGS = ("all examples", "batches")
BATCH = 16
STABLE = table.STABLE
ALL, BATCHES = range(len(TRAININGS))
ROUNDING = float(jnp.finfo(jnp.float32).eps)


class Selected(NamedTuple):
    """What became of every run, and of one without a pull."""

    active: Float[Array, "training scheme strength"]
    """the share of steps that pull, the first left out: it starts where the product is zero"""
    rises: Float[Array, "training scheme strength"]
    """the number of steps that raise the loss that they descend"""
    distance: Float[Array, "training scheme strength"]
    gap: Float[Array, "training scheme strength"]
    """||f - f_linear|| on the examples, at the same parameters"""
    free_distance: Float[Array, "training"]
    free_gap: Float[Array, "training"]
    linear_distance: Float[Array, "scheme strength"]
    """of the linearised model, on all examples"""


class Null(Enum):
    """What is changed."""

    NONE = 0
    NO_PULL = 1
    LONG_STEPS = 2
    """eight times as long, beyond what the curvature allows"""


def _selected(x: claims.Instance, key: Array, null: Null = Null.NONE) -> Selected:
    task = digits.task(x, key)
    flat, back = ravel_pytree(task.params)

    def told(moved: Float[Array, " parameters"], inputs: Array) -> Float[Array, "n"]:
        return digits.outputs(task.model, back(flat + moved), inputs)

    nowhere = jnp.zeros_like(flat)
    features = digits.jacobian(lambda moved: told(moved, task.train.inputs), nowhere)
    first = told(nowhere, task.train.inputs)
    spectrum = linearized.modes(dot(features, features.T), task.train.targets - first)
    rate = STABLE / (max(STRENGTHS) + 2 * jnp.max(spectrum.curvatures))
    rate = rate * (8 if null is Null.LONG_STEPS else 1)
    factor = 0.0 if null is Null.NO_PULL else 1.0

    def run(training: int, scheme: Scheme, strength: Array) -> tuple[Array, ...]:
        def advance(moved: Array, step: Array) -> tuple[Array, tuple[Array, Array]]:
            some = _examples(x, task, training, jax.random.fold_in(key, 3), step)
            plain = squared_loss(lambda m: told(m, some.inputs), some.targets)
            weight = x.examples / len(some.targets)
            taken = regularised_step(
                lambda m: weight * plain(m), nowhere, moved, rate, factor * strength, scheme
            )
            rose = jnp.sqrt(plain(taken.params)) > jnp.sqrt(plain(moved)) + _rounding(x, some)
            return taken.params, (taken.strength > 0, rose)

        end, (on, rose) = jax.lax.scan(advance, nowhere, jnp.arange(x.steps))
        gap = told(end, task.train.inputs) - first - dot(features, end)
        return (jnp.mean(on[1:]), jnp.sum(rose), jnp.linalg.norm(end), jnp.linalg.norm(gap))

    def ladder(training: int, scheme: Scheme) -> tuple[Array, ...]:
        return jax.vmap(lambda s: run(training, scheme, s))(jnp.asarray(STRENGTHS))

    trainings = range(len(TRAININGS))
    found = _stacked(
        [_stacked([ladder(training, scheme) for scheme in SCHEMES]) for training in trainings]
    )
    _, _, distance, gap = _stacked(
        [run(training, "always", jnp.zeros(())) for training in trainings]
    )
    return Selected(
        *found,
        free_distance=distance,
        free_gap=gap,
        linear_distance=_linear_distances(spectrum, rate, x.steps),
    )


def _examples(
    x: claims.Instance, task: digits.Task, training: int, key: Array, step: Array
) -> digits.Examples:
    """Those of a step."""
    if training == ALL:
        return task.train
    drawn = jax.random.randint(jax.random.fold_in(key, step), (BATCH,), 0, x.examples)
    return jax.tree.map(lambda leaf: leaf[drawn], task.train)


def _rounding(x: claims.Instance, some: digits.Examples) -> float:
    """By how much the root of a loss may be off.

    Outputs and residuals are of size one; every term of a sum (over pixels, units, examples) is
    rounded once.
    """
    count, pixels = some.inputs.shape
    return count**0.5 * (pixels + x.width + count) * ROUNDING


def _linear_distances(
    spectrum: linearized.Modes, rate: Array, steps: int
) -> Float[Array, "scheme strength"]:
    """Of the linearised model, which the selective schemes never pull."""

    def at(pull: Array) -> Float[Array, ""]:
        return linearized.predicted_distance(
            spectrum, linearized.descent_gain(spectrum.curvatures, pull, rate, steps)
        )

    is_pulled = jnp.asarray([scheme == "always" for scheme in SCHEMES])
    return jax.vmap(jax.vmap(at))(is_pulled[:, None] * jnp.asarray(STRENGTHS))


def _stacked(several: list[tuple[Array, ...]]) -> tuple[Array, ...]:
    return tuple(jnp.stack(part) for part in zip(*several))


def simulate(x: claims.Instance, key: Array) -> Selected:
    """Pretraining, and fine-tuning by every scheme at every strength."""
    return _selected(x, key)


def without_pull(x: claims.Instance, key: Array) -> Selected:
    """The null in which no scheme pulls."""
    return _selected(x, key, Null.NO_PULL)


def long_steps(x: claims.Instance, key: Array) -> Selected:
    """The null of steps that are too long."""
    return _selected(x, key, Null.LONG_STEPS)


def axes(x: claims.Instance) -> dict[str, object]:
    """Trainings, schemes, and the pulls lambda."""
    return {
        "training": np.asarray(TRAININGS),
        "scheme": np.asarray(SCHEMES),
        "strength": np.asarray(STRENGTHS),
    }


def _no_rise(schemes: slice) -> claims.Claim:
    return claims.on_average(
        "batches: no step raises its loss",
        lambda r: r.sim.rises[:, BATCHES, schemes],
        lambda r: 1.0,
        statement="fewer than one step on average, at every pull",
    )


NO_RISE = _no_rise(slice(SELECTIVE, None))
PULLS = claims.on_average(
    "all examples: the scheme pulls",
    lambda r: 0.0,
    lambda r: r.sim.active[:, ALL, SELECTIVE:],
    statement="at any step but the first, by either condition",
    printed=False,
)


def _told_apart(
    x: claims.Instance, chosen: Float[Array, "run scheme strength"], free: Float[Array, "run 1 1"]
) -> Float[Array, "run scheme strength"]:
    """What the choice makes, or what is free of it where rounding of all steps may part them."""
    return jnp.where(jnp.abs(chosen - free) <= ROUNDING * x.steps * free, free, chosen)


def _below_free(name: str, part: str) -> tuple[claims.Claim, ...]:
    """The selective schemes have less of something than the run without a pull."""

    def of(training: int) -> claims.Claim:
        return claims.on_average(
            f"{TRAININGS[training]}: {name} than without a pull",
            lambda r: _told_apart(
                r.x,
                getattr(r.sim, part)[:, training, SELECTIVE:],
                getattr(r.sim, f"free_{part}")[:, training, None, None],
            ),
            lambda r: getattr(r.sim, f"free_{part}")[:, training, None, None],
            statement="by either condition, at every pull; what rounding may do counts as equal",
        )

    return tuple(of(training) for training in range(len(TRAININGS)))


BELOW_FREE = (
    *_below_free("nearer to the start", "distance"),
    *_below_free("more linear", "gap"),
)

theorem = claims.Experiment(
    space=digits.sizes(steps=claims.Size(2000, low=10, high=1_000_000)),
    simulate=simulate,
    claims=(NO_RISE, *BELOW_FREE, PULLS),
    source=claims.Printed(
        "slides, Section 1, Ideas 1 and 2, and Section 3, below Theorem 1",
        "Fine-tuned models are encouraged to remain close to the pretrained model [...] This "
        "restriction (regularization) can achieve linearization [...] A non-increasing ||f_t(x*) - "
        "y*||^2 is guaranteed at step t",
    ),
    note="a small network on digits, with the condition where it is defined",
    mutants=(
        claims.Mutant(
            "no scheme pulls",
            simulate=without_pull,
            breaks=tuple(claim.name for claim in (*BELOW_FREE, PULLS)),
        ),
        claims.Mutant("steps eight times as long", simulate=long_steps, breaks=(NO_RISE.name,)),
        claims.Mutant("pulled at every step", claims=(_no_rise(slice(SELECTIVE)),)),
    ),
    data=("digits",),
    axes=axes,
)
