"""A fine-tuned model stays within b (t - (1 - e^(-lambda t)) / lambda) of its linearisation.

Theorem 3 of Afzal et al. (2025), b = 2 Lip(f)^2 r_0 ((4 / lambda) Lip(grad f) r_0 + 1) with r_0 the
residual at the start. The statement does not give the linearised model's flow; it holds for all
four that the slides suggest (`_flow`). theorem-3-proof has the displays of the proof.
"""

from collections.abc import Callable

from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _flow as flow


def simulate(x: claims.Instance, key) -> flow.Path:
    return flow.run(x, x.strength, flow.growth_times(x)[-1])


def _predict(curved: bool = True) -> Callable:
    """The bound of the gap."""

    def predict(x: claims.Instance) -> Float[Array, " times"]:
        b, _ = flow.gap_factor(x, curved)
        return b * flow.excess_time(x.strength, flow.growth_times(x))

    return predict


def _gap(name: str):
    return claims.at_most(
        f"gap to {name}",
        lambda r: flow.gap(r, name),
        lambda r: r.theory,
        statement="||f - f_linear|| <= b (t - (1 - e^(-lambda t)) / lambda)",
    )


GAPS = tuple(_gap(name) for name in flow.READINGS)

theorem = claims.Theorem(
    space=flow.growth_space(),
    simulate=simulate,
    predict=_predict(),
    claims=GAPS,
    source=claims.Printed(
        "slides, Section 3, Theorem 3",
        "||f_t(x*) - f_linear(x*)|| <= b (t - (1 - e^(-lambda t)) / lambda), b = 2 Lip(f)^2 "
        "||f_0(x*) - y*|| ((4 / lambda) Lip(grad f) ||f_0(x*) - y*|| + 1)",
    ),
    integrates=True,
    mutants=(
        claims.Mutant("half of b", claims=tuple(gap.scaled(0.5) for gap in GAPS)),
        claims.Mutant("the term of the curvature lost", predict=_predict(curved=False)),
    ),
)
