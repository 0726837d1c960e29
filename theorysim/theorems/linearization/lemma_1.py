"""The tangent kernel is Lipschitz with at most twice the product of the constants of f and of J.

Lemma 1 of Afzal et al. (2025): ||k_theta1 - k_theta2|| <= 2 Lip(f) Lip(grad f) ||theta1 - theta2||
in the ball where the constants hold. The norm of matrices is not named (operator norm here,
Frobenius beside it), nor whether the constants are those of all outputs at once (they are read so)
or of every single one, which fails for outputs that move together.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Gaussian, Instance, Mutant, Printed, Reading, Real, Theorem, at_most
from theorysim.theorems.linearization import _models as models

ENTRIES = ("slope", "bend", "frequency", "phase")


def _points(x: Instance):
    """Two points of the ball."""
    return [
        x.radius * share * jnp.ravel(way) / jnp.linalg.norm(way)
        for share, way in ((x.first_share, x.first), (x.second_share, x.second))
    ]


def simulate(x: Instance, key):
    one, two = _points(x)
    change = models.gram_change(x, two, one - two)
    return {
        "operator": jnp.linalg.norm(change, ord=2),
        "frobenius": jnp.linalg.norm(change),
        "slope": jnp.linalg.norm(models.jacobian_change(x, two, one - two)),
        "apart": jnp.linalg.norm(one - two),
    }


def _copies(x: Instance) -> Instance:
    """A model whose outputs all have the constants of the first one."""
    first = {name: jnp.full(x.n, getattr(x, name)[0]) for name in ENTRIES}
    return x.replace(family=jnp.minimum(x.family, 1), **first)


def simulate_copies(x: Instance, key):
    """n outputs that are all the first one: n equal rows of the Jacobian."""
    one, two = _points(x)
    parts = models.jacobian(_copies(x), two), models.jacobian_change(_copies(x), two, one - two)
    change = models.kernel_change(*(jnp.tile(part[0], (x.n, 1)) for part in parts))
    return {"operator": jnp.linalg.norm(change, ord=2), "apart": jnp.linalg.norm(one - two)}


def predict(x: Instance):
    constants = models.lipschitz(x, x.radius)
    return constants.f * constants.jacobian


def predict_copies(x: Instance):
    return predict(_copies(x))


def _claim(factor: float, norm: str = "operator"):
    return at_most(
        "||k_1 - k_2||",
        lambda r: r.sim[norm],
        lambda r: factor * r.theory * r.sim["apart"],
        statement="||k_1 - k_2|| <= 2 Lip(f) Lip(grad f) ||theta_1 - theta_2||",
    )


theorem = Theorem(
    space=models.model_space(
        radius=Real(0.1, 2, log=True),
        first=Gaussian("n", models.HIDDEN),
        second=Gaussian("n", models.HIDDEN),
        first_share=Real(0, 1),
        second_share=Real(0, 1),
    ),
    simulate=simulate,
    predict=predict,
    claims=(_claim(2),),
    mutants=(Mutant("without the factor 2", claims=(_claim(1),)),),
    readings=(
        Reading(
            "Frobenius norm",
            Printed("", ""),
            claims=(
                at_most(
                    "||k_1 - k_2||_F",
                    lambda r: r.sim["frobenius"],
                    lambda r: 2 * models.lipschitz(r.x, r.x.radius).f * r.sim["slope"],
                    statement="||k_1 - k_2||_F <= 2 Lip(f) ||J_1 - J_2||_F",
                ),
            ),
        ),
        Reading(
            "constants of every single output",
            Printed("", ""),
            simulate=simulate_copies,
            predict=predict_copies,
            claims=(_claim(2),),
            note="n equal outputs have a kernel n times as large: joint constants are meant",
        ),
    ),
)
