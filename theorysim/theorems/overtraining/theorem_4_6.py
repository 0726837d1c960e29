"""Fine-tuning harms the pre-training loss the more, the more features were learned before.

Theorem 4.6 (progressive sensitivity) of Springer et al. (2025), formally Theorem A.24. With
Delta_pre(n) = L_pre(theta^n(K)) - L_pre(theta^n(0)): it is never negative and grows with n. The
main text asks for (alpha, 1)-misaligned spectra with alpha > 1 and leaves the sizes open (they are
those of the corrected reading here); the appendix asks for Assumption A.21 instead. Item 3 of A.21
is read as printed, as the Assumption A.10 that it names, and corrected.

The batch is infinite, which item 4 of A.21 admits. The proof is a statement of its own.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _practice as practice
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining._sensitivity import change, simulation, simulation_of

NOT_NEGATIVE = claims.at_least(
    "Delta_pre(n) >= 0", change, lambda r: 0.0, statement="L_pre(theta^n(K)) >= L_pre(theta^n(0))"
)
GROWS = claims.increasing("Delta_pre(n) in n", change)


def _misaligned(x: claims.Instance):
    """Margin of ft_i > pre_i for all i > 1."""
    return jnp.min((stage.ft_spectrum(x) / stage.pre_spectrum(x))[1:] - 1, initial=jnp.inf)


APPENDIX = "Delta_pre(n) >= 0 and Delta_pre(n) does not decrease with n"

theorem = claims.Theorem(
    space=stage.stage_space(**practice.FIELDS),
    assumes=(a_21.CORRECTED.assumption(),),
    hypotheses={
        "(alpha, 1)-misaligned, alpha > 1": claims.strict(_misaligned),
        "fine-tuning features in order": claims.strict(stage.in_order),
    },
    simulate=simulation(a_21.CORRECTED),
    claims=(NOT_NEGATIVE, GROWS),
    source=claims.Printed(
        "Theorem 4.6", "(alpha, 1)-misaligned, alpha > 1: Delta_pre(t_n) >= 0 and increases with n"
    ),
    printed="main text",
    note="the main text leaves the sizes open: here they are those of the corrected reading",
    aliases=("theorem-a.24",),
    readings=(
        a_21.AS_PRINTED.reading(
            "appendix",
            simulation,
            source=claims.Printed("Theorem A.24 under Assumption A.21 as printed", APPENDIX),
            note=a_21.NO_RATE,
        ),
        a_21.AS_LABELLED.reading(
            "appendix, item 3 as A.10",
            simulation,
            source=claims.Printed(
                "Theorem A.24 under Assumption A.21, item 3 by its label, Assumption A.10", APPENDIX
            ),
            note=a_21.NO_UNIT,
        ),
        a_21.CORRECTED.reading("corrected", simulation, note=a_21.FREE_OF_SCALE, primary=True),
        practice.reading(
            "practical sizes", "Theorem 4.6", a_21.AS_LABELLED, simulation_of(practice.run)
        ),
    ),
    mutants=(
        claims.Mutant(
            "fine-tuning helps the pre-training loss, the more the longer",
            of=("main text", "corrected"),
            claims=(NOT_NEGATIVE.reversed(), GROWS.reversed()),
        ),
    ),
)
