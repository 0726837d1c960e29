"""A frozen network performs poorly; fine-tuning needs fewer samples than training from scratch.

Section 5.3 of Shachaf et al. (2021), prose of Figure 3, for two-layer linear networks on one target
task: "Frozen" fixes the first layer after pretraining, "Vanilla" is trained from scratch,
"Finetune" from the source. The figure's settings are not in the main text: normal rows are drawn,
the teachers differ by less than their norm, and all start 0-balanced, Vanilla near zero, where it
finds the least norm. The limits are those of Theorems 5.2, at depth 2, and 5.5 (checked there).
"Constant" is said of a curve beside two others: c is a ratio that samples estimate, and moves with
them; the frozen loss must change by a smaller share of itself than both others.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import deep_linear_limit as deep_limit
from theorysim.systems.linear_regression import project, row_space

DEPTH = 2

# Numbers of samples, as shares of d. Fewer than six leave the mean risk of "Frozen" undecided: c of
# Theorem 5.5 has the tails of Student's t with as many degrees of freedom.
SHARES = (0.2, 0.5, 0.9)


class Risks(NamedTuple):
    """Population risks for inputs N(0, I), by the number of samples."""

    frozen: Float[Array, " shares"]
    vanilla: Float[Array, " shares"]
    finetune: Float[Array, " shares"]


def simulate(x: claims.Instance, key) -> Risks:
    entries = jax.random.normal(key, (round(SHARES[-1] * x.d), x.d))
    target = x.source_direction + x.distance * x.difference

    def risks(rows: Float[Array, "n d"]) -> list[Float[Array, ""]]:
        fitted = dot(rows, x.source_direction)
        scale = jnp.sum(fitted * dot(rows, target)) / jnp.sum(jnp.square(fitted))
        learned = (
            scale * x.source_direction,
            project(row_space(rows), target).parallel,
            deep_limit.limit(rows, x.source_direction, target, DEPTH),
        )
        return [jnp.sum(jnp.square(each - target)) for each in learned]

    return Risks(*map(jnp.stack, zip(*(risks(entries[: round(s * x.d)]) for s in SHARES))))


def _mean(model: str) -> Callable:
    return lambda r: r.mean(getattr(r.sim, model))


def _better(name: str, model: str, other: str) -> claims.Claim:
    return claims.at_most(name, _mean(model), _mean(other))


def _change(model: str) -> Callable:
    """Of the loss, from each number of samples to the last one, as a share of the last loss."""

    def change(r) -> Float[Array, " shares"]:
        means = _mean(model)(r)
        return jnp.abs(means / means[-1] - 1)[:-1]

    return change


def _more_constant(model: str, other: str):
    return claims.at_most(
        f"a constant generalization loss, beside {other}", _change(model), _change(other)
    )


theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(50, low=30, high=200),
        source_direction=claims.UnitVector("d"),
        difference=claims.UnitVector("d"),
        distance=claims.Real(0.1, 0.9),
    ),
    simulate=simulate,
    claims=(
        _better("fine-tuning is better than training from scratch", "finetune", "vanilla"),
        _better("the frozen model performs poorly", "finetune", "frozen"),
        _more_constant("frozen", "vanilla"),
        _more_constant("frozen", "finetune"),
    ),
    source=claims.Printed(
        "Section 5.3 and the caption of Figure 3",
        "the frozen model's performance is poor, and fine-tuning has better sample complexity; a "
        "network whose first layer is fixed has a constant generalization loss",
    ),
    mutants=(
        claims.Mutant(
            "the other way round",
            claims=(
                _better("fine-tuning is better than training from scratch", "vanilla", "finetune"),
                _better("the frozen model performs poorly", "frozen", "finetune"),
            ),
        ),
        claims.Mutant(
            "the others constant",
            claims=tuple(
                _more_constant("frozen", other).reversed() for other in ("vanilla", "finetune")
            ),
        ),
    ),
    keys=128,
    instances=8,
    mutant_instances=8,
)
