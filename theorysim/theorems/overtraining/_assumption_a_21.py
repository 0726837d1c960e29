"""The sizes of Assumption A.21, as printed, as labelled and corrected.

Accuracy, steps, batch size and real start of Springer et al. (2025), all in logarithms, because the
batch size has up to thousands of digits. Item 3, the number of steps, is printed without the
learning rate but labelled as Assumption A.10, which has it; both compare Gamma, a feature, with
epsilon, a number. So there are three versions of it. Every instance takes its sizes from a version.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Int

from theorysim import claims
from theorysim.claims.source import Source
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining import _stages as stages
from theorysim.theorems.overtraining._batch_sizes import BATCH_CONSTANT
from theorysim.theorems.overtraining._stages import Modes, Number, Products

# Longer runs are not made: an instance that asks for more steps takes none and fails item 3.
MOST_STEPS = 16384

LOG_10 = 2.302585092994046


def printed_bound(x: claims.Instance) -> Number:
    """What epsilon must stay below."""
    gap = stage.smallest_gap(x)
    return gap / (4000 * x.d * (x.lam_0 + 1) ** 2 * stage.gamma(x) ** 2)


def steps_as_printed(x: claims.Instance, accuracy: Number) -> Number:
    """Item 3: log(100 Gamma / epsilon) / min."""
    return jnp.log(100 * stage.gamma(x) / accuracy) / stage.smallest_feature(x)


def steps_as_labelled(x: claims.Instance, accuracy: Number) -> Number:
    """Assumption A.10: log(100 Gamma / epsilon) / (eta min)."""
    return steps_as_printed(x, accuracy) / stage.learning_rate(x)


def steps_free_of_scale(x: claims.Instance, accuracy: Number) -> Number:
    """Corrected: log(100 / epsilon) / (eta min), the same in all units of the features."""
    return jnp.log(100 / accuracy) / (stage.learning_rate(x) * stage.smallest_feature(x))


@dataclass(frozen=True)
class Sizes:
    """The sizes that a version of item 3 and the bound on epsilon of a statement allow.

    `part` ends the names of the items: a theorem of two parts has each at an accuracy of its own.
    """

    source: Source
    least_steps: Callable[[claims.Instance, Number], Number]
    bound: Callable[[claims.Instance], Number] = printed_bound
    most_steps: int = MOST_STEPS
    part: str = ""

    def accuracy(self, x: claims.Instance) -> Number:
        """epsilon."""
        return x.accuracy_share * self.bound(x)

    def needed_steps(self, x: claims.Instance) -> Number:
        """The least K, at least one."""
        return jnp.maximum(self.least_steps(x, self.accuracy(x)), 1)

    def steps(self, x: claims.Instance) -> Int[Array, ""]:
        """K: what is needed or up to half as much again; none where that is too much to run."""
        wanted = jnp.ceil(x.more_steps * self.needed_steps(x))
        return jnp.where(wanted <= self.most_steps, wanted, 0).astype(int)

    def log10_batch(self, x: claims.Instance, steps: Any) -> Number:
        """Item 4: log10 of the least batch size; -inf where the formula asks for nothing."""
        dimensions = x.d - jnp.log(10 * x.d * steps * x.failure)
        square = BATCH_CONSTANT**2 * jnp.maximum(dimensions, 0) / self.accuracy(x) ** 2
        return jnp.log10(square) + 2 * steps * _log_growth(x) / LOG_10

    def log_start(self, x: claims.Instance, steps: Any) -> Number:
        """Item 5: log of the largest distance exp(-C tau) of the real to the ideal start."""
        return jnp.log(jnp.sqrt(stage.gamma(x)) * self.accuracy(x)) - steps * _log_growth(x)

    def tau(self, x: claims.Instance) -> Number:
        """Scale of the initialisation of pre-training that brings the real start close enough."""
        distance = self.log_start(x, self.steps(x)) - LOG_10 * x.closer_start
        return stages.closing_tau(stage.pre_spectrum(x), distance)

    def run(self, x: claims.Instance, lam: Number, key: Array) -> tuple[Products, Modes]:
        """theta^n(K) at every stage, and the modes of its real start; the batch is infinite."""
        modes = stages.real_modes(stage.pre_spectrum(x), self.tau(x))
        settings = lam, stage.learning_rate(x), self.steps(x)
        return stages.fine_tuned(stage.ft_spectrum(x), modes, *settings), modes

    @cache  # noqa: B019  the same margins for every reading of a theorem are traced once
    def assumption(
        self, strength: Callable[[claims.Instance], Number] = stage.pull_back
    ) -> claims.Assumption:
        """The items but 4, which an infinite batch satisfies; `strength` is the largest lam."""
        items = {
            "A.21, epsilon": claims.strict(lambda x: jnp.log10(self.bound(x) / self.accuracy(x))),
            "A.21.1, lam < lam_0": claims.strict(lambda x: x.lam_0 - strength(x)),
            "A.21.2, learning rate": claims.strict(lambda x: 1 - x.rate_share * x.slowness),
            "A.21.3, steps": lambda x: self.steps(x) - self.least_steps(x, self.accuracy(x)),
            "A.21.5, log10 start": self._start_margin,
        }
        asked = {
            "log10 batch size": lambda x: self.log10_batch(x, self.needed_steps(x)),
            "steps K": self.needed_steps,
            "log10 exp(-C tau)": lambda x: self.log_start(x, self.needed_steps(x)) / LOG_10,
        }
        return claims.Assumption(
            "Assumption A.21" + self.part,
            self.source,
            {name + self.part: margin for name, margin in items.items()},
            requirements={name + self.part: size for name, size in asked.items()},
        )

    def reading(
        self,
        name: str,
        simulation: Callable[["Sizes"], Callable],
        strength: Callable[[claims.Instance], Number] = stage.pull_back,
        source: Source | None = None,
        **parts: Any,
    ) -> claims.Reading:
        """A reading of a statement under this version alone, which simulates at its sizes."""
        return claims.Reading(
            name,
            source or self.source,
            simulate=simulation(self),
            assumes=(self.assumption(strength),),
            hypotheses=stage.APART,
            **parts,
        )

    def _start_margin(self, x: claims.Instance) -> Number:
        reached = stages.log_start_distance(stage.pre_spectrum(x), self.tau(x))
        return (self.log_start(x, self.steps(x)) - reached) / LOG_10


def _log_growth(x: claims.Instance) -> Number:
    return jnp.log1p(32 * stage.learning_rate(x) * stage.gamma(x))


AS_PRINTED = Sizes(
    claims.Printed("Assumption A.21, item 3", "K >= log(100 Gamma / epsilon) / min{pre_i, ft_i}"),
    steps_as_printed,
)
AS_LABELLED = Sizes(
    claims.Printed(
        "Assumption A.21, item 3 by its label, Assumption A.10",
        "K >= log(100 Gamma / epsilon) / (eta min{pre_i, ft_i})",
    ),
    steps_as_labelled,
)
CORRECTED = Sizes(
    claims.Corrected("item 3 of Assumption A.21: K >= log(100 / epsilon) / (eta min{pre_i, ft_i})"),
    steps_free_of_scale,
)

# What is wrong with the printed versions of item 3.
NO_RATE = "item 3 of A.21 lacks the learning rate: K does not grow as eta shrinks"
NO_UNIT = "log(100 Gamma / epsilon) <= 0 asks for no step where the features are small"
FREE_OF_SCALE = "K >= log(100 / epsilon) / (eta min): item 3 lacks eta and depends on the scale"
