"""With one learning rate for both factors, the factor B of LoRA hardly learns in wide models.

Hayou, Ghosh and Yu (2024), the toy model of Section 3: for f(x) = b a^T x, a of width n, one step
of descent on (f - y)^2 / 2 changes f by -eta_a U b^2 |x|^2 - eta_b U (a^T x)^2 + eta_a eta_b U^2 b
(a^T x) |x|^2, U = f - y. With a^T x = Theta(1), |x|^2 = Theta(n) and learning rates of 1 / n the
part of b falls like 1 / n, that of a stays; with eta_b = Theta(1), the choice of LoRA+, both stay.
"""

import jax
import jax.numpy as jnp

from theorysim import claims

WIDTHS = {"n": (16, 64, 256)}


def _step(x: claims.Instance, key, power_a: float = -1.0, power_b: float = 0.0):
    """The change of f in one step of both, and of either factor alone.

    Learning rates are of the order of these powers of n; that of b follows `plus` where it is 0.
    """
    drawn = jax.random.normal(key, (x.n,))
    inputs = x.size * jnp.sqrt(x.n) * drawn / jnp.linalg.norm(drawn)
    a = x.along * inputs / (inputs @ inputs)  # a^T x = x.along, whatever the width

    def f(w):
        return w[1] * (w[0] @ inputs)

    start = (a, x.outer)
    slope_a, slope_b = jax.grad(lambda w: (f(w) - x.label) ** 2 / 2)(start)
    first = a - x.rate_a * x.n**power_a * slope_a
    second = x.outer - _rate_b(x) * x.n**power_b * slope_b
    ends = {"both": (first, second), "a": (first, x.outer), "b": (a, second)}
    return {name: f(w) - f(start) for name, w in ends.items()}


def _rate_b(x: claims.Instance):
    return jnp.where(x.plus > 0, x.rate_b, x.rate_b / x.n)


def simulate(x: claims.Instance, key):
    return _step(x, key)


def predict(x: claims.Instance):
    """The three terms of the print."""
    square, rest = x.n * x.size**2, x.outer * x.along - x.label
    rate_a, rate_b = x.rate_a / x.n, _rate_b(x)
    return {
        "a": -rate_a * rest * x.outer**2 * square,
        "b": -rate_b * rest * x.along**2,
        "both": rate_a * rate_b * rest**2 * x.outer * x.along * square,
    }


STEP = claims.equal("one step", lambda r: r.sim["both"], lambda r: sum(r.theory.values()))
PART_A = claims.scales_as("part of a", lambda r: jnp.abs(r.sim["a"]), over=WIDTHS, exponent=0.0)
PART_B = claims.scales_as("part of b", lambda r: jnp.abs(r.sim["b"]), over=WIDTHS, exponent=-1.0)
PLUS_B = claims.scales_as("part of b", lambda r: jnp.abs(r.sim["b"]), over=WIDTHS, exponent=0.0)


theorem = claims.Theorem(
    space=claims.Space(
        n=claims.Size(32, high=1024),
        size=claims.Real(0.5, 2),
        along=claims.Real(0.5, 2),
        outer=claims.Real(0.5, 2),
        label=claims.Real(-8, -5),
        rate_a=claims.Real(0.1, 1),
        rate_b=claims.Real(0.1, 1),
        plus=claims.Choice(0, 1),
    ),
    simulate=simulate,
    predict=predict,
    claims=(STEP, PART_A, PART_B),
    hypotheses={"both learning rates are of the order 1 / n": lambda x: -x.plus},
    source=claims.Printed(
        "Hayou, Ghosh and Yu 2024, Section 3",
        "Delta f = -eta_a U b^2 |x|^2 - eta_b U (a^T x)^2 + eta_a eta_b U^2 b (a^T x) |x|^2",
    ),
    readings=(
        claims.Reading(
            "LoRA+",
            claims.Printed(
                "Hayou, Ghosh and Yu 2024, Section 3, efficient learning rates",
                "eta_a = Theta(1 / n), eta_b = Theta(1): all parts are Theta(1)",
            ),
            claims=(STEP, PART_A, PLUS_B),
            hypotheses={"eta_b is of the order 1": lambda x: x.plus - 1},
        ),
    ),
    mutants=(
        claims.Mutant(
            "the last term lost",
            claims=(STEP.against(lambda r: r.theory["a"] + r.theory["b"]),),
            of=("as printed", "LoRA+"),
        ),
        claims.Mutant(
            "eta_a of the order 1",
            simulate=lambda x, key: _step(x, key, power_a=0.0),
            breaks=(PART_A.name,),
            of=("as printed", "LoRA+"),
        ),
        claims.Mutant("a part of b that stays", claims=(PART_B.with_exponent(0.0),)),
        claims.Mutant(
            "eta_b of the order 1 / n",
            simulate=lambda x, key: _step(x, key, power_b=-1.0),
            breaks=(PLUS_B.name,),
            of=("LoRA+",),
        ),
    ),
)
