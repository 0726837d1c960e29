"""For given samples, Theorem 6.1 fails: its probability must be taken over the samples, too.

Footnote 4 of Shachaf et al. (2021): the probability 1 - delta of Eq. 11 is over the random
initialisation of the pretraining network. At infinite width that decides nothing, so the bound is
claimed for every X. Here all samples lie in one half of D, were part of the pretraining data, and
the target differs from the source in the other half only: nothing is left to learn, y~ = 0, and the
population loss stays. Both stages run to their end.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.linear_teachers import _kernel_regime as regime

SAMPLES, FAILURES = (4, 8, 16, 32, 64), (0.5, 0.25, 0.1)

# Smaller constants are not distinguished, as in theorem-6.1.
AS_GOOD_AS_NONE = 0.1


class FineTuned(NamedTuple):
    """Population value of min(1, |error|) after fine-tuning, and both terms of Eq. 11."""

    risk: Float[Array, ""]
    complexity: Float[Array, ""]
    sampling: Float[Array, ""]


def _labels(x: claims.Instance, points: Float[Array, "points d"]) -> tuple[Array, Array]:
    """g_S, a wave in [-1, 1], and g_T: the same in one half of D, a distance of 1 off elsewhere."""
    source = jnp.sin(x.frequency * dot(points, x.field) + x.phase)
    moved = source - jnp.where(source > 0, 1.0, -1.0)
    return source, jnp.where(dot(points, x.side) > 0, source, moved)


def _simulate(one_sided: bool) -> Callable:
    """Samples from one half of D, or from all of it; D is uniform on the sphere."""

    def simulate(x: claims.Instance, key) -> FineTuned:
        drawn = jax.random.normal(key, (x.n_source + x.unseen + x.n, x.d))
        drawn /= jnp.linalg.norm(drawn, axis=1, keepdims=True)
        beyond = jnp.minimum(dot(drawn[-x.n :], x.side), 0) * one_sided
        drawn = drawn.at[-x.n :].add(-2 * beyond[:, None] * x.side)
        samples = drawn[-x.n :]
        seen = jnp.concatenate([drawn[: x.n_source], samples])
        data, (_, task) = regime.Inputs(drawn, seen, samples), _labels(x, drawn)
        before = regime.pretrained(data, _labels(x, seen)[0])
        start = regime.fine_tuning((task - before)[-x.n :], samples)
        error = jnp.abs(task - regime.fine_tuned(data, before, start, jnp.inf))
        return FineTuned(
            regime.population_mean(x, jnp.minimum(error, 1)),
            2 * start.complexity,
            regime.rate_of_sampling(x.n, start.smallest, x.delta),
        )

    return simulate


def _bound(power: float = 0.0) -> claims.Claim:
    """Eq. 11 with both terms under O; a mutant's are divided by n^power."""

    def each(r):
        return r.sim.risk / (r.sim.complexity + r.sim.sampling) * r.x.n**power

    over = {"n": SAMPLES, "delta": FAILURES}
    return regime.constant_for_most("Eq. 11, both terms under O", each, AS_GOOD_AS_NONE, over)


theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(SAMPLES[-1], low=SAMPLES[-1], high=256),
        n=claims.Size(8, high=64),
        n_source=claims.Size(32, high=256),
        unseen=claims.Size(64, high=1024),
        field=claims.UnitVector("d"),
        side=claims.UnitVector("d"),
        frequency=claims.Real(0.1, 10, log=True),
        phase=claims.Real(-3.2, 3.2),
        delta=claims.Real(0.1, 0.5),
    ),
    simulate=_simulate(one_sided=True),
    claims=(_bound(),),
    source=claims.Printed(
        "Section 6, Theorem 6.1, footnote 4",
        "with probability at least 1 - delta, over the random initialization of the pretraining "
        "network",
    ),
    printed="for given samples",
    note="samples on which source and target agree leave nothing to learn, however many they are: "
    "the population loss stays while both terms vanish",
    readings=(
        claims.Reading(
            "over the samples, too",
            claims.Corrected("the probability is over the samples, too"),
            simulate=_simulate(one_sided=False),
            primary=True,
            note="samples from all of D see where the tasks differ, and y~ grows with them",
        ),
    ),
    mutants=(
        claims.Mutant("for given samples, as printed", simulate=_simulate(one_sided=True)),
        claims.Mutant("both terms divided by sqrt(n)", claims=(_bound(0.5),)),
    ),
    keys=16,
    instances=8,
    mutant_instances=8,
)
