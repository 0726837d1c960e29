"""A step of fine-tuning is that of its own Gram matrix, up to units whose pattern may change.

Eq. 37 of Liu et al. (2019): u_Q(k+1) - u_Q(k) = -eta H_Q(k) (u_Q(k) - y_Q) + eps_3(k), where no
unit has moved by R. eps_3,i is the sum over S_bar_i in I_1 plus I_2^i (proof of Theorem 3). The
print calls ||eps_3|| equal to the sum of these over i, which have signs, and bounds it by sum_i 2
eta sqrt(n_Q) |S_bar_i| ||u_Q(k) - y_Q|| / m. transferability/eq-36-48 has the order of |S_bar_i|.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._steps import before, changed, simulate, times


def _rate(r):
    return problem.stable_rates(r.x)[1]


def _eps_3(r):
    """What a step has beside eta H_Q(k) (y_Q - u_Q(k))."""
    return changed(r) - _rate(r) * times(r.sim.gram, before(r))


def _length(r):
    return jnp.linalg.norm(_eps_3(r), axis=-1)


def _terms(r):
    """I_2^i and the sum over the units of S_bar_i that I_1 has with a minus sign."""
    return r.sim.i_2 - _rate(r) * times(r.sim.perp, before(r))


def _bound(r):
    rest = jnp.linalg.norm(before(r), axis=-1)
    return 2 * _rate(r) * jnp.sqrt(r.x.q) / r.x.width * jnp.sum(r.sim.near) * rest


def _share(r):
    return _bound(r) / r.x.width


def _room(r):
    return r.sim.room


TERMS = "Eq. 37: the terms of eps_3"
printed = claims.equal(TERMS, _length, lambda r: jnp.sum(_terms(r), axis=-1), where=_room)
entries = claims.equal(TERMS, _eps_3, _terms, where=_room)
bound = claims.at_most("Eq. 37: |eps_3|", _length, _bound, where=_room)

theorem = claims.Theorem(
    space=training.training_space(radius_share=claims.Real(0.5, 4, log=True)),
    assumes=(problem.REGULAR,),
    simulate=simulate,
    claims=(printed, bound),
    source=claims.Printed(
        "Appendix C.2, below Eq. 37",
        "||eps_3(k)||_2 = sum_i (eta/m sum_j x_i^T x_j (u_j - y_j) sum_(r in S_bar_i) I{...} + "
        "I_2^i) <= sum_i 2 eta sqrt(n_Q) / m |S_bar_i| ||u_Q(k) - y_Q||_2",
    ),
    note="a length is not the sum of signed entries",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("eps_3,i for ||eps_3|| and no sum over i in the first line"),
            claims=(entries, bound),
            primary=True,
            note="the entries; their bound stands",
        ),
    ),
    mutants=(
        claims.Mutant("without I_2", claims=(entries.against(lambda r: _terms(r) - r.sim.i_2),)),
        claims.Mutant("1 / m^2 for 1 / m", claims=(bound.against(_share),)),
    ),
    instances=32,
    mutant_instances=128,
)
