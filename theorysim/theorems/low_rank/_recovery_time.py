"""Steps until the student has found its direction, measured on the reduced chain.

The learning rate is the printed one up to a constant and its logarithms: the printed constants
("sufficiently small") make runs of 10^6 to 10^11 steps, the largest constant that the noise allows
one of 10^2 to 10^5. Signs satisfy the event of the theorems, |h(0)| not small for its order in k.
Runs start at an overlap of sign(h(0)) / sqrt(d) and end where <u, u^>^2 >= 1 - epsilon.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax.numpy as jnp

from theorysim import claims
from theorysim.claims.reading import Simulate
from theorysim.claims.source import Source
from theorysim.systems import rank_one_chain as chain
from theorysim.systems.rank_one_walk import first_passage
from theorysim.theorems.low_rank._recovery import Setting

DIMENSIONS = (8.0, 16.0, 32.0, 64.0)
EPSILONS = (0.4, 0.3, 0.22, 0.16)
NEURONS = (5.0, 7.0, 11.0, 17.0)
DIMENSION, EPSILON = 20.0, 0.4  # while another variable climbs
LONGEST = 100_000


def readout_ratio(x: claims.Instance):
    """lambda_min^2 / lambda_max^4, of which every printed learning rate is a multiple."""
    return jnp.min(x.readout) ** 2 / jnp.max(x.readout) ** 4


@dataclass(frozen=True)
class Recovery:
    """Runs in a theorem's setting.

    Attributes:
        rate: eta.
        fast: the event |h(0)| >= fast(x).
    """

    setting: Setting
    rate: Callable[[claims.Instance], Any]
    fast: Callable[[claims.Instance], Any]

    def steps(self, x: claims.Instance, key):
        """Steps until the square of the overlap is 1 - epsilon."""
        given, activation = self.setting.reduced(x), self.setting.activation()
        return first_passage(
            given,
            activation.value,
            chain.begin(given, 1 / jnp.sqrt(x.dimension)),
            x.dimension,
            self.rate(x),
            key,
            level=jnp.sqrt(1 - x.epsilon),
            limit=LONGEST,
        )

    def over_d(self, x: claims.Instance, key):
        """The same at one epsilon."""
        _check_room(x.k, DIMENSIONS[0])
        return self.steps(x.replace(epsilon=EPSILON), key)

    def over_epsilon(self, x: claims.Instance, key):
        """The same at one d."""
        _check_room(x.k, DIMENSION)
        return self.steps(x.replace(dimension=DIMENSION), key)

    def over_k(self, x: claims.Instance, key):
        """The same at one d and one epsilon."""
        _check_room(x.k, DIMENSION)
        return self.steps(x.replace(dimension=DIMENSION, epsilon=EPSILON), key)

    @cache  # noqa: B019  one margin for all readings of a theorem
    def event(self) -> dict[str, Callable]:
        """The hypothesis on the signs."""

        def fast(x: claims.Instance):
            return self.setting.start_speed(self.setting.problem(x)) - self.fast(x)

        return {"|h(0)| is not small": fast}

    def reading(
        self,
        name: str,
        source: Source,
        simulate: Simulate,
        scaling: tuple[claims.Claim, ...],
    ) -> claims.Reading:
        """How the steps of these runs scale."""
        return claims.Reading(
            name, source, simulate=simulate, claims=scaling, hypotheses=self.event()
        )


def _check_room(k: int, dimension: float) -> None:
    if k + 2 > dimension:
        raise claims.UsageError(
            f"k = {k} rows leave no two directions in d = {dimension:g} dimensions, at which these "
            f"runs are: set k to at most {dimension - 2:g}"
        )


def _median(r: claims.Run):
    return jnp.median(r.sim)


def _per_logarithm(r: claims.Run):
    """Over log(lambda_max^4 d k^2)^3: alpha has one such factor, 1 / delta two."""
    logarithm = jnp.log(jnp.max(r.x.readout) ** 4 * r.x.dimension * r.x.k**2)
    return _median(r) / logarithm**3


def in_d(exponent: float = 1.0) -> tuple[claims.Claim, ...]:
    """At most d^exponent steps, the logarithms of T apart."""
    over = {"dimension": DIMENSIONS}
    return (
        claims.scales_as(
            "steps over d", _per_logarithm, over=over, exponent=exponent, relation="at_most"
        ),
    )


def in_epsilon(exponent: float = -4.0) -> tuple[claims.Claim, ...]:
    """At most epsilon^exponent steps."""
    over = {"epsilon": EPSILONS}
    return (
        claims.scales_as(
            "steps over epsilon", _median, over=over, exponent=exponent, relation="at_least"
        ),
    )


def in_k(exponent: float) -> tuple[claims.Claim, ...]:
    """At most k^exponent steps."""
    over = {"k": NEURONS}
    return (
        claims.scales_as("steps over k", _median, over=over, exponent=exponent, relation="at_most"),
    )


# Wrong powers of d and of epsilon.
MUTANTS = (
    claims.Mutant("square root of d", claims=in_d(0.5)),
    claims.Mutant("epsilon^-3", of=("in epsilon",), claims=in_epsilon(-3)),
)
