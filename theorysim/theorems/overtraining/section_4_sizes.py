"""At which sizes of everything the picture of Theorem 4.7 appears in real gradient descent.

Section 4 of Springer et al. (2025) speaks of small weights, gradient flow and large batches, and
Assumption A.21, which makes this precise, asks for batches beyond all measure. Here the linear
network is trained at sizes from practice: starts exp(-tau), gaps between features, learning rates
in units of Assumption A.8, batches, and lengths of fine-tuning in units of 1 / (eta min ft). All
features but the first are enlarged sixfold by fine-tuning: the theorem's picture is that L_pre(n)
falls up to n = 1 and rises from there on. Beside it, where separate modes on infinite batches show
it.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import batch_covariance, linear_modes
from theorysim.systems.linear_modes import Tuning
from theorysim.theorems.overtraining import _network as network
from theorysim.theorems.overtraining._network import RUNS

TAUS = (2.0, 4.0, 8.0, 16.0)
GAPS = (1.25, 2.0, 4.0)
RATES = (0.25, 1.0, 3.0)  # of what Assumption A.8 admits; descent is stable below 4
BATCHES = (4, 16, 64, 256)
LENGTHS = (1.0, 4.0)
ENLARGED = 6.0

HALF = 0.5  # it appears more often than not


class Sizes(NamedTuple):
    """The values along the axes of the map."""

    taus: tuple[float, ...] = TAUS
    gaps: tuple[float, ...] = GAPS
    rates: tuple[float, ...] = RATES
    batches: tuple[int, ...] = BATCHES
    lengths: tuple[float, ...] = LENGTHS


class Map(NamedTuple):
    """Whether L_pre(n) falls up to n = 1 and rises from there on: one or zero."""

    appears: Float[Array, "tau gap rate batch length"]
    theory: Float[Array, "tau gap rate length"]


class _Settings(NamedTuple):
    """Features and learning rates; the number of steps until each stage, and of fine-tuning."""

    pre: Float[Array, "gap 1 1 d"]
    ft: Float[Array, "gap 1 1 d"]
    rate: Float[Array, "gap rate 1"]
    tuning_rate: Float[Array, "gap rate 1"]
    marks: Array
    ends: Array


def _settings(d: int, sizes: Sizes) -> _Settings:
    taus = jnp.asarray(sizes.taus)[:, None, None, None]
    shares = jnp.asarray(sizes.rates)[:, None]
    pre = network.features(d, jnp.asarray(sizes.gaps)[:, None, None, None])
    ft = pre * jnp.where(jnp.arange(d) > 0, ENLARGED, 1.0)
    rate = shares * network.largest_rate(pre[..., 0])
    tuning_rate = shares * network.largest_rate(jnp.maximum(pre[..., 0], jnp.max(ft, axis=-1)))
    lengths = jnp.asarray(sizes.lengths)[:, None, None, None]
    ends = jnp.round(lengths / (tuning_rate * jnp.min(ft, axis=-1))).astype(int)
    return _Settings(pre, ft, rate, tuning_rate, network.stage_marks(pre, taus, rate), ends)


def _is_seen(losses: Float[Array, "stage *cells"]) -> Float[Array, "*cells"]:
    """Whether the loss falls at n = 1 and rises at every later n."""
    steps = jnp.diff(losses, axis=0)
    return ((steps[0] < 0) & (steps[1:] > 0).all(axis=0)).astype(float)


def _trained(d: int, key: Array, sizes: Sizes) -> Float[Array, "tau gap rate batch length"]:
    """The map of descent on batches; small batches are the first inputs of large ones."""
    task, begin, draws = jax.random.split(key, 3)
    found = _settings(d, sizes)
    vectors = network.vectors(d, task)
    shape = tuple(map(len, (sizes.taus, sizes.gaps, sizes.rates, sizes.batches)))

    def of_segment(number: Array) -> network.Batches:
        def covariances(step: Array) -> Float[Array, "batch d d"]:
            drawn = jax.random.fold_in(jax.random.fold_in(draws, number), step)
            inputs = jax.random.normal(drawn, (max(sizes.batches), d))
            each = [batch_covariance.of_inputs(inputs[:batch]) for batch in sizes.batches]
            return jnp.stack(each)

        return covariances

    def small(weights: Array) -> Array:
        scale = jnp.exp(-jnp.asarray(sizes.taus))[:, None, None, None, None, None]
        return jnp.broadcast_to(scale * weights, (*shape, d, d))

    start = jax.tree.map(small, network.learnable(network.small_start(d, begin), vectors))
    pre, ft = vectors.assembled(found.pre), vectors.assembled(found.ft)
    task_of = network.without_pull_back
    stages = network.along(start, task_of(pre), found.rate, found.marks, of_segment)
    tuned = network.along(
        stages, task_of(ft), found.tuning_rate, found.ends, lambda j: of_segment(d + 1 + j)
    )
    losses = jnp.sum((dot(*tuned) - pre) ** 2, axis=(-2, -1))
    return jnp.moveaxis(jax.vmap(_is_seen)(losses), 0, -1)


def _of_modes(d: int, sizes: Sizes) -> Float[Array, "tau gap rate length"]:
    """The map of separate modes: the flow up to every stage, then descent on infinite batches."""
    found = _settings(d, sizes)
    taus = jnp.asarray(sizes.taus)[:, None, None, None, None]
    times = (found.marks * found.rate)[..., None]
    learned = linear_modes.growth(times, found.pre, taus)

    def losses(steps: Array) -> Float[Array, "stage tau gap rate 1"]:
        tuning = Tuning(found.ft, learned, jnp.zeros(()), found.tuning_rate[..., None])
        most = jnp.max(steps)

        def step(k: Array, weight: Array) -> Array:
            return jnp.where(k < steps[..., None], linear_modes.step(weight, tuning), weight)

        weights = jax.lax.fori_loop(0, most, step, jnp.sqrt(learned))
        return jnp.sum((weights**2 - found.pre) ** 2, axis=-1)

    maps = [_is_seen(losses(steps))[..., 0] for steps in found.ends]
    return jnp.stack(maps, axis=-1)


def _map(x: claims.Instance, key: Array, sizes: Sizes) -> Map:
    return Map(_trained(x.d, key, sizes), _of_modes(x.d, sizes))


def simulate(x: claims.Instance, key: Array) -> Map:
    """Pre-training up to every stage and fine-tuning, at all sizes."""
    return _map(x, key, Sizes())


def least_sizes(x: claims.Instance, key: Array) -> Map:
    """The null in which every size is the first one of its axis."""
    return _map(x, key, Sizes._make(values[:1] * len(values) for values in Sizes()))


def axes(x: claims.Instance) -> dict[str, object]:
    """The sizes."""
    return {
        "tau": np.asarray(TAUS),
        "gap": np.asarray(GAPS),
        "rate": np.asarray(RATES),
        "batch": np.asarray(BATCHES),
        "length": np.asarray(LENGTHS),
    }


def _more_often(name: str, axis: str, less: int, more: int) -> claims.Claim:
    """In the mean over all other sizes the picture appears more often at one end of an axis."""
    place = 1 + ("tau", "gap", "rate", "batch", "length").index(axis)

    def at(end: int):
        return lambda r: jnp.take(r.sim.appears, end, axis=place).reshape(len(r.sim.appears), -1)

    return claims.on_average(
        name,
        lambda r: at(less)(r).mean(axis=1),
        lambda r: at(more)(r).mean(axis=1),
        printed=False,
    )


theorem = claims.Experiment(
    space=claims.Space(d=claims.Size(3, low=2, high=4)),
    simulate=simulate,
    keys=RUNS,
    claims=(
        claims.on_average(
            "it appears at the best sizes",
            lambda r: HALF,
            lambda r: r.sim.appears[:, -1, -1, 0, -1, 0],
            statement="more often than not at the smallest start, the widest gap, and so on",
            printed=False,
        ),
        _more_often("more often at the smallest start than at the largest", "tau", 0, -1),
        _more_often("more often at the widest gaps than at the narrowest", "gap", 0, -1),
        _more_often("more often at the smallest learning rate than at the largest", "rate", -1, 0),
        _more_often("more often at the largest batch than at the smallest", "batch", 0, -1),
        _more_often(
            "more often after the shortest fine-tuning than after the longest", "length", -1, 0
        ),
    ),
    source=claims.Finding(
        "at which sizes from practice Theorem 4.7 can be seen; those of Assumption A.21 are small "
        "starts and learning rates and large batches, the more so the longer the fine-tuning"
    ),
    note="no figure of the paper: the linear network of Section 4, at sizes from practice",
    mutants=(claims.Mutant("every size is the first one", simulate=least_sizes),),
    axes=axes,
)
