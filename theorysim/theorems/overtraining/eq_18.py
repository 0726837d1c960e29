"""One mode of fine-tuning from the ideal start follows the scalar map f.

Eq. 18 of Springer et al. (2025) and Section A.6, which recalls it: with W_1 = U diag(w) and
W_2 = diag(w) V^T every learned mode is w_i(k) = f^(k)(w_i(0); eta, lam, sqrt(ft_i), sqrt(pre_i)).
The two places print different maps.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.descent import iterate
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining._runs import fine_tune


def simulate(x: claims.Instance, key):
    """The modes of both factors along the run."""
    anchor = ft.assembled(x, ft.ideal_features(x))
    first, second = fine_tune(x, ft.ideal_start(x), anchor, x.steps)
    return jnp.einsum("ji,kji->ki", x.U, first), jnp.einsum("kij,ji->ki", second, x.V)


def _predict(pull: Callable, share: float = 1.0) -> Callable:
    """Iterates of f in all modes; the pull-back term is 2 eta lam pull(w) (pre - w^2)."""

    def predict(x: claims.Instance):
        rate, pre, target = 2 * share * ft.learning_rate(x), ft.pre_spectrum(x), ft.ft_spectrum(x)

        def f(w):
            return w + rate * (w * (target - w**2) + ft.pull_back(x) * pull(w) * (pre - w**2))

        return iterate(f, jnp.sqrt(pre), x.steps)

    return predict


def _follows(name: str, factor: int):
    return claims.equal(name, lambda r: r.sim[factor], lambda r: r.theory, where=ft.is_learned)


theorem = claims.Theorem(
    space=ft.fine_tuning_space(steps=claims.Size(100, high=20_000)),
    simulate=simulate,
    predict=_predict(jnp.ones_like),
    claims=(_follows("modes of W_1", 0), _follows("modes of W_2", 1)),
    printed="Eq. 18",
    source=claims.Printed(
        "Eq. 18, Appendix A.3.1", "f(x) = x + 2 eta x (sigma^2 - x^2) + 2 eta lam (sigma_0^2 - x^2)"
    ),
    note="the pull-back term has lost its factor x",
    readings=(
        claims.Reading(
            "Section A.6",
            claims.Printed("Appendix A.6", "... + 2 eta lam x (sigma_0^2 - x^2)"),
            predict=_predict(lambda w: w),
            primary=True,
            note="the form that Lemma A.28 recalls; Eq. 18 lost the factor x of its last term",
        ),
    ),
    mutants=(claims.Mutant("half the gradient", predict=_predict(lambda w: w, share=0.5)),),
)
