"""Whether the items of Assumption A.21 give the assumptions whose names they bear.

Springer et al. (2025): item 2 is labelled "Assumption A.8", item 3 "Assumption A.10", item 4
"Assumption A.13", and Lemmas A.22 and A.23 take from A.21 what Lemmas A.11 and A.20 prove under
those. Each item is taken at the least that it asks for, with one epsilon for all.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _drawn_batches as drawn
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining._batch_sizes import (
    BATCH_CONSTANT,
    printed_batch,
    union_batch,
)


def _item_2(strength: Callable = stage.pull_back) -> claims.Claim:
    """4 eta (lam + 2) Gamma < 1."""

    def load(r: claims.Run):
        return 4 * stage.learning_rate(r.x) * (strength(r.x) + 2) * stage.gamma(r.x)

    return claims.at_most("item 2 gives Assumption A.8", load, lambda r: 1.0, strict=True)


ITEM_3 = claims.at_least(
    "item 3 gives Assumption A.10",
    lambda r: a_21.steps_as_printed(r.x, a_21.AS_PRINTED.accuracy(r.x)),
    lambda r: a_21.steps_as_labelled(r.x, a_21.AS_PRINTED.accuracy(r.x)),
)


def _item_4(sizes: a_21.Sizes, formula: Callable) -> claims.Claim:
    """As large a batch as Assumption A.13 asks for, by this formula; where it asks for one."""

    def asked(r: claims.Run):
        settings = (sizes.needed_steps(r.x), r.x.failure, BATCH_CONSTANT, sizes.accuracy(r.x))
        return jnp.log10(jnp.maximum(formula(r.x.d, *settings), 1))

    return claims.at_least(
        "item 4 gives Assumption A.13",
        lambda r: jnp.maximum(sizes.log10_batch(r.x, sizes.needed_steps(r.x)), 0),
        asked,
        where=asked,
    )


UNITED = drawn.united(a_21.AS_LABELLED, "eta in item 3, d + log(K / delta) in item 4 and in A.13")

theorem = claims.Theorem(
    space=stage.stage_space(failure=claims.Real(1e-12, 0.9, log=True)),
    simulate=lambda x, key: (),
    claims=(_item_2(), ITEM_3, _item_4(a_21.AS_PRINTED, printed_batch)),
    source=claims.Printed(
        "Assumption A.21", "2. (Assumption A.8) ... 3. (Assumption A.10) ... 4. (Assumption A.13)"
    ),
    note="item 3 lacks the learning rate; item 4 has log(10 d K delta) for A.13's log(10 K delta)",
    readings=(
        claims.Reading(
            "corrected",
            UNITED.source,
            claims=(_item_2(), _item_4(UNITED, union_batch)),
            primary=True,
            note="item 3 with its learning rate is Assumption A.10 to the letter",
        ),
    ),
    mutants=(
        claims.Mutant(
            "a pull-back of twice its bound, and item 4 with the logarithm of a union bound lost",
            claims=(
                _item_2(lambda x: 2 * x.lam_0),
                _item_4(a_21.AS_LABELLED, union_batch),
            ),
        ),
    ),
)
