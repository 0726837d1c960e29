"""y_(P->Q) is what an endlessly pretrained network of infinite width says on the target.

Section 6.1 of Liu et al. (2019): y_(P->Q) = H_PQ^T H_P^(-1) y_P "transforms the pretrained labeling
function to the target labels", and y_Q - y_(P->Q) "measures the task similarity". From u(0) = 0 it
is the limit of the outputs; on the source inputs it gives the source labels; and the movement that
it needs on the target, y_(P->Q)^T H_Q^(-1) y_(P->Q), is at most that of the source task.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import two_layer_relu_limit as limit
from theorysim.theorems.transferability import _problem as problem


class Outputs(NamedTuple):
    """Of the pretrained network of infinite width, on the inputs of both tasks."""

    source: Float[Array, " p"]
    target: Float[Array, " q"]


def simulate(x: claims.Instance, key) -> Outputs:
    """Descent without end from u(0) = 0."""
    gram, rate = problem.source_gram(x), problem.stable_rates(x)[0]
    moved = limit.kernel_descent(gram, x.source_labels, rate, jnp.inf).coefficients
    return Outputs(dot(gram, moved), dot(problem.cross_gram(x).T, moved))


def predict(x: claims.Instance) -> Outputs:
    """y_P and y_(P->Q)."""
    return Outputs(x.source_labels, problem.transferred(x))


def transposed(x: claims.Instance) -> Outputs:
    """With H_Q^(-1) H_PQ^T, which also takes labels of the source to the target."""
    lead = dot(problem.cross_gram(x).T, x.source_labels)
    return Outputs(2 * x.source_labels, problem.solve(problem.target_gram(x), lead))


limit_of_outputs = claims.equal("y_(P->Q)", lambda r: r.sim.target, lambda r: r.theory.target)
on_the_source = claims.equal(
    "on the source inputs", lambda r: r.sim.source, lambda r: r.theory.source
)
movement = claims.at_most(
    "movement on the target",
    lambda r: problem.form(problem.target_gram(r.x), r.theory.target),
    lambda r: problem.form(problem.source_gram(r.x), r.x.source_labels),
)
of_two = movement.scaled(1 / 2)

theorem = claims.Theorem(
    space=problem.problem_space(rate_share=claims.Real(0.05, 0.95)),
    assumes=(problem.REGULAR,),
    simulate=simulate,
    predict=predict,
    claims=(limit_of_outputs, on_the_source, movement),
    source=claims.Printed("Section 6.1, below Eq. 3", "y_(P->Q) = H_PQ^T H_P^(-1) y_P"),
    mutants=(
        claims.Mutant("H_Q^(-1) H_PQ^T y_P", predict=transposed),
        claims.Mutant("half of the source's movement", claims=(of_two,)),
    ),
    instances=32,
    mutant_instances=256,
)
