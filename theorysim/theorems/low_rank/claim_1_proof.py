"""The tail of a quadratic form of signs on which the proof of Claim 1 rests.

Appendix A.4 of Dayi and Chen (2024): E (sum_i lambda_i c_i)^2 (sum_i lambda_i c^_i)^2 is |lambda|^4
/ k^2, and Pr[|(m xi^2 / k) k sum_ij lambda_i lambda_j c_i c^_j| >= 2 |lambda|^2] is at most exp(-2k
/ (e m xi^2)), m being read as |m|. Theorem 9.23 of O'Donnell, for degree 2, has this where 2k / (m
xi^2) >= 2e. With xi = xi_bar sqrt(k) the chance is exact: a sum over all 4^k signs.
"""

from itertools import product
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims


def readouts(x: claims.Instance) -> Float[Array, " k"]:
    """From equal ones to one that outweighs all others."""
    return jnp.exp(x.spread * x.readout)


class Form(NamedTuple):
    """E (sum_i lambda_i c_i)^2 (sum_i lambda_i c^_i)^2, and the chance that the form is large."""

    moment: Float[Array, ""]
    tail: Float[Array, ""]


def _form(x: claims.Instance, factor: Float[Array, ""]) -> Form:
    """With `factor` for m xi^2 / k, over all signs of c and c^, of which c and -c are one."""
    signs = np.array([(1.0, *others) for others in product([-1.0, 1.0], repeat=x.k - 1)])
    readout = readouts(x)
    sums = jnp.asarray(signs) @ readout
    forms = jnp.outer(sums, sums)  # k sum_ij lambda_i lambda_j c_i c^_j
    large = jnp.abs(factor * forms) >= 2 * jnp.sum(readout**2)
    return Form(jnp.mean(forms**2) / x.k**2, jnp.mean(large.astype(forms.dtype)))


def _factor(x: claims.Instance) -> Float[Array, ""]:
    """m xi^2 / k."""
    return x.overlap * x.xi_bar**2


def simulate(x: claims.Instance, key) -> Form:
    """As printed."""
    return _form(x, _factor(x))


def without_k(x: claims.Instance, key) -> Form:
    """With m xi^2 for m xi^2 / k."""
    return _form(x, x.k * _factor(x))


def threshold(x: claims.Instance) -> Float[Array, ""]:
    """2k / (|m| xi^2), in standard deviations of the form."""
    return 2 / jnp.abs(_factor(x))


MOMENT = claims.equal(
    "the second moment",
    lambda r: r.sim.moment,
    lambda r: jnp.sum(readouts(r.x) ** 2) ** 2 / r.x.k**2,
)

TAIL = claims.at_most(
    "the tail of the form", lambda r: r.sim.tail, lambda r: jnp.exp(-threshold(r.x) / jnp.e)
)

GIVEN = {"m != 0": claims.strict(lambda x: jnp.abs(x.overlap))}

theorem = claims.Theorem(
    space=claims.Space(
        k=claims.Size(8, low=1, high=10),
        readout=claims.Real(-1, 1, shape="k"),
        spread=claims.Real(0, 12),
        xi_bar=claims.Real(0.1, 10, log=True),
        overlap=claims.Real(-1, 1),
    ),
    simulate=simulate,
    claims=(MOMENT, TAIL),
    hypotheses=GIVEN,
    source=claims.Printed(
        "Proof of Claim 1, Appendix A.4",
        "Pr[|(m xi^2 / k) (k sum lambda_i lambda_j c_i c^_j)| >= 2 |lambda|^2] <= "
        "exp(-2k / (e m xi^2))",
    ),
    note="the form of one neuron is |lambda|^2 or its negative: the event is certain where 2k / (m "
    "xi^2) <= 1",
    readings=(
        claims.corrected(
            "for 2k / (m xi^2) >= 2e",
            hypotheses={**GIVEN, "2k / (m xi^2) >= 2e": lambda x: threshold(x) - 2 * jnp.e},
            note="with the condition of O'Donnell's Theorem 9.23 the bound holds",
        ),
    ),
    mutants=(
        claims.Mutant(
            "|lambda|^4 / k",
            claims=(MOMENT.against(lambda r: jnp.sum(readouts(r.x) ** 2) ** 2 / r.x.k),),
        ),
        claims.Mutant("the 1/k is lost", simulate=without_k, breaks=(TAIL.name,)),
    ),
)
