"""With few samples the terms of the risk bound decay as 1/n and 1/n^3.

Prose below Theorem 4.2 of Shachaf et al. (2021), whose rates are printed without a range of n: with
fewer samples than the effective rank or than delta, g decays as 1/n. All numbers of samples are
below d, as in Section 3.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.linear_teachers import _rates as rates

FEW = (1, 2, 4, 8)


def _few(x: claims.Instance):
    """n up to the last rung is at most the effective rank or delta."""
    rank = jnp.sum(x.eigenvalues) / x.eigenvalues[0]
    return jnp.maximum(rank, x.delta) - FEW[-1]


PRINTED = rates.rates(FEW, g=-0.5, top=-1.5, bottom=-0.5)

theorem = claims.Theorem(
    space=rates.space(claims.Size(12, low=FEW[-1] + 1, high=64), FEW[-1]),
    simulate=rates.estimation_error,
    predict=rates.bound,
    claims=PRINTED,
    hypotheses={"n <= max(effective rank, delta)": _few},
    source=rates.PROSE,
    printed="few samples",
    note='"decreases like" is an asymptotic phrase without a range of n: the rates hold for more '
    "samples than the effective rank and delta; for n = 1 to 8 < d below them they do not",
    readings=(
        claims.Reading(
            "few samples, corrected",
            claims.Corrected("the rates 1/n, 1/n^3 and 1/n for few samples"),
            claims=rates.rates(FEW, g=-1, top=-3, bottom=-1),
            primary=True,
            note="while r / n or delta / n exceeds 1, g decays as 1 / n and its cube as 1 / n^3",
        ),
    ),
    mutants=(claims.Mutant("the rates of many samples, as printed", claims=PRINTED),),
    keys=64,
    instances=16,
)
