"""Two phases: a strong pull keeps fine-tuning in a ball for ever, a weaker one "only as long as".

The appendix of Afzal et al. (2025), below Theorem 4, has no figure. Here drawn models (quadratic,
sine, a tanh network, and a valley that turns back) are fine-tuned by descent in small steps, at
pulls around lambda_0 = 2 r_0 Lip(f) / r, where the constant of the r-ball is known. The radius r is
half of the way that each model goes without a pull, so that it can be left. Times are in units of
1 / lambda_0: Theorem 2 then bounds the distance by r (1 - e^(-s t)) / s at the pull s lambda_0, the
same for all models, and leaves the ball at the printed time. The selective scheme, for which
Theorem 2 is stated, takes its condition at theta_(t-1), where it is defined.
"""

from enum import Enum
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.fine_tuning import Loss, Scheme, regularised_descent
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models
from theorysim.theorems.linearization import _valley as valley

SHARES = (0.25, 0.5, 0.9, 1.0, 2.0)
WEAK = 3
"""so many of them are below lambda_0"""
FAMILIES = (0.0, 1.0, 2.0)
"""those of `_models`; the valley comes last"""
SCHEMES: tuple[Scheme, ...] = ("always", "old")
LAST = 200.0
"""the end, in units of 1 / lambda_0"""
POINTS = 24
STABLE = 0.5
"""the step size of the run without a pull, in units of 1 / smoothness"""


class Phases(NamedTuple):
    """Distances in units of r, and what Theorem 2 allows."""

    distance: Float[Array, "scheme model share time"]
    bound: Float[Array, "share time"]
    active: Float[Array, "scheme model share"]
    """the share of steps that pull, the first one left out"""


class System(NamedTuple):
    """A drawn model; parameters are distances from theta_0."""

    loss: Loss
    start: Array
    residual: Array
    smoothness: Array
    lipschitz: Any
    """radius -> the constant of f on its ball"""


class Null(Enum):
    """What is changed."""

    NONE = 0
    FREE = 1
    """no pull, and a hundred times the time that is said"""
    STRONG = 2
    """all pulls are eight times as strong"""


