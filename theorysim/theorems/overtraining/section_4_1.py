"""Descent from small weights learns the features one after the other, in stages.

Section 4.1 of Springer et al. (2025), which has no figure of it: U^T theta(t) V along pre-training.
Theorem 4.1 promises times t_1 < ... < t_d at which theta(t_n) is about U Sigma_{:n} V^T. Beside it,
the exact gradient flow from the same start, a random balanced one: exp(-14) times orthogonal
factors.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import linear_modes
from theorysim.systems.balanced_flow import Decomposition, balanced_flow
from theorysim.theorems.overtraining import _network as network
from theorysim.theorems.overtraining import _network_stages as stages
from theorysim.theorems.overtraining._network import RUNS

# Points in time, from a fiftieth of the last one, 1.5 t_d, on.
POINTS, FIRST, UNTIL = 96, 0.02, 1.5

# "About" a stage is nearer to it than to every other one; "approximately diagonal" is the same of
# the largest entry beside the diagonal and the smallest feature.
HALF = 0.5

# By which descent of a finite rate may differ from the flow, in the mean over time.
TENTH = 0.1


class Path(NamedTuple):
    """The diagonal of U^T theta V, that of the flow, the largest other entry; misses of stages.

    `missed` is the least |theta(t) - U Sigma_{:n} V^T|_F along the path, for n = 1, ..., d.
    """

    learned: Float[Array, "time feature"]
    flow: Float[Array, "time feature"]
    beside: Float[Array, "time"]
    missed: Float[Array, "feature"]


def _steps(x: claims.Instance) -> Int[Array, "time"]:
    last = linear_modes.stage_times(stages.features(x), jnp.asarray(stages.TAU))[-1]
    return jnp.round(UNTIL * last / stages.rate(x) * jnp.geomspace(FIRST, 1, POINTS)).astype(int)


def _path(
    x: claims.Instance,
    key: Array,
    values: Float[Array, "d"],
    seen_in: network.Vectors | None = None,
) -> Path:
    """Pre-training on a task with the features `values`, beside the flow of the given ones.

    It is seen in the task's own singular vectors, or in those that are given.
    """
    begin, draws = jax.random.split(key)
    vectors, start = stages.begun(x, begin)
    steps, given = _steps(x), stages.features(x)
    path = stages.pretrained(x, draws, start, vectors.assembled(values), steps)
    theta = (seen_in or vectors).rotated(dot(*path))
    target = Decomposition(vectors.left, given, vectors.right)
    flow = vectors.rotated(balanced_flow(*start, target, steps * stages.rate(x)).product)
    stage = jax.vmap(jnp.diag)(jnp.tril(jnp.ones((x.d, x.d))) * given)
    return Path(
        learned=jnp.diagonal(theta, axis1=1, axis2=2),
        flow=jnp.diagonal(flow, axis1=1, axis2=2),
        beside=jnp.max(jnp.abs(theta * (1 - jnp.eye(x.d))), axis=(1, 2)),
        missed=jnp.min(jnp.linalg.norm(theta[:, None] - stage, axis=(2, 3)), axis=0),
    )


def simulate(x: claims.Instance, key: Array) -> Path:
    """Pre-training, looked at along a ladder of times."""
    return _path(x, key, stages.features(x))


def equal_features(x: claims.Instance, key: Array) -> Path:
    """The null of a task that has no order: all of its features are one."""
    return _path(x, key, jnp.ones(x.d))


def other_vectors(x: claims.Instance, key: Array) -> Path:
    """The null in which the path is seen in the singular vectors of another task."""
    others = network.vectors(x.d, jax.random.fold_in(key, 2))
    return _path(x, key, stages.features(x), seen_in=others)


def axes(x: claims.Instance) -> dict[str, object]:
    """Time in units of the smallest feature, and the features."""
    return {"time": _steps(x) * stages.rate(x), "feature": stages.features(x)}


def _half_time(r: claims.Run) -> Float[Array, "run feature"]:
    """The logarithm of the time at which a feature is half learned; the last one, if never."""
    late = r.sim.learned > HALF * stages.features(r.x)
    first = jnp.where(late.any(axis=1), jnp.argmax(late, axis=1), POINTS - 1)
    return first.astype(float)


def _to_the_next_stage(r: claims.Run) -> Float[Array, "1 feature"]:
    """Half of the distance from each stage to the nearest other one."""
    values = stages.features(r.x)
    return HALF * jnp.append(values[1:], values[-1])[None]


def _from_the_flow(r: claims.Run) -> Float[Array, "run feature"]:
    return jnp.mean(jnp.abs(r.sim.learned - r.sim.flow), axis=1)


ONE_BY_ONE = claims.on_average(
    "features are learned one after the other",
    lambda r: _half_time(r)[:, :-1],
    lambda r: _half_time(r)[:, 1:],
)
STAGES = claims.on_average(
    "the path comes near every stage",
    lambda r: r.sim.missed,
    _to_the_next_stage,
    statement="min over t of |theta(t) - U Sigma_{:n} V^T| < half of the way to a stage",
)
DIAGONAL = claims.on_average(
    "U^T theta(t) V is approximately diagonal",
    lambda r: r.sim.beside.max(axis=1),
    lambda r: HALF * stages.features(r.x)[-1],
    statement="its largest other entry at any time < half of the smallest feature",
)
FLOW = claims.on_average(
    "descent follows the flow",
    _from_the_flow,
    lambda r: TENTH * stages.features(r.x)[None],
    statement="mean over time of the difference < 1/10 of the feature",
    printed=False,
)

theorem = claims.Experiment(
    space=claims.Space(d=claims.Size(4, low=2, high=6)),
    simulate=simulate,
    keys=RUNS,
    claims=(ONE_BY_ONE, STAGES, DIAGONAL, FLOW),
    source=claims.Printed(
        "Theorem 4.1 and the remark after it",
        "There exists a sequence of timesteps [...] such that at timestep [...] This theorem "
        "implies that [...] is approximately diagonal, and the vector of its diagonal entries "
        "[...] tracks which pre-training features have been learned by time [...]",
    ),
    note="no figure of the paper: the linear network of Section 4, trained on batches",
    mutants=(
        # Equal features are learned at once, and U^T theta(t) V is as diagonal as with others.
        claims.Mutant(
            "all features are equal",
            simulate=equal_features,
            breaks=(ONE_BY_ONE.name, STAGES.name, FLOW.name),
        ),
        claims.Mutant("the singular vectors of another task", simulate=other_vectors),
    ),
    axes=axes,
)
