"""The step size of the good event needs the square of the logarithm.

Proposition 9 of Dayi and Chen (2024), Appendix B: delta = epsilon^3 S / (4 C log(dV)) and
alpha = 4 log(dV) / (epsilon delta S) satisfy alpha delta^2 <= epsilon^2 / (C log(dV)), on which the
bounds of Claims 6 to 9 rest. They give epsilon^2 / C. The delta of Theorem 7, with log(dV)^2, gives
it with equality.
"""

from __future__ import annotations

from theorysim.claims import Corrected, Instance, Mutant, Reading, Theorem, at_most
from theorysim.theorems.low_rank._schedule import alpha, logarithm, schedule_space


def _simulate(power: int):
    """alpha delta^2."""

    def simulate(x: Instance, key):
        delta = x.epsilon**3 * x.signal / (4 * x.constant * logarithm(x) ** power)
        return alpha(x, delta) * delta**2

    return simulate


def predict(x: Instance):
    """epsilon^2 / (C log(dV))."""
    return x.epsilon**2 / (x.constant * logarithm(x))


theorem = Theorem(
    space=schedule_space(),
    simulate=_simulate(1),
    predict=predict,
    claims=(at_most("alpha delta^2", lambda r: r.sim, lambda r: r.theory),),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            simulate=_simulate(2),
            primary=True,
            note="delta has log(dV)^2, as in Theorem 7; with one logarithm alpha delta^2 is "
            "epsilon^2 / C",
        ),
    ),
    mutants=(Mutant("no logarithm", simulate=_simulate(0)),),
)
