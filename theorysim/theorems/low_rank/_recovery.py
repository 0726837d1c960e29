"""How long the student takes to find its direction, measured on the reduced chain.

The learning rate follows the scaling of the theorems, eta = share |h(0)| epsilon / d, with a share
that the noise of the steps allows: the printed constants ("sufficiently small") and logarithms make
runs of 10^6 to 10^11 steps. The signs satisfy the event of the theorems, a speed |h(0)| that is not
small. Runs start at an overlap of sign(h(0)) / sqrt(d) and end at <u, u^>^2 = 1 - epsilon.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from theorysim.claims import (
    Claim,
    Field,
    Gaussian,
    Instance,
    Reading,
    Real,
    Run,
    Size,
    Space,
    scales_as,
)
from theorysim.numerics.gaussian import Activation, absolute_value, relu
from theorysim.systems import rank_one
from theorysim.systems import rank_one_chain as chain
from theorysim.systems.rank_one_overlap import hitting_time, speed
from theorysim.theorems.low_rank._problem import sign

DIMENSIONS = (8.0, 16.0, 32.0, 64.0)
EPSILONS = (0.6, 0.45, 0.34, 0.25)
NEURONS = (5.0, 9.0, 17.0)
SCHEDULE = (8.0, 32.0, 128.0, 512.0)
LEAST_SPEED = 0.4
LONGEST = 4000
SIGNS, DRAWS = 16, 32

odd: Callable[[], Activation] = relu  # mu_1 != 0
even: Callable[[], Activation] = absolute_value  # mu_1 = 0


def recovery_space(**fields: Field | Size) -> Space:
    """Readouts of one size, any signs, rows in many dimensions of their own."""
    given: dict[str, Field | Size] = {
        "k": Size(5, high=64),
        "ambient": Size(60, high=1024),
        "rows": Gaussian("k", "ambient"),
        "readout": Real(0.8, 1.25, log=True, shape="k"),
        "teacher": Real(-1, 1, shape="k"),
        "student": Real(-1, 1, shape="k"),
        "dimension": Real(8, 64, log=True),
        "epsilon": Real(0.25, 0.6, log=True),
        "share": Real(0.5, 0.8),
    }
    return Space(**{**given, **fields})


class Setting:
    """A theorem's regime: orthonormal or separated rows, a scale and an activation."""

    def __init__(self, orthonormal: bool, scale: Callable, activation: Callable[[], Activation]):
        self.orthonormal, self.scale, self.activation = orthonormal, scale, activation

    def features(self, x: Instance):
        """Coordinate vectors, or random unit rows."""
        return jnp.eye(x.k) if self.orthonormal else jax.vmap(rank_one.unit)(x.rows)

    def problem(self, x: Instance, teacher=None, student=None) -> rank_one.RankOne:
        """The problem with u flipped where h(0) < 0, so that the overlap climbs."""
        teacher = sign(x.teacher if teacher is None else teacher)
        student = sign(x.student if student is None else student)
        rows, scale = self.features(x), self.scale(x)
        given = rank_one.from_signs(rows, x.readout, teacher, student, scale)
        return given._replace(teacher=given.teacher * sign(self.start_speed(given)))

    def start_speed(self, given: rank_one.RankOne):
        """h(0)."""
        return speed(given, self.activation(), jnp.zeros(()))

    def hypotheses(self) -> dict:
        """The event on the signs, and Assumption 4."""
        both = {"|h(0)| is not small": lambda x: self.start_speed(self.problem(x)) - LEAST_SPEED}
        if not self.orthonormal:
            both["Assumption 4"] = lambda x: (
                rank_one.separation(x.k) - rank_one.largest_cosine(self.features(x))
            )
        return both

    def steps(self, x: Instance, key):
        """Steps until the overlap's square is 1 - epsilon, on the reduced chain."""
        given = chain.reduced(self.problem(x))
        rate = x.share * self.start_speed(given) * x.epsilon / x.dimension
        start = chain.begin(given, 1 / jnp.sqrt(x.dimension))
        level = jnp.sqrt(1 - x.epsilon)
        return chain.first_passage(
            given, self.activation().value, start, x.dimension, rate, key,
            level=level, limit=LONGEST,
        )  # fmt: skip

    def complexity(self, x: Instance, key):
        """E[a^2] / h(0)^2 at m = 0 for SIGNS random signs: the V_k / S_k^2 of Theorem 7."""
        signs, draws = jax.random.split(key)

        def of(pair):
            given = chain.reduced(self.problem(x, *pair))
            square = chain.mean_square_pull(given, self.activation().value, 0.0, draws, DRAWS)
            return square / self.start_speed(given) ** 2

        return jax.vmap(of)(jax.random.normal(signs, (SIGNS, 2, x.k)))

    def flow_time(self, x: Instance, key):
        """Time of the population's flow from 1 / sqrt(d) to an overlap's square of 1 - epsilon."""
        first, last = 1 / jnp.sqrt(x.dimension), jnp.sqrt(1 - x.epsilon)
        return hitting_time(self.problem(x), self.activation(), first, last)


def recovery_claims(dimension: float = 1.0, epsilon: float = -4.0) -> tuple[Claim, ...]:
    """Steps grow at most as d (with one logarithm, as in the printed alpha) and epsilon^-4."""

    def median(r: Run):
        return jnp.median(r.sim)

    return (
        scales_as(
            "steps over d",
            lambda r: median(r) / jnp.log(r.x.dimension * r.x.k**2),
            over="dimension",
            rungs=DIMENSIONS,
            exponent=dimension,
            relation="at_most",
        ),
        scales_as(
            "steps over epsilon",
            median,
            over="epsilon",
            rungs=EPSILONS,
            exponent=epsilon,
            relation="at_least",
        ),
    )


def neuron_claims(exponent: float) -> tuple[Claim, ...]:
    """Steps per dimension, V_k / S_k^2, grow at most as a power of k."""
    return (
        scales_as(
            "V / S^2 over k",
            lambda r: jnp.median(r.sim),
            over="k",
            rungs=NEURONS,
            exponent=exponent,
            relation="at_most",
        ),
    )


def neuron_reading(name: str, setting: Setting, exponent: float, note: str = "") -> Reading:
    """The growth in k, for random signs."""
    return Reading(
        name,
        simulate=setting.complexity,
        claims=neuron_claims(exponent),
        hypotheses={},
        note=note,
    )


def schedule_claims(
    odd_steps: Callable, odd_power: float, even_steps: Callable, even_power: float, relation: str
) -> tuple[Claim, ...]:
    """alpha V as functions of k, the rest 1, as powers of k, for mu_1 != 0 and mu_1 = 0."""

    def claim(name: str, steps: Callable, power: float) -> Claim:
        return scales_as(
            name,
            lambda r: steps(r.sim[0]),
            over="k",
            rungs=SCHEDULE,
            exponent=power,
            relation=relation,
        )

    return (
        claim("T over k, mu_1 != 0", odd_steps, odd_power),
        claim("T over k, mu_1 = 0", even_steps, even_power),
    )
