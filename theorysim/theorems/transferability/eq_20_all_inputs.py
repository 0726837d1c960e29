"""The bound on units of small preactivation, for all target inputs at once: n_Q, and not n_P.

Eq. 20 of Liu et al. (2019) bounds |S_bar_i|, a count for every target input i, by 2 m n_P R /
(sqrt(2 pi) kappa delta) with probability 1 - delta; it says "for all" of units and steps, not of
inputs. With R for a constant, as in print, the inequality of Markov bounds the sum over the target
inputs, and with it all of them at once, with n_Q in the place of n_P. With one source input, many
target inputs and a delta near 1 the printed bound is little above what each count is on average,
and some input exceeds it in nearly every run; so it is for a kappa of order 1, beyond what Theorem
1 asks for. For each input by itself the print stands (eq-20). Judged where the bound is below m,
what any count is.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import eq_20


def _largest(r):
    return jnp.max(r.sim.value, axis=-1, keepdims=True)


PRINTED = eq_20.likely("Eq. 20: |S_bar_i| for all i at once", _largest, eq_20.bound)
BY_TARGETS = eq_20.likely(PRINTED.name, _largest, lambda r: eq_20.bound(r) * r.x.q / r.x.p)

theorem = claims.Theorem(
    space=problem.problem_space(
        # In many dimensions the counts of the inputs differ.
        d=claims.Size(16, low=2, high=64),
        p=claims.Size(1, high=64),
        q=claims.Size(64, high=512),
        width=claims.Size(1024, low=2, high=65536),
        kappa=claims.Real(0.3, 10, log=True),
        # Below it the printed bound has room, above it so few keys cannot tell.
        failure=claims.Real(0.92, 0.97),
    ),
    assumes=(problem.REGULAR_SOURCE,),
    simulate=eq_20.simulate,
    claims=(PRINTED,),
    source=claims.Printed(
        "Appendix C.1, Eq. 20", "|S_bar_i| <= 2 m n_P R / (sqrt(2 pi) kappa delta)"
    ),
    note="a sum over n_Q target inputs is bounded with n_P; at a kappa beyond Theorem 1",
    readings=(
        claims.Reading(
            "with n_Q",
            claims.Corrected("n_Q for n_P"),
            claims=(BY_TARGETS,),
            primary=True,
        ),
    ),
    mutants=(claims.Mutant("n_P, as printed", claims=(PRINTED,)),),
    keys=512,
    instances=8,
    mutant_instances=8,
)
