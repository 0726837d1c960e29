"""The Gram matrices of both tasks are invertible.

Assumed in Section 6.1 of Liu et al. (2019) for all that follows: lambda_P, lambda_Q > 0. They count
as positive where the inverse keeps half of the digits.
"""

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem

theorem = claims.Theorem(
    space=problem.problem_space(),
    simulate=problem.nothing_to_run,
    claims=problem.REGULAR.can_be_met(),
    source=problem.REGULAR.source,
    survivors=claims.unrefutable(problem.REGULAR.can_be_met()),
)
