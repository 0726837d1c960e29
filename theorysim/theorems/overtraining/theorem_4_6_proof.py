"""Each feature that is learned costs the square of what fine-tuning moves it by.

The proof of Theorem A.24, the formal version of Theorem 4.6 of Springer et al. (2025), and the
proof sketch of the main text. With Delta_n the change of L_pre by fine-tuning from stage n:
Delta_n - Delta_(n-1) is about (ft_n - pre_n)^2 / (1 + lam)^2, where the sketch leaves out the
pull-back.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _practice as practice
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining._sensitivity import change, simulation, simulation_of


def _predict(target: Callable, anchor: Callable):
    """Delta_n where every learned feature ends at (target + lam anchor) / (1 + lam)."""

    def predict(x: claims.Instance):
        moved = stage.weighted(x, target, anchor) - stage.pre_spectrum(x)
        return jnp.sum(stage.learned_up_to(x, moved) ** 2, axis=1)[1:]

    return predict


def _tolerance(share: float):
    """A share of min over i <= n of |pre_i - ft_i|^2 / (lam_0 + 1)^2."""
    return lambda r: share * stage.smallest_gaps(r.x) / (r.x.lam_0 + 1) ** 2


def _gap(r: claims.Run):
    """|ft_n - pre_n|."""
    return jnp.abs(stage.ft_spectrum(r.x) - stage.pre_spectrum(r.x))


def _step(r: claims.Run):
    """((ft_n - pre_n) / (1 + lam))^2."""
    return (_gap(r) / (1 + stage.pull_back(r.x))) ** 2


def _increments(r: claims.Run):
    """Delta_n - Delta_(n-1) from n = 1, with Delta_0 = 0."""
    return jnp.diff(change(r), prepend=0)


def _distance(r: claims.Run):
    """32 Gamma |theta^n(0) - ideal|_F."""
    return 32 * stage.gamma(r.x) * r.sim.start[1:]


LIMIT = claims.equal(
    "P2: Delta_pre of the limit", lambda r: r.theory, lambda r: jnp.cumsum(_step(r))
)
NEAR = claims.at_most(
    "P3: near the limit", lambda r: jnp.abs(change(r) - r.theory), _tolerance(3 / 10)
)
INCREMENTS = claims.at_least(
    "P4: increments",
    _increments,
    lambda r: _step(r) - _tolerance(3 / 5)(r),
    statement="Delta_n - Delta_(n-1) >= (pre_n - ft_n)^2/(1+lam)^2 - 3 min/(5 (lam_0+1)^2)",
)
RISES = claims.at_least("P4: increments > 0", _increments, lambda r: 0.0, strict=True)
STARTS = claims.at_most(
    "P1: losses of the starts",
    lambda r: jnp.abs(r.sim.start_loss)[1:],
    _distance,
    statement="|L_pre(theta(0)) - L_pre(ideal)| <= 32 Gamma |theta(0) - ideal|_F",
)
START_CLOSE = claims.at_most(
    "the starts", lambda r: r.sim.start[1:], lambda r: _tolerance(1 / 100)(r)[-1] / stage.gamma(r.x)
)
END_LOSS = claims.at_most(
    "losses at the end",
    lambda r: jnp.abs(change(r) + r.sim.start_loss[1:] - r.theory),
    _tolerance(1 / 5),
    statement="|L_pre(theta(K)) - L_pre(limit)| <= min / (5 (lam_0 + 1)^2)",
)
SKETCH = claims.equal("increments: (ft_n - pre_n)^2", _increments, lambda r: _gap(r) ** 2)
WORDS = "Delta_n - Delta_{n-1} >= (pre_n - ft_n)^2 / (1 + lam)^2 - 3 min / (5 (lam_0 + 1)^2) > 0"


def _under(sizes: a_21.Sizes) -> dict[str, Any]:
    """What a reading of the sizes of A.21 simulates and assumes."""
    return {"simulate": simulation(sizes), "assumes": (sizes.assumption(),)}


theorem = claims.Theorem(
    space=stage.stage_space(**practice.FIELDS),
    **_under(a_21.AS_PRINTED),
    predict=_predict(stage.ft_spectrum, stage.pre_spectrum),
    claims=(
        claims.at_most("P1: starts are close", _distance, lambda r: _tolerance(1 / 10)(r)[-1]),
        LIMIT,
        START_CLOSE,
        END_LOSS,
        NEAR,
        INCREMENTS,
        RISES,
    ),
    printed="proof displays",
    source=claims.Printed("proof of Theorem A.24 under Assumption A.21 as printed", WORDS),
    note=a_21.NO_RATE,
    readings=(
        claims.Reading(
            "item 3 as A.10",
            claims.Printed(
                "proof of Theorem A.24 under Assumption A.21, item 3 by its label, Assumption A.10",
                WORDS,
            ),
            **_under(a_21.AS_LABELLED),
            note=a_21.NO_UNIT,
        ),
        claims.Reading(
            "corrected",
            a_21.CORRECTED.source,
            **_under(a_21.CORRECTED),
            note=a_21.FREE_OF_SCALE,
            primary=True,
        ),
        claims.Reading(
            "proof display P1",
            claims.Finding(
                "the display P1 at real starts that differ measurably from the ideal ones"
            ),
            simulate=simulation_of(practice.run),
            assumes=(),
            hypotheses=practice.HYPOTHESES,
            claims=(STARTS,),
            note=practice.NOTE,
        ),
        claims.Reading(
            "proof sketch",
            claims.Printed(
                "proof sketch of Theorem 4.6, at the corrected sizes of Assumption A.21",
                "Delta_pre(t_n) - Delta_pre(t_{n-1}) ~ (ft - pre)^2",
            ),
            **_under(a_21.CORRECTED),
            claims=(SKETCH,),
            note="the main text leaves the sizes open; true with lam = 0: a pull-back divides the "
            "difference by 1 + lam",
        ),
    ),
    mutants=(
        claims.Mutant(
            "the features swapped, as in Lemma A.11",
            predict=_predict(stage.pre_spectrum, stage.ft_spectrum),
        ),
        claims.Mutant(
            "without the pull-back, and of the other sign",
            claims=(INCREMENTS.against(lambda r: _gap(r) ** 2), RISES.reversed()),
        ),
    ),
    survivors={
        "P1: starts are close": "loose by the growth of item 5, (1 + 32 eta Gamma)^K: the starts "
        "are equal to some ten digits at least",
        "the starts": "the same",
    },
)
