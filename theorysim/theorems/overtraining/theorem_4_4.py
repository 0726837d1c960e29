"""From some stage on, longer pre-training raises the loss under Gaussian noise.

Theorem 4.4 of Springer et al. (2025) and its formal version, Theorem A.3. Main text: for some
gamma there is r < d such that L~(n) increases for n >= r; at the ideal states, as the main text
abbreviates. Appendix: under Assumption A.2 and gamma^2 > pre_d / d there is s < d such that L~
increases at every n > s; checked where least is claimed, s = d - 1, at factors within exp(-C tau)
of the ideal ones (Theorem A.1). Least of it is left where features are nearly equal and the ideal
factors are made longer or shorter by as much as is admitted, as in half of the draws: there a
radius of twice the printed one is too large. The displays of the proof are a statement of their
own.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _perturbation as noise
from theorysim.theorems.overtraining._finetuning import pre_spectrum
from theorysim.theorems.overtraining._order import IN_ORDER
from theorysim.theorems.overtraining.assumption_a_2 import printed_radius

# gamma^2 in units of scale / d, from far below to far above the features.
NOISES = (0.01, 0.1, 1.0, 10.0, 100.0)


def real_moves(x: claims.Instance, radius: Callable):
    """From the ideal states to some at a share of the radius from them."""
    e, ideal = x.share * radius(x), noise.ideal_states(x)
    ball = jax.vmap(lambda w, way, aligned: noise.move_in_ball(w, e, way, aligned))
    return ball(ideal[0], x.first, x.aligned), ball(ideal[1], x.second, x.aligned)


def drawn(x: claims.Instance) -> claims.Instance:
    """With features drawn together, and, where `cornered`, at the ends of the moves."""
    is_cornered = x.cornered > 0
    return x.replace(
        pre=x.pre**x.spread,
        share=jnp.where(is_cornered, 1, x.share),
        aligned=jnp.where(is_cornered, jnp.sign(x.aligned), x.aligned),
    )


def _simulate_within(radius: Callable) -> Callable:
    """Increments of L~ at n = 2, ..., d, at states as far as the radius admits."""

    def simulate(x: claims.Instance, key) -> Float[Array, " d-1"]:
        x = drawn(x)
        return noise.rises(x, noise.move_by(noise.ideal_states(x), real_moves(x, radius)))

    return simulate


def _simulate_noises(x: claims.Instance, key) -> Float[Array, "noises d-1"]:
    """Increments of L~ at the ideal states for every strength of noise."""
    ideal = noise.ideal_states(x)

    def under(strength):
        return noise.rises(x.replace(noise=strength.astype(x.noise.dtype)), ideal)

    return jax.vmap(under)(jnp.array(NOISES) * x.pre[0])


def _last_increment(place: int = -1):
    """In units of pre_d^2, which the last increment at the ideal states exceeds."""
    return claims.at_least(
        "the last increment",
        lambda r: r.sim[place] / pre_spectrum(drawn(r.x))[-1] ** 2,
        lambda r: 0.0,
        strict=True,
    )


def _increments(least: Callable):
    return claims.at_least("increments", least, lambda r: 0.0, strict=True)


# The least increment at n > r under the noise that makes it largest; r = 1 suffices.
FOR_SOME_GAMMA = _increments(lambda r: jnp.max(jnp.min(r.sim, axis=-1)))


theorem = claims.Theorem(
    space=noise.perturbation_space(
        d=claims.Size(3, low=2, high=32),
        first=claims.Gaussian("d", "d", "d"),
        second=claims.Gaussian("d", "d", "d"),
        aligned=claims.Real(-1, 1, shape="d"),
        share=claims.Real(0, 1),
        spread=claims.Real(1e-3, 1, log=True),
        cornered=claims.Choice(0.0, 1.0),
    ),
    hypotheses={
        "gamma^2 > pre_d / d": claims.strict(
            lambda x: noise.variance(x) - pre_spectrum(drawn(x))[-1] / x.d
        ),
        "pre-training features in order": claims.strict(
            lambda x: -jnp.max(jnp.diff(pre_spectrum(drawn(x))))
        ),
    },
    simulate=_simulate_within(printed_radius),
    claims=(_last_increment(),),
    source=claims.Printed(
        "Theorem A.3", "if gamma^2 > pre_d / d, there is s < d such that L~ increases for n > s"
    ),
    printed="appendix",
    note="exp(-C tau) is a share of what Assumption A.2 admits",
    readings=(
        claims.Reading(
            "main text",
            claims.Printed(
                "Theorem 4.4", "for some gamma > 0 there is r < d with L~ increasing for n >= r"
            ),
            simulate=_simulate_noises,
            hypotheses=IN_ORDER,
            claims=(FOR_SOME_GAMMA,),
        ),
    ),
    mutants=(
        claims.Mutant("the increment before the last", claims=(_last_increment(place=0),)),
        claims.Mutant(
            "twice the radius", simulate=_simulate_within(lambda x: 2 * printed_radius(x))
        ),
        claims.Mutant(
            "for every gamma", of=("main text",), claims=(_increments(lambda r: jnp.min(r.sim)),)
        ),
    ),
    aliases=("theorem-a.3",),
)
