"""Only the quadratic form of the noise survives in the mean of a quadratic loss.

The proof of Proposition D.1 of Springer et al. (2025), Eqs. 19 and 20: the rise of the loss is
written as a difference of losses without their halves, the odd terms vanish, and the quadratic form
has the trace as its mean.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining import proposition_d_1 as statement


def simulate(x: claims.Instance, key):
    """Means over the noise: of the loss's rise, of Eq. 19's middle, of eps^T H eps.

    Draws without their negatives: that odd terms vanish is asked.
    """
    noise = jax.random.normal(key, (statement.DRAWS, x.d))
    form = jnp.sum(noise * dot(noise, statement.hessian(x)), axis=1)
    return statement.rise(x, noise), statement.rise(x, noise, share=1.0) / 2, jnp.mean(form)


def _displays(left: Callable) -> tuple:
    """Eqs. 19 and 20, with what stands on the left."""

    def printed_rise(r: claims.Run):
        return r.mean(r.sim[1])

    def expected_form(r: claims.Run):
        return r.x.lam**2 * r.mean(r.sim[2]) / 2

    return (
        claims.equal("Eq. 19", left, printed_rise),
        claims.equal("Eq. 20, the odd terms vanish", printed_rise, expected_form),
        claims.equal("Eq. 20, the trace", expected_form, lambda r: r.theory),
    )


AMENDED = _displays(lambda r: r.mean(r.sim[0]))

theorem = claims.Theorem(
    space=statement.theorem.space,
    simulate=simulate,
    predict=statement.predict,
    keys=256,
    claims=_displays(lambda r: -r.mean(r.sim[0])),
    source=claims.Printed("Eqs. 19 and 20, Appendix D", "E[L(theta) - L(theta + lam eps)] = ..."),
    printed="proof displays",
    note="Eq. 19 subtracts the moved loss from the other: the sign is reversed",
    readings=(
        claims.corrected(
            "L(theta + lam eps) - L(theta) on the left of Eq. 19",
            name="proof displays, corrected",
            claims=AMENDED,
            note="with the sign of the proposition every link of the chain holds",
        ),
    ),
    mutants=(
        claims.Mutant(
            "the whole trace",
            of=("proof displays", "proof displays, corrected"),
            predict=lambda x: 2 * statement.predict(x),
        ),
        claims.Mutant(
            "the sign reversed, the whole form",
            claims=(AMENDED[0].scaled(-1.0), AMENDED[1].scaled(2.0)),
        ),
    ),
)
