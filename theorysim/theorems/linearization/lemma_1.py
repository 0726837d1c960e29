"""The tangent kernel is Lipschitz with at most twice the product of the constants of f and of J.

Lemma 1 of Afzal et al. (2025): ||k_theta1 - k_theta2|| <= 2 Lip(f) Lip(grad f) ||theta1 - theta2||
in the ball where the constants hold. The norm of matrices is not named (operator norm here,
Frobenius beside it). The constants are printed for f(x*), all outputs at once; those of every
single output do not do for outputs that move together.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _models as models

ENTRIES = ("slope", "bend", "frequency", "phase")


class Change(NamedTuple):
    """||k_1 - k_2||, ||k_1 - k_2||_F, ||J_1 - J_2||_F, ||theta_1 - theta_2||."""

    operator: Float[Array, ""]
    frobenius: Float[Array, ""]
    jacobian: Float[Array, ""]
    apart: Float[Array, ""]


def _change(kernel: Float[Array, "n n"], jacobian: Float[Array, "n p"], move) -> Change:
    norm = jnp.linalg.norm
    return Change(norm(kernel, ord=2), norm(kernel), norm(jacobian), norm(move))


def _points(x: claims.Instance) -> list[models.Delta]:
    """Two points of the ball."""
    return [
        x.radius * share * jnp.ravel(way) / jnp.linalg.norm(way)
        for share, way in ((x.first_share, x.first), (x.second_share, x.second))
    ]


def simulate(x: claims.Instance, key) -> Change:
    one, two = _points(x)
    kernel = models.gram_change(x, two, one - two)
    return _change(kernel, models.jacobian_change(x, two, one - two), one - two)


def _copies(x: claims.Instance) -> claims.Instance:
    """A model whose outputs all have the constants of the first one."""
    first = {name: jnp.full(x.n, getattr(x, name)[0]) for name in ENTRIES}
    return x.replace(family=jnp.minimum(x.family, 1), **first)


def simulate_copies(x: claims.Instance, key) -> Change:
    """n outputs that are all the first one: n equal rows of the Jacobian."""
    one, two = _points(x)
    parts = models.jacobian(_copies(x), two), models.jacobian_change(_copies(x), two, one - two)
    before, step = (jnp.tile(part[0], (x.n, 1)) for part in parts)
    return _change(models.kernel_change(before, step), step, one - two)


def predict(x: claims.Instance) -> models.Lipschitz:
    """Both constants on the ball."""
    return models.lipschitz(x, x.radius)


KERNEL = claims.at_most(
    "||k_1 - k_2||",
    lambda r: r.sim.operator,
    lambda r: 2 * r.theory.f * r.theory.jacobian * r.sim.apart,
    statement="||k_1 - k_2|| <= 2 Lip(f) Lip(grad f) ||theta_1 - theta_2||",
)
FROBENIUS = claims.at_most(
    "||k_1 - k_2||_F",
    lambda r: r.sim.frobenius,
    lambda r: 2 * r.theory.f * r.sim.jacobian,
    statement="||k_1 - k_2||_F <= 2 Lip(f) ||J_1 - J_2||_F",
)


theorem = claims.Theorem(
    space=models.model_space(
        radius=claims.Real(0.1, 2, log=True),
        first=claims.Gaussian("n", models.HIDDEN),
        second=claims.Gaussian("n", models.HIDDEN),
        first_share=claims.Real(0, 1),
        second_share=claims.Real(0, 1),
    ),
    simulate=simulate,
    predict=predict,
    claims=(KERNEL,),
    source=claims.Printed("slides, Section 3, Lemma 1", "Lip(k) <= 2 Lip(f) Lip(grad f)"),
    mutants=(claims.Mutant("without the factor 2", claims=(KERNEL.scaled(0.5),)),),
    readings=(
        claims.Reading(
            "Frobenius norm",
            claims.Finding("the same in Frobenius norm, by the change of the Jacobian itself"),
            claims=(FROBENIUS,),
        ),
        claims.Reading(
            "constants of every single output",
            claims.Finding("the constants of every single output for those of all outputs at once"),
            simulate=simulate_copies,
            predict=lambda x: predict(_copies(x)),
            note="n equal outputs have a kernel n times as large: joint constants are needed",
        ),
    ),
)
