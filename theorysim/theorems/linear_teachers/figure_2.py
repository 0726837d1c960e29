"""Deeper networks suffer less from the norms of the teachers.

Section 5.3 of Shachaf et al. (2021), prose of Figure 2. (a) theta_T = alpha theta_S + noise of half
the norm of theta_S, d / 10 samples: without a difference between depths at alpha = 1, while for
larger alpha depth helps. (b) A network of 7 layers, teachers at a distance of 0.1 once normalised:
scaling the target harms much more than scaling the source. Normal rows are drawn; the limit of
training is Theorem 5.2's (checked there up to depth 8). "No difference" is read as a tenth of the
risk, "much more" as a factor of 2. How many samples (b) has is not printed: d / 2 are taken, and
d / 10 as a question of ours, where seven layers are too few.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.systems import deep_linear_limit as deep_limit

DEPTHS = (1, 2, 3, 5, 7)
NOISE, ANGLE = 0.5, 0.1
NO_DIFFERENCE, MUCH = 0.1, 2.0

# Numbers of samples, as shares of d.
FEW, HALF = 0.1, 0.5


class Risks(NamedTuple):
    """Population risks for inputs N(0, I)."""

    equal_norms: Float[Array, " depths"]
    scaled: Float[Array, " depths"]
    source_scaled: Float[Array, "2"]
    """for few samples and for half of d; likewise the next"""
    target_scaled: Float[Array, "2"]


def _unit(key: PRNGKeyArray, dimension: int) -> Float[Array, " d"]:
    vector = jax.random.normal(key, (dimension,))
    return vector / jnp.linalg.norm(vector)


def _simulate(deepest: int = DEPTHS[-1]) -> Callable:
    """`deepest` is the depth of (b)."""

    def simulate(x: claims.Instance, key) -> Risks:
        keys = jax.random.split(key, 3)
        source, other = _unit(keys[0], x.d), _unit(keys[1], x.d)
        entries = jax.random.normal(keys[2], (round(HALF * x.d), x.d))
        few = max(round(FEW * x.d), 1)

        def risk(start, teacher, depth, rows=entries[:few]):
            return jnp.sum(jnp.square(deep_limit.limit(rows, start, teacher, depth) - teacher))

        def noised(alpha):
            teacher = alpha * source + NOISE * other
            return jnp.stack([risk(source, teacher, depth) for depth in DEPTHS])

        turned = source + ANGLE * other
        turned = turned / jnp.linalg.norm(turned)

        def scaled(source_norm, target_norm):
            teachers = source_norm * source, target_norm * turned
            both = [risk(*teachers, deepest, rows) for rows in (entries[:few], entries)]
            return jnp.stack(both)

        return Risks(noised(1.0), noised(x.alpha), scaled(x.alpha, 1.0), scaled(1.0, x.alpha))

    return simulate


def _spread(r) -> Float[Array, " depths"]:
    """Differences between the depths at alpha = 1, as shares of the risk of one layer."""
    means = r.mean(r.sim.equal_norms)
    return jnp.abs(means - means[0]) / means[0]


def _harms_more(index: int) -> claims.Claim:
    """For the number of samples at this place in `Risks`."""
    return claims.at_least(
        "(b) the target's norm harms more",
        lambda r: r.mean(r.sim.target_scaled[:, index]),
        lambda r: MUCH * r.mean(r.sim.source_scaled[:, index]),
    )


DEPTH_HELPS = claims.decreasing("(a) larger alpha: depth helps", lambda r: r.mean(r.sim.scaled))

theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(20, low=4, high=200),
        alpha=claims.Real(2, 10, log=True),
    ),
    simulate=_simulate(),
    claims=(
        claims.at_most("(a) alpha = 1: no difference", _spread, lambda r: NO_DIFFERENCE),
        DEPTH_HELPS,
        _harms_more(1),
    ),
    source=claims.Printed(
        "Section 5.3, Figure 2",
        "when alpha ~ 1, there is no difference between models of different depth; as alpha "
        "increases, adding depth has a positive effect; increasing the norm of the target vector "
        "harms generalization much more than increasing the norm of the source vector",
    ),
    readings=(
        claims.Reading(
            "(b) with d / 10 samples",
            claims.Finding("whether seven layers suffice for few samples, too"),
            claims=(_harms_more(0),),
            note="of few samples depth helps where it exceeds |ln k| / c_par^2, about d / n",
        ),
    ),
    mutants=(
        claims.Mutant("one layer in (b)", simulate=_simulate(deepest=1)),
        claims.Mutant("depth harms", claims=(DEPTH_HELPS.reversed(),)),
        claims.Mutant(
            "no difference at any alpha",
            claims=(
                claims.at_most(
                    "(a) alpha = 1: no difference",
                    lambda r: jnp.abs(r.mean(r.sim.scaled)[-1] / r.mean(r.sim.scaled)[0] - 1),
                    lambda r: NO_DIFFERENCE,
                ),
            ),
        ),
    ),
    keys=128,
    instances=8,
    mutant_instances=8,
)
