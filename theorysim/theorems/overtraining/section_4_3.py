"""After fine-tuning the loss of pre-training rises again with the stage; a pull-back delays it.

Section 4.3 of Springer et al. (2025), which has no figure of it: L_pre(n) of the linear network,
pre-trained up to stage n and fine-tuned, both on batches. First without a pull-back, on features
alpha times those of pre-training (Theorems 4.6 and 4.7, part 1); then with pull-backs of strength
lambda, on features that are 1 to 6 times those of pre-training, the more the later (part 2).
Beside it, descent from the ideal stages in closed form. Fine-tuning stops when the slowest feature
has come near its end: eta K = 1 / min ft. Real stages have a little of the next features, too,
which would grow in the end.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems.ideal_stages import ideal_stages
from theorysim.systems.linear_modes import Tuning
from theorysim.systems.two_layer_linear import FineTuning
from theorysim.theorems.overtraining import _network as network
from theorysim.theorems.overtraining import _network_stages as stages
from theorysim.theorems.overtraining._network import RUNS

ALPHAS = (1.0, 1.5, 2.5, 4.0, 6.0)
LAMBDAS = (0.0, 0.5, 2.5, 8.0)
LAST_RATIO = 6.0

# Beyond this alpha, says the appendix, the loss rises; the proof needs no more than 2.
ALPHA_0 = 4.0

# By which losses may differ from those of ideal stages, in units of the loss before any training.
TENTH = 0.1
HALF = 0.5  # of a stage


class Losses(NamedTuple):
    """|theta - A_pre|^2 and |theta - A_ft|^2 after fine-tuning; `before` it; their closed forms."""

    before: Float[Array, "stage"]
    by_alpha: Float[Array, "alpha stage"]
    by_alpha_theory: Float[Array, "alpha stage"]
    by_pull: Float[Array, "pull stage"]
    by_pull_theory: Float[Array, "pull stage"]
    task_by_pull: Float[Array, "pull stage"]
    task_by_pull_theory: Float[Array, "pull stage"]


class _Tuned(NamedTuple):
    pre: Float[Array, "stage"]
    ft: Float[Array, "stage"]
    pre_theory: Float[Array, "stage"]
    ft_theory: Float[Array, "stage"]


def _distance(maps: Array, target: Array) -> Float[Array, "stage"]:
    return jnp.sum((maps - target) ** 2, axis=(-2, -1))


def _tuned(
    x: claims.Instance,
    found: stages.Pretrained,
    ft: Float[Array, "d"],
    pull_back: Float[Array, ""],
    key: Array,
) -> _Tuned:
    """Fine-tuning from every stage, and the same from the ideal ones in closed form."""
    pre = stages.features(x)
    largest = jnp.maximum(jnp.max(pre), jnp.max(ft))
    rate = stages.RATE_SHARE * network.largest_rate(largest, pull_back)
    steps = jnp.round(1 / (rate * jnp.min(ft))).astype(int)
    target, anchor = found.vectors.assembled(ft), dot(*found.stages)
    tuning = FineTuning(target, anchor, pull_back)
    end = dot(*network.descended(found.stages, tuning, rate, steps, stages.batches(x, key)))
    ideal = ideal_stages(Tuning(ft, pre, pull_back, rate), steps)
    return _Tuned(
        _distance(end, found.vectors.assembled(pre)),
        _distance(end, target),
        ideal.pretraining,
        ideal.fine_tuning,
    )


def _losses(
    x: claims.Instance,
    key: Array,
    change: Callable[[stages.Pretrained], stages.Pretrained] = lambda found: found,
    alphas: tuple[float, ...] = ALPHAS,
    pulls: tuple[float, ...] = LAMBDAS,
    last_ratio: float = LAST_RATIO,
) -> Losses:
    train, draw = jax.random.split(key)
    found, pre = change(stages.at_stages(x, train)), stages.features(x)
    ratio = jnp.linspace(1, last_ratio, x.d)
    by_alpha = jax.lax.map(
        lambda alpha: _tuned(x, found, alpha * pre, jnp.zeros(()), draw), jnp.asarray(alphas)
    )
    by_pull = jax.lax.map(
        lambda pull: _tuned(x, found, ratio * pre, pull, draw), jnp.asarray(pulls)
    )
    return Losses(
        before=_distance(dot(*found.stages), found.vectors.assembled(pre)),
        by_alpha=by_alpha.pre,
        by_alpha_theory=by_alpha.pre_theory,
        by_pull=by_pull.pre,
        by_pull_theory=by_pull.pre_theory,
        task_by_pull=by_pull.ft,
        task_by_pull_theory=by_pull.ft_theory,
    )


def simulate(x: claims.Instance, key: Array) -> Losses:
    """Pre-training up to every stage, then fine-tuning along both scans."""
    return _losses(x, key)


def without_learning(x: claims.Instance, key: Array) -> Losses:
    """The null in which every later stage is the first one."""
    return _losses(x, key, change=stages.first_stage_only)


def without_pull_back(x: claims.Instance, key: Array) -> Losses:
    """The null in which no pull-back pulls."""
    return _losses(x, key, pulls=(0.0,) * len(LAMBDAS))


def the_same_task(x: claims.Instance, key: Array) -> Losses:
    """The null in which fine-tuning goes on with the task of pre-training."""
    return _losses(x, key, alphas=(1.0,) * len(ALPHAS), last_ratio=1.0)


def axes(x: claims.Instance) -> dict[str, object]:
    """Ratios of the features, strengths of the pull-back, and how many features are learned."""
    return {
        "alpha": jnp.asarray(ALPHAS),
        "pull": jnp.asarray(LAMBDAS),
        "stage": jnp.arange(x.d + 1),
    }


def _sensitivity(r: claims.Run) -> Float[Array, "run alpha stage"]:
    """Delta_pre(n) where alpha > 1."""
    return (r.sim.by_alpha - r.sim.before[:, None])[:, jnp.asarray(ALPHAS) > 1]


def _misaligned(r: claims.Run) -> Float[Array, "run alpha stage"]:
    return r.sim.by_alpha[:, jnp.asarray(ALPHAS) > ALPHA_0]


def _inflection(r: claims.Run) -> Float[Array, "run pull"]:
    return jnp.argmin(r.sim.by_pull, axis=-1).astype(float)


def _off(r: claims.Run) -> Float[Array, "run scan stage"]:
    """How far all losses are from their closed forms, in units of the loss before training."""
    pairs = (
        (r.sim.by_alpha, r.sim.by_alpha_theory),
        (r.sim.by_pull, r.sim.by_pull_theory),
    )
    differences = [jnp.abs(real - ideal) for real, ideal in pairs]
    return jnp.concatenate(differences, axis=1) / jnp.sum(stages.features(r.x) ** 2)


def _no_earlier(weaker: slice, stronger: slice) -> claims.Claim:
    """r(lambda) is an integer, and pull-backs may share it: less than half a stage is a tie."""
    return claims.on_average(
        "4.7, part 2: no stronger pull-back has an earlier inflection",
        lambda r: _inflection(r)[:, weaker] - HALF,
        lambda r: _inflection(r)[:, stronger],
        statement="from each pull-back to the next r(lambda) falls by less than half a stage",
    )


NOT_NEGATIVE = claims.on_average(
    "4.6: Delta_pre is not negative",
    lambda r: 0.0,
    lambda r: _sensitivity(r)[..., 1:],
    statement="0 < Delta_pre(n) for n > 0; nothing is learned at n = 0, where it is about zero",
)
GROWS = claims.on_average(
    "4.6: Delta_pre grows with the stage",
    lambda r: _sensitivity(r)[..., :-1],
    lambda r: _sensitivity(r)[..., 1:],
)
RISES = claims.on_average(
    "4.7, part 1: L_pre rises with the stage where alpha > 4",
    lambda r: _misaligned(r)[..., :-1],
    lambda r: _misaligned(r)[..., 1:],
)
DELAYS = claims.on_average(
    "4.7, part 2: the inflection is later at the strongest pull-back than without one",
    lambda r: _inflection(r)[:, 0],
    lambda r: _inflection(r)[:, -1],
)
NO_EARLIER = _no_earlier(slice(None, -1), slice(1, None))
COSTS = claims.on_average(
    "4.7, part 2: a stronger pull-back costs at the task",
    lambda r: r.sim.task_by_pull[:, :-1, 1:],
    lambda r: r.sim.task_by_pull[:, 1:, 1:],
)
CLOSED = claims.on_average(
    "the closed form of the ideal stages",
    _off,
    lambda r: TENTH,
    statement="|L_pre - (that from the ideal stage)| < 1/10 of the loss before training",
    printed=False,
)

theorem = claims.Experiment(
    space=claims.Space(d=claims.Size(3, low=2, high=6)),
    simulate=simulate,
    keys=RUNS,
    claims=(NOT_NEGATIVE, GROWS, RISES, DELAYS, NO_EARLIER, COSTS, CLOSED),
    source=claims.Printed(
        "Theorems 4.6 and 4.7",
        "is monotonically increasing with the number of learned pre-training features [...] the "
        "pre-training loss after fine-tuning [...] monotonically increases for [...] the "
        "inflection point [...] and the unregularized fine-tuning loss [...] increase "
        "monotonically with [...]",
    ),
    note="no figure of the paper: the linear network of Section 4, trained on batches",
    mutants=(
        # Stages that are all the first one have learned a feature, which fine-tuning moves, at a
        # cost where it is pulled back; and what comes no later comes no earlier.
        claims.Mutant(
            "later stages learn nothing",
            simulate=without_learning,
            breaks=tuple(one.name for one in (GROWS, RISES, DELAYS, CLOSED)),
        ),
        claims.Mutant(
            "no pull-back pulls", simulate=without_pull_back, breaks=(DELAYS.name, COSTS.name)
        ),
        claims.Mutant(
            "fine-tuning on the task of pre-training",
            simulate=the_same_task,
            breaks=tuple(one.name for one in (NOT_NEGATIVE, GROWS, RISES, DELAYS, COSTS, CLOSED)),
        ),
        claims.Mutant(
            "pull-backs from strong to weak",
            claims=(_no_earlier(slice(1, None), slice(None, -1)),),
        ),
    ),
    axes=axes,
)
