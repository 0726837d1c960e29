"""The correlation of the input with the base's error points along u.

Remark 1 of Dayi and Chen (2024): for ReLU and neurons that are not normalised,
E_x[x (f_base(x) - f_teacher(x))] = mu_1 (sum_i lambda_i c_i) u with mu_1 = 1/2.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.gaussian import relu
from theorysim.numerics.random import normal
from theorysim.theorems.low_rank._generic import GENERIC
from theorysim.theorems.low_rank._problem import problem, problem_space, truth

SAMPLES = 128  # per key


def simulate(x: claims.Instance, key) -> Float[Array, " d"]:
    """The mean over samples."""
    given = problem(x)
    inputs = normal(key, (SAMPLES, x.d))
    moved = given.features + given.scale * given.teacher[:, None] * truth(x)
    base, teacher = (
        jax.nn.relu(inputs @ rows.T) @ given.readout for rows in (given.features, moved)
    )
    return jnp.mean((base - teacher)[:, None] * inputs, axis=0)


def _predict(factor: float):
    def predict(x: claims.Instance) -> Float[Array, " d"]:
        given = problem(x)
        mu_1 = relu().coefficients(2)[1]
        return factor * mu_1 * jnp.sum(given.readout * given.teacher) * given.scale * truth(x)

    return predict


theorem = claims.Theorem(
    space=problem_space(),
    simulate=simulate,
    predict=_predict(1.0),
    claims=(
        claims.equal("E[x (f_base - f_teacher)]", lambda r: r.mean(r.sim), lambda r: r.theory),
    ),
    hypotheses=GENERIC,
    source=claims.Printed(
        "Remark 1, Section 1.2.3",
        "E_x[x (f_theta_0(x) - f_theta(x))] = mu_1(sigma) (sum_i lambda_i c_i) u",
    ),
    note="the sign is the opposite one",
    readings=(
        claims.corrected(
            "-mu_1 for mu_1",
            predict=_predict(-1.0),
            hypotheses={},
            note="Stein's identity gives sum_i lambda_i (w_i - (w_i + c_i u)) / 2",
        ),
    ),
    mutants=(
        claims.Mutant("mu_1 = 1", predict=_predict(-2.0)),
        claims.Mutant("the printed sign", predict=_predict(1.0)),
    ),
    keys=256,
)
