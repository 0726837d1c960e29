"""The number of steps that Theorem 7 gives Theorem 8 with the V of Lemma 3.

Theorem 8 of Dayi and Chen (2024): fine-tuning takes O(d k^2 / epsilon^4) samples, by "S =
Omega(lambda_min^2 / sqrt(k))" and Theorem 7, whose T is of order d V / (S^2 epsilon^4). Lemma 3
has V of order lambda_max^4 k^2 at xi = 1, with which T is of order d k^3: one power of k more. This
is an inference: that d k^2 steps suffice is not refuted, and `theorem-8-fine-tuning` measures a
smaller V on the features of Claim 2. Logarithms are divided out; lambda_max = 1.
"""

from theorysim import claims
from theorysim.theorems.low_rank._schedule import Order, schedule_space, steps_scale

ORDER = Order(lambda x: x.least**2 * x.k**-0.5, lambda x: x.k**2)


def _over_k(exponent: float):
    return steps_scale("T over k", ORDER, exponent, relation="at_most")


def _others(d: float = 1.0, epsilon: float = -4.0):
    return (
        steps_scale("T over d", ORDER, d, over="dimension"),
        steps_scale("T over epsilon", ORDER, epsilon, over="epsilon"),
    )


theorem = claims.Theorem(
    space=schedule_space(),
    simulate=lambda x, key: x.k,
    claims=(_over_k(2.0),),
    printed="inference: d k^2 from Lemma 3's V",
    source=claims.Printed(
        "Theorem 8 and its proof, Section 3.5, beside Lemma 3, Section 3.4",
        "O(d k^2 / epsilon^4) samples, by S = Omega(lambda_min^2 / sqrt(k)) and Theorem 7; Lemma "
        "3: V = C lambda_max^4 k^3 xi^2 min{k, 4 xi^2} / (k + xi^2)",
    ),
    note="Theorem 8 itself, that d k^2 suffices, is not refuted: Lemma 3's V, of order k^2 at xi = "
    "1, gives d k^3",
    readings=(
        claims.corrected(
            "O(d k^3 / epsilon^4)",
            claims=(_over_k(3.0), *_others()),
            note="d V / S^2 with V of order k^2 and S of order 1/sqrt(k) is d k^3",
        ),
    ),
    mutants=(
        claims.Mutant(
            "k^2, as printed; d^2, epsilon^-3", claims=(_over_k(2.0), *_others(2.0, -3.0))
        ),
    ),
    instances=4,
)
