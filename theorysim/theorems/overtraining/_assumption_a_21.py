"""Assumption A.21 of Springer et al. (2025) in numbers: accuracy, steps, batch size, real start.

Everything is in logarithms: the batch size that the assumption asks for has up to thousands of
digits. Item 3, the number of steps, is printed without the learning rate but labelled as Assumption
A.10, which has it; both compare Gamma, a feature, with epsilon, a number. So there are three
readings of it. Every instance takes its sizes from a reading: the learning rate, the accuracy and
so on are shares of what is allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from theorysim.claims import Choice, Field, Instance, Real, Size, Space, Spectrum
from theorysim.theorems.overtraining._finetuning import (
    gamma,
    pre_spectrum,
)
from theorysim.theorems.overtraining._stages import (
    Modes,
    Number,
    Products,
    closing_tau,
    fine_tuned,
    log_start_distance,
    real_modes,
)
from theorysim.theorems.overtraining.assumption_a_13 import (
    BATCH_CONSTANT,
)

Margin = Callable[[Instance], Any]

# Longer runs are not made: an instance that asks for more steps takes none and fails item 3.
MOST_STEPS = 16384

LOG_10 = 2.302585092994046


def assumption_space(**parts: Size | Field) -> Space:
    """Instances of Section A.4 and A.5; `parts` add to the shared fields and sizes."""
    shared: dict[str, Size | Field] = {
        "d": Size(3, high=9),
        "scale": Real(1e-12, 1e2, log=True),
        "pre": Spectrum("d", 0.2, 1, gap=1.2),
        "ft": Real(0.2, 8, log=True, shape="d"),
        "in_order": Choice(0.0, 1.0),
        "lam_0": Real(0.1, 4, log=True),
        "lam_share": Real(0, 0.99),
        "rate_share": Real(0.3, 0.99),
        "slowness": Choice(1.0, 1e-3, 1e-6, 1e-9),
        "accuracy_share": Real(0.01, 0.99, log=True),
        "failure": Real(1e-12, 1e-6, log=True),
        "more_steps": Real(1, 1.5),
        "closer_start": Real(0, 1),
    }
    return Space(**{**shared, **parts})


def ft_spectrum(x: Instance) -> Float[Array, " d"]:
    """The features of fine-tuning: in decreasing order (main text) or in any (appendix)."""
    ordered = jnp.sort(x.ft, descending=True)
    return x.scale * jnp.where(x.in_order > 0, ordered, x.ft)


def in_order(x: Instance) -> Number:
    """Margin of the main text's order of the fine-tuning features."""
    return jnp.min(-jnp.diff(ft_spectrum(x)), initial=jnp.inf)


def pull_back(x: Instance) -> Number:
    """lam, a share of lam_0."""
    return x.lam_share * x.lam_0


def learning_rate(x: Instance) -> Number:
    """eta, below 1 / (4 (lam_0 + 2) Gamma)."""
    return x.rate_share * x.slowness / (4 * (x.lam_0 + 2) * gamma(x))


def smallest_feature(x: Instance) -> Number:
    """The least feature of pre-training or fine-tuning."""
    return jnp.minimum(jnp.min(pre_spectrum(x)), jnp.min(ft_spectrum(x)))


def smallest_gaps(x: Instance) -> Float[Array, " d"]:
    """min over i <= n of |pre_i - ft_i|^2, for n = 1, ..., d."""
    return jnp.minimum.accumulate((pre_spectrum(x) - ft_spectrum(x)) ** 2)


def smallest_gap(x: Instance) -> Number:
    """min over i <= d of |pre_i - ft_i|^2."""
    return smallest_gaps(x)[-1]


def printed_bound(x: Instance) -> Number:
    """What epsilon must stay below in Assumption A.21."""
    return smallest_gap(x) / (4000 * x.d * (x.lam_0 + 1) ** 2 * gamma(x) ** 2)


def steps_as_printed(x: Instance, accuracy: Number) -> Number:
    """Item 3 of A.21: log(100 Gamma / epsilon) / min."""
    return jnp.log(100 * gamma(x) / accuracy) / smallest_feature(x)


