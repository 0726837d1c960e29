"""Without features the teacher is a generalised linear model.

Eqs. 1 to 3 of Dayi and Chen (2024): the base model is lambda^T s(W x), the teacher has W + xi c
u^T. With W = 0, c = (1/sqrt(k), ..., 1/sqrt(k)), lambda = (1/k, ..., 1/k) and xi = sqrt(k) it is
s(<u, x>), whatever k is. With features of its own, the rank-one step moves the loss only through c
and u: (-c, -u) is the same teacher.
"""

import jax.numpy as jnp
from jaxtyping import Array

from theorysim import claims
from theorysim.systems import rank_one
from theorysim.theorems.low_rank._problem import activation, problem, problem_space, truth


def _teacher(x: claims.Instance, weights: Array, readout: Array) -> Array:
    """lambda^T s(weights x)."""
    return rank_one.network(activation(x).value, weights, readout, x.input)


def _linear(scale_power: float = 0.5, readout_power: float = 1.0):
    """The special case, with xi = k^scale_power and lambda = k^-readout_power."""

    def simulate(x: claims.Instance, key) -> Array:
        kick = x.k**scale_power * jnp.outer(jnp.full(x.k, x.k**-0.5), truth(x))
        return _teacher(x, kick, jnp.full(x.k, x.k**-readout_power))

    return simulate


def _turned(sign: float):
    """The teacher with (c, u) and with (-c, sign u)."""

    def simulate(x: claims.Instance, key) -> tuple[Array, Array]:
        given = problem(x)
        kick = given.scale * jnp.outer(given.teacher, truth(x))
        one, other = given.features + kick, given.features - sign * kick
        return _teacher(x, one, given.readout), _teacher(x, other, given.readout)

    return simulate


ONE = claims.equal("f(x) = s(<u, x>)", lambda r: r.sim, lambda r: r.theory)
SAME = claims.equal("(-c, -u) is the same teacher", lambda r: r.sim[0], lambda r: r.sim[1])

theorem = claims.Theorem(
    space=problem_space(input=claims.Gaussian("d")),
    simulate=_linear(),
    predict=lambda x: activation(x).value(jnp.dot(truth(x), x.input)),
    claims=(ONE,),
    aliases=("equation-1", "equation-2"),
    printed="GLM regression",
    source=claims.Printed(
        "Eqs. 2 and 3 and the special case after them, Section 1.1",
        "W = 0, c = (1/sqrt(k), ..., 1/sqrt(k)), lambda = (1/k, ..., 1/k), xi = sqrt(k): "
        "f_theta(x) = sigma(<u, x>)",
    ),
    readings=(
        claims.Reading(
            "u up to its sign",
            claims.Finding("u is determined up to a sign that c shares"),
            simulate=_turned(-1.0),
            claims=(SAME,),
            note="(c, u) and (-c, -u) are one teacher: the sign of h(0) is a convention",
        ),
    ),
    mutants=(
        claims.Mutant("xi = 1", simulate=_linear(scale_power=0.0)),
        claims.Mutant("lambda = 1 / sqrt(k)", simulate=_linear(readout_power=0.5)),
        claims.Mutant("(-c, u)", of=("u up to its sign",), simulate=_turned(1.0)),
    ),
)
