"""The Gram matrices of both tasks are invertible.

Assumed in Section 6.1 of Liu et al. (2019) for all that follows: lambda_P, lambda_Q > 0. They count
as positive where the inverse keeps half of the digits.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem

WITNESS = "a witness either exists or not: draws cannot refute existence"


WITNESSES = problem.REGULAR.can_be_met()

theorem = claims.Theorem(
    space=problem.problem_space(),
    simulate=problem.nothing_to_run,
    claims=WITNESSES,
    source=claims.Printed(
        "Section 6.1, below Eq. 3",
        "Assume Gram matrices H_P and H_Q are invertible with smallest eigenvalue lambda_P and "
        "lambda_Q greater than zero.",
    ),
    # The diagonal is 1/2, and with it the largest value that a smallest eigenvalue can have.
    mutants=(
        claims.Mutant(
            "smallest eigenvalues above the largest",
            claims=tuple(claim.against(lambda r: jnp.ones(())) for claim in WITNESSES),
        ),
    ),
    survivors={claim.name: WITNESS for claim in WITNESSES},
)
