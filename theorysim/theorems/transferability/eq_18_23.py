"""Outputs on the target change along the features of the start, up to units whose pattern flips.

Eq. 18, 19 and 21 to 23 of Liu et al. (2019). S_bar_i are the units with |<w_r(0), x_i>| <= R, R
that of Lemma 1: u_Q(P) - u_Q(0) = a^T sigma_0((W(P) - W(0))^T X) / sqrt(m) + eps_1 + eps_2, where
the errors sum over S_bar_i only, wherever no unit moves by R. The second line of Eq. 22 has them
under 1 / sqrt(m) once more than the third. Eq. 23 bounds the errors; transferability/eq-20 has
|S_bar_i|, transferability/eq-14-23 the order that Eq. 23 ends with.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training


class Change(NamedTuple):
    """u_Q(P) - u_Q(0): as it is, summed over units, and along the patterns of the start."""

    outputs: Float[Array, " q"]
    units: Float[Array, " q"]
    linear: Float[Array, " q"]
    eps_1: Float[Array, " q"]
    eps_2: Float[Array, " q"]
    near: Float[Array, " q"]
    """|S_bar_i|"""
    radius: Float[Array, ""]
    movement: Float[Array, ""]


def simulate(x: claims.Instance, key) -> Change:
    network = training.started(x, key)
    first, last = network.weights, training.pretrained(x, network).weights
    inputs = problem.target(x).inputs
    start, end = dot(first, inputs.T), dot(last, inputs.T)
    before, after = training.outputs(jnp.stack([first, last]), network.signs, inputs)
    radius = training.source_reach(x, training.rest(network, problem.source(x)))
    near = (jnp.abs(start) <= radius).astype(float)
    signs = network.signs[:, None] / jnp.sqrt(x.width)
    linear = signs * training.active(first, inputs) * (end - start)
    real = signs * (jnp.maximum(end, 0) - jnp.maximum(start, 0))
    return Change(
        outputs=after - before,
        units=jnp.sum(real, axis=0),
        linear=jnp.sum(linear, axis=0),
        eps_1=jnp.sum(near * real, axis=0),
        eps_2=-jnp.sum(near * linear, axis=0),
        near=jnp.sum(near, axis=0),
        radius=radius,
        movement=jnp.max(jnp.linalg.norm(last - first, axis=1)),
    )


def _still(r):
    """No unit moves by R."""
    return r.sim.radius - r.sim.movement


def _lines(factor):
    """A line of Eq. 22, whose errors have a further factor."""
    return lambda r: r.sim.linear + factor(r.x) * (r.sim.eps_1 + r.sim.eps_2)


eq_18 = claims.equal("Eq. 18", lambda r: r.sim.outputs, lambda r: r.sim.units)
eq_22 = claims.equal("Eq. 21 and 22", lambda r: r.sim.outputs, _lines(lambda x: 1), where=_still)
eq_23 = claims.at_most(
    "Eq. 23",
    lambda r: jnp.linalg.norm(r.sim.eps_1 + r.sim.eps_2),
    lambda r: jnp.sqrt(r.x.q / r.x.width) * jnp.max(r.sim.near) * r.sim.movement,
    where=_still,
)
second_line = eq_22.against(_lines(lambda x: 1 / jnp.sqrt(x.width)))
lost_root = eq_18.against(lambda r: r.sim.units / jnp.sqrt(r.x.width))
as_share = eq_23.against(lambda r: eq_23.rhs(r) / r.x.width)

theorem = claims.Theorem(
    space=problem.problem_space(
        width=training.SIZES["width"],
        source_steps=training.SIZES["source_steps"],
        kappa=training.KAPPA,
        rate_share=training.RATE_SHARE,
    ),
    assumes=(problem.REGULAR,),
    simulate=simulate,
    claims=(eq_18, eq_22, eq_23),
    printed="Eq. 21 and the third line of Eq. 22",
    source=claims.Printed(
        "Appendix C.1, Eq. 18 to 23",
        "||eps_1 + eps_2|| <= sqrt(n_Q / m) |S_bar_i| ||w_r(P) - w_r(0)||",
    ),
    aliases=("eq-18", "eq-19", "eq-21", "eq-22", "eq-23"),
    readings=(
        claims.Reading(
            "second line of Eq. 22",
            claims.Printed("Eq. 22, second line", "(a^T sigma_0(...) + eps_1 + eps_2)^T / sqrt(m)"),
            claims=(second_line,),
            note="the errors of Eq. 21 already have their 1 / sqrt(m)",
        ),
    ),
    mutants=(
        claims.Mutant("1 / m for 1 / sqrt(m)", claims=(lost_root,)),
        claims.Mutant("errors under 1 / sqrt(m) once more", claims=(second_line,)),
        claims.Mutant("the share of the units for their number", claims=(as_share,)),
    ),
)
