"""How the appendix prints the speed of the overlap.

Appendix A.1 of Dayi and Chen (2024) has the gradient as -2 xi^2 sum_ij lambda_i lambda_j c_i c^_j
sum_p p mu_p^2 A^-p (<w_i, w_j> + xi^2 c_i c^_j m)^(p-1) (u - u^ m), A = 1 + xi^2/k, defines h with
1 + xi^2 in place of A, and A.3.2 and A.5.1 leave out the factor 2. Each is compared with h in
closed form, which `proposition-1` compares with the gradient of the loss.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import speed
from theorysim.theorems.low_rank._generic import GENERIC
from theorysim.theorems.low_rank._problem import DEGREES, problem, problem_space, series


def _display(base, factor: float = 2.0):
    """factor xi^2 sum_ij l_i l_j c_i c^_j sum_p p mu_p^2 base^-p (G_ij + xi^2 c_i c^_j m)^(p-1)."""

    def predict(x: claims.Instance):
        given = problem(x)
        p = jnp.arange(1, DEGREES)
        kicked = x.scale**2 * jnp.outer(given.teacher, given.student) * x.overlap
        inner = (rank_one.gram(given) + kicked)[..., None] / base(x)
        terms = jnp.sum(p * x.mu[1:] ** 2 * inner ** (p - 1), axis=-1) / base(x)
        kicks = jnp.outer(given.readout * given.teacher, given.readout * given.student)
        return factor * x.scale**2 * jnp.sum(kicks * terms)

    return predict


def _square_length(x: claims.Instance):
    """A."""
    return 1 + x.scale**2 / x.k


LOST = _display(_square_length, 1.0)

theorem = claims.Theorem(
    space=problem_space(overlap=claims.Real(-1, 1)),
    simulate=lambda x, key: speed(problem(x), series(x), x.overlap),  # h(m) in closed form
    predict=_display(_square_length),
    claims=(claims.equal("h", lambda r: r.sim, lambda r: r.theory),),
    printed="display before h (A.1)",
    source=claims.Printed(
        "Appendix A.1, the gradient", "sum_p p mu_p^2 (1/(1 + xi^2/k))^p (...)^(p-1)"
    ),
    readings=(
        claims.Reading(
            "display that defines h (A.1)",
            claims.Printed(
                "Appendix A.1, `define h`", "sum_p p mu_p^2 (1/(1 + xi^2))^p (...)^(p-1)"
            ),
            predict=_display(lambda x: 1 + x.scale**2),
            hypotheses=GENERIC,
            note="1 + xi^2 for 1 + xi^2/k",
        ),
        claims.Reading(
            "display that defines h (A.1), corrected",
            claims.Corrected("1 + xi^2/k for 1 + xi^2"),
            note="as in the display before it",
        ),
        claims.Reading(
            "without the factor 2 (A.3.2, A.5.1)",
            claims.Printed(
                "Appendices A.3.2 and A.5.1", "h(m) = sum_l (1/k)^(l+1) sum_s ... T(l, s) m^l"
            ),
            predict=LOST,
            hypotheses=GENERIC,
            note="the factor 2 of the square is lost",
        ),
        claims.Reading(
            "without the factor 2 (A.3.2, A.5.1), corrected",
            claims.Corrected("2 sum_l for sum_l"),
            note="as in Appendix A.1",
        ),
    ),
    mutants=(claims.Mutant("the factor 2 of the square is lost", predict=LOST),),
)
