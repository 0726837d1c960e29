"""One mode of fine-tuning from the ideal start follows the scalar map f.

Eq. 18 of Springer et al. (2025) and Section A.6, which recalls it: with W_1 = U diag(w) and
W_2 = diag(w) V^T every learned mode is w_i(k) = f^(k)(w_i(0); eta, lam, sqrt(ft_i), sqrt(pre_i)).
The two places print different maps.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.descent import iterate
from theorysim.theorems.overtraining._finetuning import (
    assembled,
    fine_tuning_space,
    ft_spectrum,
    ideal_start,
    learned,
    learning_rate,
    pre_spectrum,
    pull_back,
)
from theorysim.theorems.overtraining._runs import fine_tune


class Modes(NamedTuple):
    """The modes of both factors along the run."""

    first: Float[Array, "steps d"]
    second: Float[Array, "steps d"]


def simulate(x: claims.Instance, key):
    anchor = assembled(x, learned(x, pre_spectrum(x)))
    first, second = fine_tune(x, ideal_start(x), anchor, x.steps)
    return Modes(
        first=jnp.einsum("ji,kji->ki", x.U, first), second=jnp.einsum("kij,ji->ki", second, x.V)
    )


def _predict(pull_factor: Callable, share: float = 1.0) -> Callable:
    """Iterates of f in all modes; the pull-back term is 2 eta lam pull_factor(w) (pre - w^2)."""

    def predict(x: claims.Instance):
        rate, pre, ft = 2 * share * learning_rate(x), pre_spectrum(x), ft_spectrum(x)

        def f(w):
            return w + rate * (w * (ft - w**2) + pull_back(x) * pull_factor(w) * (pre - w**2))

        return iterate(f, jnp.sqrt(pre), x.steps)

    return predict


def _learned(r: claims.Run):
    """Nonnegative for the modes that the ideal start has learned."""
    return r.x.n - 1 - jnp.arange(r.x.d)


theorem = claims.Theorem(
    space=fine_tuning_space(steps=claims.Size(100, high=20_000)),
    simulate=simulate,
    predict=_predict(jnp.ones_like),
    claims=(
        claims.equal("modes of W_1", lambda r: r.sim.first, lambda r: r.theory, where=_learned),
        claims.equal("modes of W_2", lambda r: r.sim.second, lambda r: r.theory, where=_learned),
    ),
    printed="Eq. 18",
    source=claims.Printed(
        "Eq. 18, Appendix A.3.1", "f(x) = x + 2 eta x (sigma^2 - x^2) + 2 eta lam (sigma_0^2 - x^2)"
    ),
    note="the pull-back term has lost its factor x",
    readings=(
        claims.Reading(
            "Section A.6",
            claims.Printed(
                "Appendix A.6", "f(x) = x + 2 eta x (sigma^2 - x^2) + 2 eta lam x (sigma_0^2 - x^2)"
            ),
            predict=_predict(lambda w: w),
            primary=True,
            note="the form that Lemma A.28 recalls; Eq. 18 lost the factor x of its last term",
        ),
    ),
    mutants=(claims.Mutant("half the gradient", predict=_predict(lambda w: w, share=0.5)),),
)
