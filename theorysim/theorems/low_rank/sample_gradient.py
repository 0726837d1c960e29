"""The gradient of a sample's loss, as Appendix A.2 prints it.

Dayi and Chen (2024), unnumbered: (k / (xi^2 + k)) grad_u^ L = 2 (f* - f^) sum_i lambda_i c^_i
s'((k / (xi^2 + k)) <w_i + c_i u, x>) x, and, in the proof of Proposition 5, the spherical gradient
of f^ is (I - u^ u^^T) x sum_i lambda_i xi c^_i / sqrt(1 + xi^2 c^_i^2) s'(<v_i, x>). Both are
compared with automatic differentiation of the loss of `proposition-1`. The student's neurons v^_i
belong into s', and the first has the sign, xi and the root of 1 + xi^2/k lost.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import rank_one
from theorysim.theorems.low_rank._problem import activation, learner, problem, problem_space, truth


def _networks(x: claims.Instance, direction: Array) -> tuple[Array, Array]:
    """f*(x) and f^(x)."""
    given, value = problem(x), activation(x).value
    rows = (
        rank_one.neurons(given, given.teacher, truth(x)),
        rank_one.neurons(given, given.student, direction),
    )
    goal, own = (rank_one.network(value, each, given.readout, x.input) for each in rows)
    return goal, own


def _loss_slope(x: claims.Instance, key) -> Float[Array, " d"]:
    """grad_u^ L."""

    def loss(direction):
        goal, own = _networks(x, direction)
        return jnp.square(goal - own)

    return jax.grad(loss)(learner(x, x.overlap))


def _student_slope(x: claims.Instance, key) -> Float[Array, " d"]:
    """(I - u^ u^^T) grad f^."""
    here = learner(x, x.overlap)
    slope = jax.grad(lambda direction: _networks(x, direction)[1])(here)
    return slope - here * jnp.dot(here, slope)


def _weighted(x: claims.Instance, weights: Array, inner: Array) -> Float[Array, ""]:
    """sum_i lambda_i weights_i s'(inner_i)."""
    return jnp.sum(problem(x).readout * weights * jax.vmap(jax.grad(activation(x).value))(inner))


def _kick(x: claims.Instance) -> Float[Array, " k"]:
    """xi c^_i / sqrt(1 + xi^2 c^_i^2)."""
    given = problem(x)
    return given.scale * given.student / jnp.sqrt(1 + given.scale**2 * given.student**2)


def _own(x: claims.Instance) -> Float[Array, " k"]:
    """<v^_i, x>."""
    given = problem(x)
    return rank_one.neurons(given, given.student, learner(x, x.overlap)) @ x.input


def _printed_loss(x: claims.Instance) -> Float[Array, " d"]:
    given = problem(x)
    share = x.k / (given.scale**2 + x.k)
    inner = share * (given.features + jnp.outer(given.teacher, truth(x))) @ x.input
    goal, own = _networks(x, learner(x, x.overlap))
    return 2 * (goal - own) * _weighted(x, given.student, inner) * x.input / share


def _loss(factor: float):
    def predict(x: claims.Instance) -> Float[Array, " d"]:
        goal, own = _networks(x, learner(x, x.overlap))
        return factor * (goal - own) * _weighted(x, _kick(x), _own(x)) * x.input

    return predict


def _student(inner):
    def predict(x: claims.Instance) -> Float[Array, " d"]:
        here = learner(x, x.overlap)
        outward = x.input - here * jnp.dot(here, x.input)
        return outward * _weighted(x, _kick(x), inner(x))

    return predict


def _teachers(x: claims.Instance) -> Float[Array, " k"]:
    """<v_i, x>."""
    given = problem(x)
    return rank_one.neurons(given, given.teacher, truth(x)) @ x.input


GRADIENT = claims.equal("the gradient", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=problem_space(
        overlap=claims.Real(-0.9, 0.9),
        elsewhere=claims.Gaussian("d"),
        input=claims.Gaussian("d"),
    ),
    simulate=_loss_slope,
    predict=_printed_loss,
    claims=(GRADIENT,),
    printed="of the loss (A.2)",
    source=claims.Printed(
        "Appendix A.2, the sample gradient",
        "(k/(xi^2+k)) grad_u^ L = 2 (f* - f^) sum_i lambda_i c^_i "
        "sigma'((k/(xi^2+k)) <w_i + c_i u, x>) x",
    ),
    note="its sign, xi, the root of 1 + xi^2/k and the student's neurons are lost",
    readings=(
        claims.Reading(
            "of the student (proof of Proposition 5)",
            claims.Printed(
                "Proof of Proposition 5, Appendix A.2",
                "(I - u^ u^^T) x [sum_i lambda_i xi c^_i / sqrt(1 + xi^2 c^_i^2) sigma'(<v_i, x>)]",
            ),
            simulate=_student_slope,
            predict=_student(_teachers),
            note="the neurons in sigma' are the student's, not the teacher's",
        ),
        claims.corrected(
            "-2 (f* - f^) sum_i lambda_i xi c^_i / sqrt(1 + xi^2/k) sigma'(<v^_i, x>) x",
            name="of the loss (A.2), corrected",
            predict=_loss(-2.0),
            note="with the sign, xi / sqrt(1 + xi^2/k) and the student's neurons it holds",
        ),
        claims.Reading(
            "of the student (proof of Proposition 5), corrected",
            claims.Corrected("sigma'(<v^_i, x>) for sigma'(<v_i, x>)"),
            simulate=_student_slope,
            predict=_student(_own),
            note="with the student's neurons it is the gradient of f^",
        ),
    ),
    mutants=(
        claims.Mutant("the sign is lost", predict=_loss(2.0)),
        claims.Mutant(
            "the teacher's neurons",
            of=("of the student (proof of Proposition 5), corrected",),
            predict=_student(_teachers),
        ),
    ),
)
