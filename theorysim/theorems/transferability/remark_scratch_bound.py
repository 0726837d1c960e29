"""From scratch the weights move by the root of y^T H_Q^(-1) y, not by that form itself.

Text below Theorem 2 of Liu et al. (2019): "when training on the target dataset from scratch, the
upper bound of ||W(Q) - W(0)||_F is y_Q^T H_Q^(-1) y_Q", at leading order (infinite width, kappa to
0). Theorem 2 itself has the square root. The distance after any number of steps is that of
infinite width, which transferability/ntk-two-stage checks.
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.systems.two_layer_relu_limit import kernel_descent
from theorysim.theorems.transferability import _problem as problem


def simulate(x: claims.Instance, key):
    """The distance after 1, 2, 4, ... steps."""
    steps = 2.0 ** jnp.arange(12)
    rate, gram = problem.stable_rates(x)[1], problem.target_gram(x)
    return jax.vmap(lambda k: kernel_descent(gram, x.target_labels, rate, k).distance)(steps)


def _claim(power: float, factor: float = 1.0) -> tuple:
    def bound(r):
        return factor * problem.form(problem.target_gram(r.x), r.x.target_labels) ** power

    return (claims.at_most("|W(Q) - W(0)|_F", lambda r: r.sim, bound),)


theorem = claims.Theorem(
    space=problem.problem_space(rate_share=claims.Real(0.05, 0.5)),
    assumes=(problem.REGULAR_TARGET,),
    simulate=simulate,
    claims=_claim(1.0),
    source=claims.Printed(
        "Section 6.3, below Theorem 2",
        "when training on the target dataset from scratch, the upper bound of ||W(Q) - W(0)||_F is "
        "y_Q^T H_Q^(-1) y_Q",
    ),
    note="the form bounds the square of the distance",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("sqrt(y_Q^T H_Q^(-1) y_Q)"),
            claims=_claim(0.5),
            primary=True,
            note="the root that Theorem 2 has",
        ),
    ),
    mutants=(claims.Mutant("half of the root", claims=_claim(0.5, 0.5)),),
)