def steps_as_labelled(x: Instance, accuracy: Number) -> Number:
    """Assumption A.10: log(100 Gamma / epsilon) / (eta min)."""
    return steps_as_printed(x, accuracy) / learning_rate(x)


def steps_free_of_scale(x: Instance, accuracy: Number) -> Number:
    """Corrected: log(100 / epsilon) / (eta min), the same in all units of the features."""
    return jnp.log(100 / accuracy) / (learning_rate(x) * smallest_feature(x))


@dataclass(frozen=True)
class Assumption:
    """Assumption A.21 with a reading of item 3 and the bound on epsilon of a statement."""

    least_steps: Callable[[Instance, Number], Number]
    bound: Callable[[Instance], Number] = printed_bound
    most_steps: int = MOST_STEPS

    def accuracy(self, x: Instance) -> Number:
        """epsilon."""
        return x.accuracy_share * self.bound(x)

    def needed_steps(self, x: Instance) -> Number:
        """The least K, at least one."""
        return jnp.maximum(self.least_steps(x, self.accuracy(x)), 1)

    def steps(self, x: Instance) -> Int[Array, ""]:
        """K: what is needed or up to half as much again; none where that is too much to run."""
        wanted = jnp.ceil(x.more_steps * self.needed_steps(x))
        return jnp.where(wanted <= self.most_steps, wanted, 0).astype(int)

    def log10_batch(self, x: Instance, steps: Any) -> Number:
        """Item 4: log10 of the least batch size; -inf where the formula asks for nothing."""
        dimensions = x.d - jnp.log(10 * x.d * steps * x.failure)
        square = BATCH_CONSTANT**2 * jnp.maximum(dimensions, 0) / self.accuracy(x) ** 2
        return jnp.log10(square) + 2 * steps * _log_growth(x) / LOG_10

    def log_start(self, x: Instance, steps: Any) -> Number:
        """Item 5: log of the largest distance exp(-C tau) of the real to the ideal start."""
        return jnp.log(jnp.sqrt(gamma(x)) * self.accuracy(x)) - steps * _log_growth(x)

    def tau(self, x: Instance) -> Number:
        """Scale of the initialisation of pre-training that brings the real start close enough."""
        distance = self.log_start(x, self.steps(x)) - LOG_10 * x.closer_start
        return closing_tau(pre_spectrum(x), distance)

    def run(self, x: Instance, lam: Number, key: Array) -> tuple[Products, Modes]:
        """theta^n(K) at every stage, and the modes of its real start; the batch is infinite."""
        modes, steps = real_modes(pre_spectrum(x), self.tau(x)), self.steps(x)
        return fine_tuned(ft_spectrum(x), modes, lam, learning_rate(x), steps), modes

    @cache  # noqa: B019  the same margins for every reading of a theorem are traced once
    def hypotheses(self, strength: Margin = pull_back) -> dict[str, Margin]:
        """Signed margins of the items but 4, which an infinite batch satisfies.

        `strength` is the largest lam of the statement.
        """
        return {
            "A.21, epsilon": lambda x: jnp.log10(self.bound(x) / self.accuracy(x)),
            "A.21.1, lam < lam_0": lambda x: x.lam_0 - strength(x),
            "A.21.2, learning rate": lambda x: 1 - 4 * learning_rate(x) * (x.lam_0 + 2) * gamma(x),
            "A.21.3, steps": lambda x: self.steps(x) - self.least_steps(x, self.accuracy(x)),
            "A.21.5, log10 start": self._start_margin,
        }

    @cache  # noqa: B019
    def requirements(self) -> dict[str, Margin]:
        """What the assumption asks for."""
        return {
            "log10 batch size": lambda x: self.log10_batch(x, self.needed_steps(x)),
            "steps K": self.needed_steps,
            "log10 exp(-C tau)": lambda x: self.log_start(x, self.needed_steps(x)) / LOG_10,
        }

    def _start_margin(self, x: Instance) -> Number:
        reached = log_start_distance(pre_spectrum(x), self.tau(x))
        return (self.log_start(x, self.steps(x)) - reached) / LOG_10


def _log_growth(x: Instance) -> Number:
    return jnp.log1p(32 * learning_rate(x) * gamma(x))
