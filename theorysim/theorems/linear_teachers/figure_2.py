"""Deeper networks suffer less from the norms of the teachers.

Section 5.3 of Shachaf et al. (2021), prose of Figure 2. (a) theta_T = alpha theta_S + noise of half
the norm of theta_S, d / 10 samples: without a difference between depths at alpha ~ 1, while for
larger alpha depth helps. (b) A network of 7 layers, teachers at a distance of 0.1 once normalised:
scaling the target harms much more than scaling the source. Normal rows are drawn; the limit of
training is Theorem 5.2's (checked there up to depth 8). What counts as no difference is not
printed: depths must differ less at alpha = 1 than at larger alpha. Nor is how many samples (b) has,
or what counts as much more: there must be a number of samples for which the target's norm harms
more, and readings of ours say for which it does.
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

# Numbers of samples in (b), as shares of d; (a) has the first.
SHARES = (0.1, 0.3, 0.5, 0.8)


class Risks(NamedTuple):
    """Population risks for inputs N(0, I)."""

    equal_norms: Float[Array, " depths"]
    scaled: Float[Array, " depths"]
    source_scaled: Float[Array, " shares"]
    target_scaled: Float[Array, " shares"]


def _unit(key: PRNGKeyArray, dimension: int) -> Float[Array, " d"]:
    vector = jax.random.normal(key, (dimension,))
    return vector / jnp.linalg.norm(vector)


def _simulate(deepest: int = DEPTHS[-1]) -> Callable:
    """`deepest` is the depth of (b)."""

    def simulate(x: claims.Instance, key) -> Risks:
        keys = jax.random.split(key, 3)
        source, other = _unit(keys[0], x.d), _unit(keys[1], x.d)
        samples = [max(round(share * x.d), 1) for share in SHARES]
        entries = jax.random.normal(keys[2], (samples[-1], x.d))

        def risk(start, teacher, depth, rows=entries[: samples[0]]):
            return jnp.sum(jnp.square(deep_limit.limit(rows, start, teacher, depth) - teacher))

        def noised(alpha):
            teacher = alpha * source + NOISE * other
            return jnp.stack([risk(source, teacher, depth) for depth in DEPTHS])

        turned = source + ANGLE * other
        turned = turned / jnp.linalg.norm(turned)

        def scaled(source_norm, target_norm):
            teachers = source_norm * source, target_norm * turned
            return jnp.stack([risk(*teachers, deepest, entries[:n]) for n in samples])

        return Risks(noised(1.0), noised(x.alpha), scaled(x.alpha, 1.0), scaled(1.0, x.alpha))

    return simulate


def _spread(risks: Callable) -> Callable:
    """Differences between the depths, as shares of the risk of one layer."""

    def spread(r) -> Float[Array, " deeper"]:
        means = r.mean(risks(r.sim))
        return jnp.abs(means[1:] - means[0]) / means[0]

    return spread


def _ratios(r) -> Float[Array, " shares"]:
    """How much more the target's norm harms than the source's."""
    return r.mean(r.sim.target_scaled) / r.mean(r.sim.source_scaled)


def _harms_more(ratio: Callable) -> claims.Claim:
    return claims.at_least("(b) the target's norm harms more", ratio, lambda r: 1.0)


NO_DIFFERENCE = claims.at_most(
    "(a) alpha = 1: no difference",
    _spread(lambda risks: risks.equal_norms),
    _spread(lambda risks: risks.scaled),
)
DEPTH_HELPS = claims.decreasing("(a) larger alpha: depth helps", lambda r: r.mean(r.sim.scaled))


theorem = claims.Theorem(
    # Below 2, alpha is neither "~ 1" nor clearly larger.
    space=claims.Space(
        d=claims.Size(20, low=10, high=200),
        alpha=claims.Real(2, 10, log=True),
    ),
    simulate=_simulate(),
    claims=(NO_DIFFERENCE, DEPTH_HELPS, _harms_more(lambda r: jnp.max(_ratios(r)))),
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
            claims=(_harms_more(lambda r: _ratios(r)[0]),),
            note="of few samples depth helps where it exceeds |ln k| / c_par^2, about d / n",
        ),
        claims.Reading(
            "(b) with d / 2 samples",
            claims.Finding("whether seven layers suffice for half as many samples as dimensions"),
            claims=(_harms_more(lambda r: _ratios(r)[2]),),
        ),
    ),
    mutants=(
        claims.Mutant(
            "with any number of samples in (b)",
            claims=(_harms_more(lambda r: jnp.min(_ratios(r))),),
        ),
        claims.Mutant("one layer in (b)", simulate=_simulate(deepest=1)),
        claims.Mutant("depth harms", claims=(DEPTH_HELPS.reversed(),)),
        claims.Mutant("no difference at larger alpha", claims=(NO_DIFFERENCE.reversed(),)),
    ),
    keys=128,
    instances=8,
    mutant_instances=8,
)