def _steps_kept(x: claims.Instance) -> np.ndarray:
    """Numbers of the steps that are kept, evenly on a logarithmic axis."""
    first = max(1, x.steps // 2000)
    return np.unique(np.geomspace(first, x.steps, POINTS).astype(int))


def _drawn(key: Array, family: Array) -> System:
    space = models.model_space()
    x = space.sample(key, space.default_sizes()).replace(family=family)
    return System(
        models.loss(x),
        models.start(x),
        x.residual_size,
        models.smoothness(x),
        lambda radius: models.lipschitz(x, radius).f,
    )


def _valley(key: Array) -> System:
    space = valley.space()
    x = space.sample(key, space.default_sizes())
    return System(
        valley.loss(x),
        jnp.array(valley.START),
        valley.residual_size(x),
        valley.smoothness(x),
        lambda radius: valley.lipschitz(x, radius).f,
    )


def _of_model(x: claims.Instance, system: System, null: Null) -> tuple[Array, Array]:
    """Distances (scheme, share, time) and active shares (scheme, share) of one model."""

    def run(rate: Array, strength: Array, scheme: Scheme) -> tuple[Array, Array]:
        found = regularised_descent(
            system.loss, system.start, rate, strength, x.steps, scheme, jnp.linalg.norm
        )
        return found.path, jnp.mean(found.strength[1:] > 0)

    nothing = jnp.zeros(())
    free, _ = run(STABLE / system.smoothness, nothing, "always")
    radius = free[-1] / 2
    threshold = 2 * system.residual * system.lipschitz(radius) / radius
    rate = LAST / x.steps / threshold
    factor = {Null.NONE: 1.0, Null.FREE: 0.0, Null.STRONG: 8.0}[null]
    later = 100 if null is Null.FREE else 1
    kept = jnp.minimum(_steps_kept(x) * later, x.steps)

    def at(share: Array, scheme: Scheme) -> tuple[Array, Array]:
        path, active = run(rate, factor * share * threshold, scheme)
        return path[kept] / radius, active

    def of_scheme(scheme: Scheme) -> tuple[Array, Array]:
        return jax.vmap(lambda share: at(share, scheme))(jnp.asarray(SHARES))

    found = [of_scheme(scheme) for scheme in SCHEMES]
    return jnp.stack([distance for distance, _ in found]), jnp.stack([on for _, on in found])


def _phases(x: claims.Instance, key: Array, null: Null = Null.NONE) -> Phases:
    *drawn, last = jax.random.split(key, len(FAMILIES) + 1)

    def of_family(key: Array, family: Array) -> tuple[Array, Array]:
        return _of_model(x, _drawn(key, family), null)

    found = jax.vmap(of_family)(jnp.stack(drawn), jnp.asarray(FAMILIES))
    in_valley = _of_model(x, _valley(last), null)
    both = jax.tree.map(lambda some, one: jnp.append(some, one[None], axis=0), found, in_valley)
    distance, active = (jnp.swapaxes(part, 0, 1) for part in both)
    shares = jnp.asarray(SHARES)[:, None]
    return Phases(distance, flow.faded_time(shares, jnp.asarray(_times(x), jnp.float32)), active)


def _times(x: claims.Instance) -> np.ndarray:
    """In units of 1 / lambda_0."""
    return LAST / x.steps * _steps_kept(x)


def simulate(x: claims.Instance, key: Array) -> Phases:
    """Fine-tuning of one model of each kind at every pull, by both schemes."""
    return _phases(x, key)


def without_pull(x: claims.Instance, key: Array) -> Phases:
    """The null without a pull, at a hundred times the time."""
    return _phases(x, key, Null.FREE)


def strong(x: claims.Instance, key: Array) -> Phases:
    """The null in which all pulls are above the threshold."""
    return _phases(x, key, Null.STRONG)


def axes(x: claims.Instance) -> dict[str, object]:
    """Schemes and models; pulls over lambda_0, times in 1 / lambda_0."""
    return {
        "scheme": np.asarray(("always", "selective")),
        "model": np.asarray(("quadratic", "sine", "tanh network", "valley")),
        "share": np.asarray(SHARES),
        "time": _times(x),
    }


def _farthest(r: claims.Run, scheme: int) -> Float[Array, "run model share"]:
    return jnp.max(r.sim.distance[:, scheme], axis=-1)


def _until_limit(r: claims.Run) -> Float[Array, "run model share"]:
    """The farthest up to the time ln(1 / (1 - s)) / s, at the pulls s < 1."""
    shares = jnp.asarray(SHARES[:WEAK])[:, None]
    is_before = jnp.asarray(_times(r.x)) <= -jnp.log1p(-shares) / shares
    return jnp.max(jnp.where(is_before, r.sim.distance[:, 0, :, :WEAK], 0), axis=-1)


STAYS = (
    claims.on_average(
        "lambda >= lambda_0: stays in the ball",
        lambda r: _farthest(r, 0)[..., WEAK:],
        lambda r: 1.0,
    ),
    claims.on_average(
        "lambda < lambda_0: stays until the printed time", _until_limit, lambda r: 1.0
    ),
    claims.on_average(
        "the selective scheme, lambda >= lambda_0: stays",
        lambda r: _farthest(r, 1)[..., WEAK:],
        lambda r: 1.0,
    ),
)
LEAVES = claims.on_average(
    "and only as long",
    lambda r: 1.0,
    lambda r: _farthest(r, 0)[..., :WEAK],
    statement="afterwards the ball is left, at every pull below lambda_0 and by all models",
)

theorem = claims.Experiment(
    space=claims.Space(steps=claims.Size(20_000, low=2000, high=1_000_000)),
    simulate=simulate,
    claims=(*STAYS, LEAVES),
    source=claims.Printed(
        "slides, appendix, Theorem 4",
        "if lambda >= lambda_0, then theta_t remains in the r-ball around theta_0 for all t. "
        "Otherwise, it remains in this ball only as long as t <= (1/lambda) ln(1 / (1 - lambda / "
        "lambda_0))",
    ),
    note="small models whose constants are known; r is half of the way without a pull",
    mutants=(
        claims.Mutant(
            "no pull, at a hundred times the time",
            simulate=without_pull,
            breaks=tuple(claim.name for claim in STAYS),
        ),
        claims.Mutant("all pulls eight times as strong", simulate=strong, breaks=(LEAVES.name,)),
    ),
    axes=axes,
    keys=16,
)
