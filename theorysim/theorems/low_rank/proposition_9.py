"""The step size of the good event needs the square of the logarithm.

Proposition 9 of Dayi and Chen (2024), Appendix B: delta = epsilon^3 S / (4 C log(dV)) and
alpha = 4 log(dV) / (epsilon delta S) satisfy alpha delta^2 <= epsilon^2 / (C log(dV)), on which the
bounds of Claims 6 to 9 rest. They give epsilon^2 / C. The delta of Theorem 7, with log(dV)^2, gives
it with equality. mu_1 is the constant of Condition 2, of which only C > max(1, mu_1) is left here.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims


def logarithm(x: claims.Instance) -> Float[Array, ""]:
    """log(d V)."""
    return jnp.log(x.dimension * x.variance)


def alpha(x: claims.Instance, signal, delta) -> Float[Array, ""]:
    """The time of the runs, 4 log(d V) / (epsilon delta S)."""
    return 4 * logarithm(x) / (x.epsilon * delta * signal)


def _simulate(power: int):
    """alpha delta^2 with the logarithm of delta to that power."""

    def simulate(x: claims.Instance, key) -> Float[Array, ""]:
        delta = x.epsilon**3 * x.signal / (4 * x.constant * logarithm(x) ** power)
        return alpha(x, x.signal, delta) * delta**2

    return simulate


def predict(x: claims.Instance) -> Float[Array, ""]:
    """epsilon^2 / (C log(dV))."""
    return x.epsilon**2 / (x.constant * logarithm(x))


def _above(x: claims.Instance) -> Float[Array, ""]:
    """C - max(1, mu_1)."""
    return x.constant - jnp.maximum(1.0, x.moment)


theorem = claims.Theorem(
    space=claims.Space(
        dimension=claims.Real(10, 1e6, log=True),
        variance=claims.Real(1, 1e4, log=True),
        signal=claims.Real(1e-3, 1, log=True),
        epsilon=claims.Real(0.001, 0.9, log=True),
        constant=claims.Real(1, 100, log=True),
        moment=claims.Real(0.1, 10, log=True),
    ),
    simulate=_simulate(1),
    predict=predict,
    claims=(claims.at_most("alpha delta^2", lambda r: r.sim, lambda r: r.theory),),
    hypotheses={"C > max(1, mu_1)": claims.strict(_above)},
    source=claims.Printed(
        "Proposition 9 and its proof, Appendix B.3.1",
        "delta = epsilon^3 S_k / (4 C log(d V_k)) where C > max{1, mu_1}, so alpha delta^2 <= "
        "epsilon^2 / (C log(d V_k))",
    ),
    note="with one logarithm in delta, alpha delta^2 is epsilon^2 / C",
    readings=(
        claims.corrected(
            "log(d V)^2 for log(d V) in delta, as in Theorem 7",
            simulate=_simulate(2),
            note="with two logarithms in delta the bound on alpha delta^2 is attained",
        ),
    ),
    mutants=(claims.Mutant("one logarithm in delta, as printed", simulate=_simulate(1)),),
)
