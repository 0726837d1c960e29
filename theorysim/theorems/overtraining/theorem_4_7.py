"""Fine-tuning harms the longer pre-trained model, and a pull-back only delays it.

Theorem 4.7 (catastrophic overtraining) of Springer et al. (2025), formally Theorem A.25. Part 1:
without a pull-back, on (alpha, r)-misaligned spectra, L_pre(theta^n(K)) increases for n >= r (main
text, some alpha_0) or for n <= r (appendix, alpha = 4). Part 2: with the strength lam of the
pull-back the inflection point r(lam) increases (main text) or r(lam_1) <= r(lam_2) for
lam_1 > lam_2 (appendix), and the unregularised fine-tuning loss increases. Each part of Theorem
A.25 has a bound on epsilon of its own, and so a run of its own. The inflection point is defined
twice: Definition 4.2 takes the first rise of L_pre, Theorem A.25 the end of the last fall; stages
count from 1, or from 0 where nothing is learned. The main text leaves the sizes open: they are
those of the corrected reading. The batch is infinite, which item 4 of A.21 admits (finite ones are
theorem-4.7-batches). Inflection points are integers, and differ at few instances: many are drawn.
Of the appendix's part 1 the counterexamples show n = 1, after theta^0 with nothing learned, because
they are as small as can be; at d = 3 L_pre falls at n = 2 and 3, too.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.ideal_stages import inflection_point, last_descent
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _practice as practice
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining import _strengths as strengths
from theorysim.theorems.overtraining import lemma_a_26


class Parts(NamedTuple):
    """Part 1: L_pre(theta^n(K)) at lam = 0 for n = 0, ..., d. Part 2: runs at all strengths."""

    alone: Float[Array, "*keys stages"]
    pulled: strengths.Tuned


def at_part_2(sizes: a_21.Sizes) -> a_21.Sizes:
    """The same version of Assumption A.21 with the bound on epsilon of part 2."""
    return replace(sizes, bound=strengths.pair_bound, part=", part 2")


@cache
def simulation(sizes: a_21.Sizes) -> Callable:
    """Both parts, each at its own accuracy."""
    first, second = lemma_a_26.simulation(sizes), strengths.simulation(at_part_2(sizes))
    return lambda x, key: Parts(first(x, key), second(x, key))


def assumptions(sizes: a_21.Sizes) -> tuple[claims.Assumption, ...]:
    return sizes.assumption(lemma_a_26.unregularised), at_part_2(sizes).assumption()


def _simulate_practice(x: claims.Instance, key) -> Parts:
    pulled = strengths.simulation_of(practice.run)(x, key)
    return Parts(pulled.pre[0], pulled)


def after(alpha: float = 4.0) -> Callable:
    """Nonnegative at n > r with the least r for which the spectra are (alpha, r)-misaligned."""

    def margin(r: claims.Run):
        room = stage.ft_spectrum(r.x) - alpha * stage.pre_spectrum(r.x)
        return jnp.where(jnp.minimum.accumulate(room[::-1])[::-1] > 0, 1, -1)

    return margin


def _from(r: claims.Run):
    """Nonnegative at n >= r, where r < d: at r = d no feature is misaligned."""
    misaligned = after()(r)
    return jnp.append(misaligned[1:], misaligned[-1])


def _rises(name: str, where: Callable, first: int = 1) -> claims.Claim:
    """L_pre(n) > L_pre(n-1) at lam = 0, at the n >= first where `where` says so."""
    return claims.at_least(
        name,
        lambda r: jnp.diff(r.sim.alone)[first - 1 :],
        lambda r: 0.0,
        strict=True,
        where=lambda r: where(r)[first - 1 :],
        statement="L_pre(theta^n(K)) - L_pre(theta^(n-1)(K)) > 0",
    )


def _rising(alpha: float = 4.0) -> tuple[claims.Claim, ...]:
    return (
        _rises("1: rises at n > r >= 0", after(alpha)),
        _rises("1: rises at n > r >= 1", after(alpha), first=2),
    )


WITNESS = claims.at_most(
    "1: alpha_0 = 4 is enough",
    lambda r: stage.ft_spectrum(r.x) / stage.pre_spectrum(r.x),
    lambda r: 4.0,
    where=lambda r: -jnp.diff(r.sim.alone),
    statement="where L_pre falls from n - 1 to n, ft_n / pre_n <= 4",
)


def _inflection(point: Callable, first: int) -> Callable:
    return lambda r: point(jnp.diff(r.sim.pulled.pre)[..., first:])


INFLECTION_POINTS = {
    f"2: r(lam), {definition}, n >= {first}": _inflection(point, first)
    for definition, point in (("4.2", inflection_point), ("A.25", last_descent))
    for first in (0, 1)
}

DELAYED = tuple(claims.increasing(name, point) for name, point in INFLECTION_POINTS.items())

# The appendix speaks of its own r_lam, and of lam_1 > lam_2 > 0 only: the last two strengths.
BROUGHT_FORWARD = tuple(
    claims.decreasing(name, lambda r, point=point: point(r)[1:])
    for name, point in INFLECTION_POINTS.items()
    if "A.25" in name
)


def _ft_loss(r: claims.Run):
    """|theta^n(K) - A^ft|_F^2 from n = 1, strengths last."""
    return r.sim.pulled.ft[:, 1:].T


COSTS = claims.increasing("2: ft loss grows in lam", _ft_loss, strict=True)
COSTS_MORE = claims.increasing(COSTS.name, lambda r: _ft_loss(r)[:, 1:], strict=True)

APPENDIX = (_rises("1: rises at n <= r", lambda r: -after()(r)), *BROUGHT_FORWARD, COSTS_MORE)
AMENDED = (*_rising(), *DELAYED, COSTS)

APPENDIX_WORDS = (
    "L_pre(theta^n(K)) - L_pre(theta^{n-1}(K)) > 0 for n <= r; r_{lam_1} <= r_{lam_2}; "
    "|theta_1^n(K) - A^ft|_F^2 > |theta_2^n(K) - A^ft|_F^2"
)


def _reading(name: str, sizes: a_21.Sizes, **parts: Any) -> claims.Reading:
    """A reading under this version of Assumption A.21 alone."""
    return claims.Reading(
        name,
        parts.pop("source", sizes.source),
        simulate=simulation(sizes),
        assumes=assumptions(sizes),
        hypotheses=stage.APART,
        **parts,
    )


theorem = claims.Theorem(
    space=stage.stage_space(**strengths.FIELDS, **practice.FIELDS),
    assumes=assumptions(a_21.CORRECTED),
    hypotheses={"fine-tuning features in order": claims.strict(stage.in_order)},
    simulate=simulation(a_21.CORRECTED),
    claims=(WITNESS, *AMENDED),
    source=claims.Printed(
        "Theorem 4.7",
        "L_pre increases for n >= r where alpha > alpha_0; r(lam) and the fine-tuning loss "
        "increase with lam",
    ),
    printed="main text",
    note="the main text leaves the sizes open: here they are those of the corrected reading",
    aliases=("theorem-a.25",),
    instances=400,
    readings=(
        _reading(
            "appendix",
            a_21.AS_PRINTED,
            source=claims.Printed("Theorem A.25 under Assumption A.21 as printed", APPENDIX_WORDS),
            claims=APPENDIX,
            note="both inequalities are reversed, and item 3 of A.21 lacks the learning rate",
        ),
        _reading(
            "appendix, item 3 as A.10",
            a_21.AS_LABELLED,
            source=claims.Printed(
                "Theorem A.25 under Assumption A.21, item 3 by its label, Assumption A.10",
                APPENDIX_WORDS,
            ),
            claims=APPENDIX,
            note="both inequalities are reversed",
        ),
        claims.Reading(
            "main text, every increment with n >= r",
            claims.Printed("Theorem 4.7, part 1", "L_pre increases monotonically for n >= r"),
            claims=(_rises("1: rises at n >= r", _from),),
            note="the increment from r - 1 to r belongs to a feature that need not be misaligned",
        ),
        claims.Reading(
            "main text, every increment with n >= r, corrected",
            claims.Corrected("L_pre increases monotonically for n > r"),
            claims=_rising(),
            note="every increment with n > r belongs to a misaligned feature",
        ),
        _reading(
            "corrected",
            a_21.CORRECTED,
            source=claims.Corrected(
                "n > r, r_lam1 >= r_lam2, and item 3 of Assumption A.21: "
                "K >= log(100 / epsilon) / (eta min{pre_i, ft_i})"
            ),
            claims=AMENDED,
            primary=True,
            note="n > r and r(lam_1) >= r(lam_2); K >= log(100 / epsilon) / (eta min) in A.21",
        ),
        _reading(
            "corrected, but item 3 as printed",
            a_21.AS_PRINTED,
            source=claims.Finding("the corrected statement with the printed number of steps"),
            claims=AMENDED,
            note=a_21.NO_RATE,
        ),
        _reading(
            "corrected, but item 3 as A.10",
            a_21.AS_LABELLED,
            source=claims.Finding(
                "the corrected statement with the number of steps of Assumption A.10"
            ),
            claims=AMENDED,
            note=a_21.NO_UNIT,
        ),
        practice.reading("practical sizes", "Theorem 4.7", a_21.AS_LABELLED, _simulate_practice),
    ),
    mutants=(
        claims.Mutant(
            "every feature that fine-tuning enlarges",
            of=("main text", "corrected"),
            claims=_rising(alpha=1.0),
        ),
        claims.Mutant("alpha_0 = 1 is enough", of=("main text",), claims=(WITNESS.scaled(0.25),)),
        claims.Mutant(
            "a stronger pull-back brings the inflection point forward and costs nothing",
            of=("main text", "corrected"),
            claims=(*(claim.reversed() for claim in DELAYED), COSTS.reversed()),
        ),
    ),
)
