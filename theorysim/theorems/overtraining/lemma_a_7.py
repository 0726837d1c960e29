"""Fine-tuning from the ideal start moves every learned feature by a scalar map of its own.

Lemma A.7 of Springer et al. (2025): the run of Eqs. 16 and 17 from Eqs. 7 and 8 is
W_1(k) = U S(k), W_2(k) = S(k) V with S(k) diagonal, S_ii(k) = 1(i <= n) f^(k)(sqrt(pre_i)). Printed
are f with (Eq. 18) and without (Section A.6) a lost factor x in its pull-back, V in place of its
transpose, and the pull-back's anchor as the real start theta^n(0), where the proof uses the ideal
one.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.descent import iterate
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _runs as runs
from theorysim.theorems.overtraining._order import IN_ORDER


class Theory(NamedTuple):
    """S(k), and both factors that it makes."""

    modes: Float[Array, "steps d"]
    first: Float[Array, "steps d d"]
    second: Float[Array, "steps d d"]


def _simulate(anchored_at: Callable) -> Callable:
    """Both factors along the run, pulled back to where the modes are `anchored_at(x)`."""

    def simulate(x: claims.Instance, key):
        anchor = ft.assembled(x, anchored_at(x) ** 2)
        return runs.fine_tune(x, ft.ideal_start(x), anchor, x.steps)

    return simulate


def _predict(factor: bool = True, transposed: bool = True, share: float = 1.0) -> Callable:
    """S(k) and both factors, with or without the `factor` x of the pull-back and V `transposed`."""

    def predict(x: claims.Instance):
        pre, target = ft.pre_spectrum(x), ft.ft_spectrum(x)
        rate, lam = share * ft.learning_rate(x), ft.pull_back(x)

        def f(w):
            moved = w + 2 * rate * w * (target - w**2)
            return moved + 2 * rate * lam * (w if factor else jnp.ones_like(w)) * (pre - w**2)

        modes = jax.vmap(lambda w: ft.learned(x, w))(iterate(f, jnp.sqrt(pre), x.steps))
        first = x.U * modes[:, None, :]
        return Theory(modes, first, modes[:, :, None] * (x.V.T if transposed else x.V))

    return predict


def _rotated_diagonal(r: claims.Run):
    return jnp.einsum("ji,tji->ti", r.x.U, r.sim[0], precision=jax.lax.Precision.HIGHEST)


theorem = claims.Theorem(
    space=ft.fine_tuning_space(steps=claims.Size(50, high=5000), depth=claims.Real(3, 15)),
    simulate=_simulate(ft.ideal_modes),
    predict=_predict(factor=False, transposed=False),
    claims=(
        claims.equal("C1: W_1(k) = U S(k)", lambda r: r.sim[0], lambda r: r.theory.first),
        claims.equal("C2: W_2(k) = S(k) V", lambda r: r.sim[1], lambda r: r.theory.second),
        claims.equal("C3: S_ii(k) = f^(k)", _rotated_diagonal, lambda r: r.theory.modes),
    ),
    printed="Eq. 18",
    source=claims.Printed(
        "Lemma A.7 with f of Eq. 18", "W_1(k) = U S(k), W_2(k) = S(k) V, S_ii = 1(i <= n) f^(k)"
    ),
    note="f has lost a factor x of its pull-back, and W_2 has V in place of its transpose",
    readings=(
        claims.Reading(
            "Section A.6",
            claims.Printed("Lemma A.7 with f of Appendix A.6", "W_2(k) = S(k) V"),
            predict=_predict(transposed=False),
            note="V is printed without its transpose",
        ),
        claims.corrected(
            "W_2(k) = S(k) V^T, with f of Appendix A.6",
            predict=_predict(),
            note="f of Section A.6; W_2 = S V^T, where V is printed without its transpose",
        ),
        claims.Reading(
            "anchored at the real start",
            claims.Printed(
                "Eqs. 16 and 17 in Lemma A.7", "... - 2 eta lam (theta(k) - theta^n(0)) W_2^T"
            ),
            simulate=_simulate(ft.real_modes),
            predict=_predict(factor=False, transposed=False),
            hypotheses=IN_ORDER,
            note="f has lost a factor x and V its transpose; and Eqs. 16 and 17 pull to "
            "theta^n(0), f to the ideal start",
        ),
        claims.Reading(
            "anchored at the real start, with the right map",
            claims.Finding("the anchor of Eqs. 16 and 17 alone, with f of Appendix A.6 and V^T"),
            simulate=_simulate(ft.real_modes),
            predict=_predict(),
            hypotheses=IN_ORDER,
            note="Eqs. 16 and 17 pull to theta^n(0); the map f pulls to the ideal start",
        ),
        claims.Reading(
            "anchored at the real start, corrected",
            claims.Corrected(
                "theta_hat^n(0) for theta^n(0) in Eqs. 16 and 17; W_2(k) = S(k) V^T, with f of "
                "Appendix A.6"
            ),
            predict=_predict(),
            hypotheses=IN_ORDER,
            note="with the ideal start as the anchor, as in the proof",
        ),
    ),
    mutants=(claims.Mutant("half the gradient", predict=_predict(share=0.5)),),
)
