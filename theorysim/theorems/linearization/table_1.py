"""The printed table does not show that a stronger pull makes the model more linear.

Section 6 of Afzal et al. (2025), RoBERTa with LoRA on CoLA and SST-2: "As the regularization
strength increases, the model behaves more like a linear model". Of the four rows only the distance
from the start is monotone in lambda; the distance of outputs and the Kullback-Leibler divergence
from the linearised model are so on neither data set. The numbers are those of the print, nothing is
trained.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims

STRENGTHS = (50.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.1, 0.0)
DISTANCE = (
    (0.280, 0.350, 0.404, 0.5263, 0.6148, 0.6946, 0.8223, 0.960),
    (0.292, 0.336, 0.369, 0.424, 0.520, 0.700, 1.589, 2.519),
)
GAP = (
    (1.06, 1.12, 1.39, 1.25, 1.27, 1.32, 1.28, 1.47),
    (1.712, 2.303, 2.635, 2.957, 3.217, 3.331, 3.397, 2.791),
)
DIVERGENCE = (
    (0.1060, 0.1377, 0.200, 0.1613, 0.1788, 0.1961, 0.1599, 0.210),
    (0.320, 0.433, 0.476, 0.517, 0.545, 0.560, 0.578, 0.540),
)


def simulate(x: claims.Instance, key) -> Float[Array, "3 strengths"]:
    """The printed rows of CoLA or of SST-2, the strongest pull first."""
    rows = jnp.array([DISTANCE, GAP, DIVERGENCE])
    return jnp.where(x.data < 0.5, rows[:, 0], rows[:, 1])


def _row(name: str, row: int):
    return claims.increasing(name, lambda r: r.sim[row])


MOVED = _row("||theta_t - theta_0|| as lambda falls", 0)
LINEAR = (
    _row("||f - f_linear|| as lambda falls", 1),
    _row("Kullback-Leibler divergence as lambda falls", 2),
)

theorem = claims.Theorem(
    space=claims.Space(data=claims.Choice(0.0, 1.0)),
    simulate=simulate,
    claims=LINEAR,
    source=claims.Printed(
        "slides, Section 6, table",
        "As the regularization strength increases, the model behaves more like a linear model",
    ),
    note="gap: CoLA 1.39 at lambda = 5, 1.25 at 2, SST-2 3.397 at 0.1, 2.791 at 0; "
    "divergence: CoLA 0.2 at 5, 0.1613 at 2, SST-2 0.578 at 0.1, 0.54 at 0",
    readings=(
        claims.Reading(
            "the distance from the start",
            claims.Printed("slides, Section 6, table", "||theta_t - theta_0||_2"),
            claims=(MOVED,),
            note="the row that does fall with the pull",
        ),
    ),
    mutants=(
        claims.Mutant("less like one", claims=tuple(row.reversed() for row in LINEAR)),
        claims.Mutant(
            "the distance grows with lambda",
            of=("the distance from the start",),
            claims=(MOVED.reversed(),),
        ),
    ),
)
