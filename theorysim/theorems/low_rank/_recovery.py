"""The settings of the convergence theorems: rows, scale, activation; signs for which u is found."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.gaussian import Activation, absolute_value, relu
from theorysim.systems import rank_one, rank_one_chain
from theorysim.systems.rank_one_overlap import hitting_time, keeps_sign, speed
from theorysim.theorems.low_rank._problem import sign

odd: Callable[[], Activation] = relu  # mu_1 != 0
even: Callable[[], Activation] = absolute_value  # mu_1 = 0


def recovery_space(**fields: claims.Field | claims.Size) -> claims.Space:
    """Readouts of one size, any signs, rows in many dimensions of their own."""
    given: dict[str, claims.Field | claims.Size] = {
        "k": claims.Size(5, high=64),
        "ambient": claims.Size(60, high=1024),
        "rows": claims.Gaussian("k", "ambient"),
        "readout": claims.Real(0.8, 1.25, log=True, shape="k"),
        "teacher": claims.Real(-1, 1, shape="k"),
        "student": claims.Real(-1, 1, shape="k"),
        "dimension": claims.Real(8, 64, log=True),
        "epsilon": claims.Real(0.16, 0.4, log=True),
    }
    return claims.Space(**{**given, **fields})


def growing_scale(x: claims.Instance):
    """xi = xi_bar sqrt(k)."""
    return x.xi_bar * x.k**0.5


class Setting:
    """A theorem's regime: orthonormal or separated rows, a scale and an activation."""

    def __init__(self, orthonormal: bool, scale: Callable, activation: Callable[[], Activation]):
        self.orthonormal, self.scale, self.activation = orthonormal, scale, activation

    def features(self, x: claims.Instance):
        """Coordinate vectors, or random unit rows."""
        return jnp.eye(x.k) if self.orthonormal else jax.vmap(rank_one.unit)(x.rows)

    def problem(self, x: claims.Instance, teacher=None, student=None) -> rank_one.RankOne:
        """The problem with u flipped where h(0) < 0, so that the overlap climbs."""
        teacher = sign(x.teacher if teacher is None else teacher)
        student = sign(x.student if student is None else student)
        rows, scale = self.features(x), self.scale(x)
        given = rank_one.from_signs(rows, x.readout, teacher, student, scale)
        return given._replace(teacher=given.teacher * sign(self.start_speed(given)))

    def reduced(self, x: claims.Instance) -> rank_one.RankOne:
        """The problem as the reduced chain wants it."""
        given = self.problem(x)
        return (
            given._replace(features=None)
            if self.orthonormal
            else rank_one_chain.reduce_features(given)
        )

    def speed(self, given: rank_one.RankOne, overlap):
        """h(m)."""
        return speed(given, self.activation(), overlap)

    def start_speed(self, given: rank_one.RankOne):
        """h(0)."""
        return self.speed(given, jnp.zeros(()))

    def share_kept(self, given: rank_one.RankOne):
        """The least h(m) / h(0) at 17 overlaps in [0, 1]."""
        return keeps_sign(given, self.activation(), points=17)

    def flow_time(self, x: claims.Instance, first, last):
        """Time of the population's flow from an overlap to a larger one."""
        return hitting_time(self.problem(x), self.activation(), first, last)
