"""The quadratic terms of the projection stay below the drift.

Claim 7 of Dayi and Chen (2024), Appendix B.1.1: for alpha delta^2 <= 1, the infimum over t of
eta sum_(j <= t) (S / 4 - eta |L_j|^2) is below -beta / (5 sqrt(d)) with a chance of at most
C / (beta sqrt(d)) + alpha (dV)^(1 - (beta^2 / C) log(dV)). Both terms vanish as d grows,
whatever C is, and so must the chance. The proof takes delta <= S / (4 C log(dV)), which the
statement does not say; the rate is claimed for it, with C = 1 in the exponent.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.low_rank import _noise as noise


def _corrected(x: claims.Instance, at: noise.Noise):
    return x.share * at.signal / (4 * jnp.log(x.dimension * at.variance))


class Lowest(NamedTuple):
    """The lowest point of the sum, at S = |h(0)| / 2, and V."""

    sum: Float[Array, ""]
    variance: Float[Array, ""]


def _simulate(delta):
    def simulate(x: claims.Instance, key) -> Lowest:
        run = noise.run(x, key, delta)
        lowest = jnp.min(run.rate * run.time * run.signal / 4 - run.quadratic)
        return Lowest(lowest, run.variance)

    return simulate


def _falls(r: claims.Run, side: float = -1.0):
    """Whether the sum falls below side beta / (5 sqrt(d))."""
    return r.sim.sum < side * r.x.beta / (5 * jnp.sqrt(r.x.dimension))


def _vanishing(side: float = -1.0) -> claims.Claim:
    return claims.tends_to(
        "the chance vanishes as d grows",
        lambda r: jnp.mean(_falls(r, side)),
        lambda r: 0.0,
        over={"dimension": noise.DIMENSIONS},
    )


def _rate(side: float = -1.0) -> claims.Claim:
    def bound(r: claims.Run):
        volume = r.x.dimension * jnp.mean(r.sim.variance)
        rare = r.x.alpha * volume ** (1 - r.x.beta**2 * jnp.log(volume))
        return 1 / (r.x.beta * jnp.sqrt(r.x.dimension)) + rare

    return claims.exists_constant(
        "the sum falls below -beta / (5 sqrt(d))",
        lambda r: jnp.mean(_falls(r, side), axis=0),
        bound,
        over={"dimension": noise.DIMENSIONS, "beta": noise.BETAS},
    )


theorem = claims.Theorem(
    **noise.SETUP,
    simulate=_simulate(lambda x, _: x.share * jnp.minimum(1 / jnp.sqrt(x.alpha), 1.0)),
    claims=(_vanishing(),),
    source=claims.Printed(
        "Claim 7, Appendix B.1.1",
        "alpha delta^2 <= 1: Pr[inf_t eta sum (S_k/4 - eta |L_j|^2) < beta / (-5 sqrt(d))] <= "
        "C / (beta sqrt(d)) + alpha (d V_k)^(-(beta^2/C) log(d V_k) + 1)",
    ),
    note="alpha delta^2 <= 1 alone lets the noise outrun the drift, the more the larger d",
    readings=(
        claims.corrected(
            "delta <= S / (4 C log(dV)), as in the proof, for alpha delta^2 <= 1",
            simulate=_simulate(_corrected),
            claims=(_vanishing(), _rate()),
            note="delta <= S / (4 C log(dV)) keeps the noise below the drift, as the proof has it",
        ),
    ),
    mutants=(
        claims.Mutant("the sign of the threshold is lost", claims=(_vanishing(1.0), _rate(1.0))),
    ),
)
