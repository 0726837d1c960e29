"""The distance grows along fine-tuning, and longer pretraining may transfer worse.

What the experiments of Liu et al. (2019) report of deep networks, asked of their model at infinite
width, from u(0) = 0: "||W - W_0||_F increases monotonously" (Figure 2) for learning rates up to
1 / lambda_max, and "transferability increases only during the early epochs and decreases
afterwards" (Figure 9), of the loss with which fine-tuning starts: for some tasks it is smallest
after an inner number of steps. These are our readings; the print says nothing of the model.
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import two_layer_relu_limit as limit
from theorysim.theorems.transferability import _problem as problem


def simulate(x: claims.Instance, key) -> tuple:
    """||W_Q(k) - W(P)|| after k steps, and ||y_Q - u_Q(P)||^2 after K, both 1, 2, 4, ..."""
    steps = 2.0 ** jnp.arange(14)
    first, second = problem.stable_rates(x)
    source, target = problem.source_gram(x), problem.target_gram(x)

    def distance(k):
        return limit.kernel_descent(target, problem.mismatch(x), second, k).distance

    def start(k):
        moved = limit.kernel_descent(source, x.source_labels, first, k).coefficients
        return jnp.sum(jnp.square(x.target_labels - dot(problem.cross_gram(x).T, moved)))

    return jax.vmap(distance)(steps), jax.vmap(start)(steps)


def _inner(r):
    """The loss at the ends of the curve, over its smallest."""
    curve = r.sim[1]
    return jnp.minimum(curve[0], curve[-1])


grows = claims.increasing("|W_Q(k) - W(P)|_F", lambda r: r.sim[0])
falls = claims.increasing("|W_Q(k) - W(P)|_F", lambda r: -r.sim[0])
inner = claims.exists(
    "an inner number of pretraining steps is best", _inner, lambda r: 1.01 * jnp.min(r.sim[1])
)

theorem = claims.Theorem(
    space=problem.problem_space(rate_share=claims.Real(0.05, 0.5)),
    assumes=(problem.REGULAR,),
    simulate=simulate,
    claims=(grows, inner),
    printed="in the model",
    source=claims.Finding("Figures 2 and 9, asked of the model of Section 6"),
    mutants=(claims.Mutant("a falling distance", claims=(falls,)),),
    survivors=claims.unrefutable((inner,)),
    instances=256,
    mutant_instances=64,
)
