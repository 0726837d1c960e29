"""A batch can be as large as Assumption A.13 asks, which may be nothing at all.

Assumption A.13 of Springer et al. (2025): m >= C_1^2 (d - log(10 K delta)) / epsilon^2 with the
constant C_1 of Lemma A.12. It shrinks with the number K of steps, and asks for nothing once
10 K delta > e^d. A union bound over K batches needs d + log(K / delta), which grows with K.
"""

from theorysim import claims
from theorysim.theorems.overtraining._batch_sizes import AS_PRINTED, UNION

FIELDS = {
    "d": claims.Size(3, high=16),
    "steps": claims.Size(12, high=1000),
    "failure": claims.Real(0.02, 0.5, log=True),
    "accuracy": claims.Real(1e-3, 1, log=True),
}

PRINTED, UNITED = AS_PRINTED.assumption().can_be_met(), UNION.assumption().can_be_met()

theorem = claims.Theorem(
    space=claims.Space(**FIELDS),
    simulate=lambda x, key: (),
    source=AS_PRINTED.source,
    note="log(10 K delta) enters with the wrong sign for a union bound over K batches",
    claims=PRINTED,
    readings=(claims.Reading("corrected", UNION.source, claims=UNITED, primary=True),),
    survivors=claims.unrefutable((*PRINTED, *UNITED)),
)
