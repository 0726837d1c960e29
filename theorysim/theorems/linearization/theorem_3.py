"""A fine-tuned model stays within b (t - (1 - e^(-lambda t)) / lambda) of its linearisation.

Theorem 3 of Afzal et al. (2025), b = 2 Lip(f)^2 r_0 ((4 / lambda) Lip(grad f) r_0 + 1) with r_0 the
residual at the start. The statement does not give the linearised model's flow; it holds for all
four that the slides suggest (`_flow`). The constants are those of a ball that just holds the path,
so that no larger tau hides a gap. Where both models are pulled, or the linearised one is free, both
residuals stay below r_0, and 2 r_0 bounds the gap at all times: past the time where b (...) exceeds
2 r_0 the theorem says nothing more. theorem-3-proof has the displays of the proof.
"""

import dataclasses

from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models


def simulate(x: claims.Instance, key) -> flow.Path:
    return flow.run(x, x.strength, flow.growth_times(x)[-1])


def predict(x: claims.Instance) -> Float[Array, " times"]:
    """t - (1 - e^(-lambda t)) / lambda."""
    return flow.excess_time(x.strength, flow.growth_times(x))


def _bound(r) -> Float[Array, " times"]:
    return flow.gap_factor(r.x, models.lipschitz(r.x, r.sim.radius), r.x.strength) * r.theory


def _straight(r) -> Float[Array, " times"]:
    """A mutant's bound, without the term of the curvature."""
    return 2 * models.lipschitz(r.x, r.sim.radius).f ** 2 * r.x.residual_size * r.theory


def _gap(name: str):
    return claims.at_most(
        f"gap to {name}",
        lambda r: flow.gap(r, name),
        _bound,
        statement="||f - f_linear|| <= b (t - (1 - e^(-lambda t)) / lambda)",
    )


GAPS = tuple(_gap(name) for name in flow.READINGS)
TRIVIAL = tuple(
    dataclasses.replace(
        gap.against(lambda r: 2 * r.x.residual_size), statement="||f - f_linear|| <= 2 r_0"
    )
    for gap in GAPS[:2]
)

theorem = claims.Theorem(
    space=flow.growth_space(),
    simulate=simulate,
    predict=predict,
    claims=GAPS,
    source=claims.Printed(
        "slides, Section 3, Theorem 3",
        "||f_t(x*) - f_linear(x*)|| <= b (t - (1 - e^(-lambda t)) / lambda), b = 2 Lip(f)^2 "
        "||f_0(x*) - y*|| ((4 / lambda) Lip(grad f) ||f_0(x*) - y*|| + 1)",
    ),
    integrates=True,
    readings=(
        claims.Reading(
            "2 r_0 at all times",
            claims.Finding("what the triangle inequality gives without any Lipschitz constant"),
            claims=TRIVIAL,
            note="neither residual exceeds that of the start, so the gap never exceeds their sum",
        ),
    ),
    mutants=(
        claims.Mutant("half of b", claims=tuple(gap.scaled(0.5) for gap in GAPS)),
        claims.Mutant(
            "the term of the curvature lost", claims=tuple(gap.against(_straight) for gap in GAPS)
        ),
        claims.Mutant(
            "the residual for both",
            of=("2 r_0 at all times",),
            claims=tuple(gap.scaled(0.5) for gap in TRIVIAL),
        ),
    ),
)
