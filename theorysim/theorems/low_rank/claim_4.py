"""The size of the bilinear form of signs that decides the start's speed.

Eq. 11 and Claim 4 of Dayi and Chen (2024), Appendix A.3.2, xi = 1: h(0), up to its factor 2, is
f(b, b^) = b^T Q b^ with Q_ij = (lambda_i lambda_j / k) sum_s (s+1) mu_(s+1)^2 (k/(k+1))^(s+1)
<w_i, w_j>^s, so |f|_2^2 = sum_ij Q_ij^2 over independent random signs; and
Omega(lambda_min^2 / k) <= |f|_2 <= O(lambda_max^2). The proof has lambda_min^2 / sqrt(k), by
sum_i Q_ii^2 >= (sum_s (s+1) / 2^s mu_(s+1)^2)^2 lambda_min^4 / k, and takes (k/(k+1))^(s+1) for at
least 2^-s: at s = 0 it is k/(k+1) < 1, so 2^-(s+1) is needed. This step is looked at for
activations near h_1.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import speed
from theorysim.theorems.low_rank._problem import DEGREES, activation, features, random_signs


class Form(NamedTuple):
    """Q, and sum_p p mu_p^2 r^p at r = k/(k+1), of the diagonal, at 1 and at 1/2."""

    matrix: Float[Array, "k k"]
    diagonal: Float[Array, ""]
    whole: Float[Array, ""]
    halves: Float[Array, ""]


def simulate(x: claims.Instance, key):
    """Random signs b and b^, and h(0) for them from the closed form (Proposition 1)."""
    signs = random_signs(key, x.k)
    given = rank_one.from_signs(features(x), x.readout, signs[0], signs[1], 1.0)
    return signs, speed(given, activation(x), jnp.zeros(()))


def _near_linear(x: claims.Instance) -> claims.Instance:
    """The instance with an activation of mu_0, mu_1 and a tenth of its other coefficients."""
    return x.replace(kink=0.0 * x.kink, mu=x.mu * jnp.array([1.0, 1.0, 0.1, 0.1, 0.1]))


def _predict(prefactor, taken=lambda x: x):
    def predict(x: claims.Instance) -> Form:
        x = taken(x)
        tangent, share = activation(x).tangent, x.k / (x.k + 1)
        cosines = jnp.clip(features(x) @ features(x).T, -1, 1)
        matrix = jnp.outer(x.readout, x.readout) * share * tangent(share * cosines)
        diagonal = share * tangent(jnp.asarray(share))
        halves = tangent(jnp.asarray(0.5)) / 2
        return Form(prefactor(x) * matrix, diagonal, tangent(jnp.ones(())), halves)

    return predict


def _value(r: claims.Run) -> Float[Array, " keys"]:
    """f(b, b^)."""
    return jnp.einsum("ni,ij,nj->n", r.sim[0][:, 0], r.theory.matrix, r.sim[0][:, 1])


def _size(r: claims.Run):
    """|f|_2."""
    return jnp.sqrt(jnp.sum(r.theory.matrix**2))


def _extreme(which):
    """lambda_min^2 or lambda_max^2."""
    return lambda r: which(jnp.abs(r.x.readout)) ** 2


def _lower(power: float):
    return claims.at_least(
        "the lower bound", _size, lambda r: r.theory.diagonal * LEAST(r) / r.x.k**power
    )


def _halved(base: float):
    """Of the proof: the sum of the diagonal, against `base` sum_p p mu_p^2 2^-p."""
    return claims.at_least(
        "P1: the diagonal", lambda r: r.theory.diagonal, lambda r: base * r.theory.halves
    )


def _upper(extreme):
    return claims.at_most("the upper bound", _size, lambda r: r.theory.whole * extreme(r))


def _shortest(x: claims.Instance):
    """The length of the shortest row before it is divided by its length."""
    return jnp.min(jnp.linalg.norm(x.rows + x.closeness * x.common, axis=1))


LEAST, LARGEST = _extreme(jnp.min), _extreme(jnp.max)
EQ_11 = claims.equal("Eq. 11: f = h(0) / 2", lambda r: r.sim[1] / 2, _value)
SQUARE = claims.equal(
    "|f|_2^2 = sum_ij Q_ij^2",
    lambda r: r.mean(_value(r) ** 2),
    lambda r: jnp.sum(r.theory.matrix**2),
)

HYPOTHESES = {
    "lambda_i != 0": claims.strict(lambda x: jnp.min(jnp.abs(x.readout))),
    "w_i is a unit vector": claims.strict(_shortest),
}
# Assumption 4 allows 0.51 at k = 2, where the smallest counterexamples are.
APART = {"|<w_i, w_j>| <= 0.5": lambda x: 0.5 - rank_one.largest_cosine(features(x))}

theorem = claims.Theorem(
    space=claims.Space(
        k=claims.Size(5, low=2, high=64),
        d=claims.Size(8, high=512),
        rows=claims.Gaussian("k", "d"),
        common=claims.Gaussian("d"),
        closeness=claims.Real(0, 3),
        readout=claims.Real(-2, 2, shape="k"),
        mu=claims.Real(-1, 1, shape=DEGREES),
        kink=claims.Real(0, 2),
    ),
    simulate=simulate,
    predict=_predict(lambda x: 1 / x.k),
    claims=(EQ_11, SQUARE, _lower(1.0), _upper(LARGEST)),
    hypotheses=HYPOTHESES,
    aliases=("equation-11", "eq-11"),
    source=claims.Printed(
        "Eq. 11 and Claim 4, Appendix A.3.2", "Omega(lambda_min^2 / k) <= |f|_2 <= O(lambda_max^2)"
    ),
    readings=(
        claims.Reading(
            "proof of Claim 4",
            claims.Printed(
                "Proof of Claim 4, Appendix A.3.2",
                "sum_i Q_ii^2 >= (sum_s (s+1)/2^s mu_(s+1)^2)^2 lambda_min^4 / k",
            ),
            predict=_predict(lambda x: 1 / x.k, _near_linear),
            hypotheses=HYPOTHESES | APART,
            claims=(_halved(2.0),),
            note="(k/(k+1))^(s+1) is below 2^-s at s = 0, and for k = 2 at s = 1: activations near "
            "h_1 fall short of it, and for k <= 4 so does ReLU",
        ),
        claims.Reading(
            "proof of Claim 4, corrected",
            claims.Corrected("2^(s+1) for 2^s"),
            predict=_predict(lambda x: 1 / x.k, _near_linear),
            claims=(_halved(1.0), _lower(0.5)),
            note="with 2^(s+1) the proof stands, and gives sqrt(k) for the k of the claim",
        ),
        claims.Reading(
            "Q without 1/k (proof of Proposition 7)",
            claims.Printed(
                "Proof of Proposition 7", "Q_ij = lambda_i lambda_j sum_s ..., without 1/k"
            ),
            predict=_predict(lambda x: 1.0),
            hypotheses=HYPOTHESES | APART,
            claims=(EQ_11,),
            note="the proof of Proposition 7 leaves out the 1/k of c and c^",
        ),
        claims.Reading(
            "Q without 1/k (proof of Proposition 7), corrected",
            claims.Corrected("lambda_i lambda_j / k for lambda_i lambda_j in Q_ij"),
            claims=(EQ_11,),
            note="as in Eq. 11",
        ),
    ),
    mutants=(
        claims.Mutant("f = h(0)", claims=(EQ_11.scaled(0.5),)),
        claims.Mutant("each pair counted twice", claims=(SQUARE.scaled(2),)),
        claims.Mutant(
            "the 1/k is lost; lambda_min for lambda_max", claims=(_lower(0.0), _upper(LEAST))
        ),
        claims.Mutant(
            "2^s, as printed; the 1/sqrt(k) is lost",
            of=("proof of Claim 4, corrected",),
            claims=(_halved(2.0), _lower(0.0)),
        ),
    ),
    keys=1024,
    instances=32,
)
