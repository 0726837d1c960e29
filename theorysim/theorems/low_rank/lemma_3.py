"""How the moments of the error, of the student's gradient and of the loss's gradient grow.

Lemma 3 of Dayi and Chen (2024), with Propositions 4 and 5 (Appendix A.2), for every p: (E(f* -
f^)^2p)^(1/p) <= C lambda_max^2 min(k^2, 4 k xi^2); the larger one of E|grad f^ / sqrt(d)|^2p and
E<grad f^, u>^2p, to the power 1/p, is at most C lambda_max^2 k^2 xi^2 / (k + xi^2), and that of the
loss's gradient at most C lambda_max^4 k^3 xi^2 min(k, 4 xi^2) / (k + xi^2). C depends on p and the
activation only: it must not grow with k, nor as xi grows from 1 to 10^4 or falls to 10^-3. Readouts
have one size, with equal and with random signs: the root of the moment of a sum over neurons is
convex in each of them, and largest at an end. The supremum is taken over c^ = c, c^ = -c (where
lambda_i c_i is of one sign) and random signs, each at three overlaps, for p = 1 and 2 and ReLU, by
the inputs of the reduced chain. `proposition-4` has p = 1 in closed form.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.gaussian import relu
from theorysim.systems import rank_one
from theorysim.systems import rank_one_chain as chain
from theorysim.theorems.low_rank._problem import sign

POWERS = (1, 2)
OVERLAPS = (-1.0, 0.0, 1.0)
NEURONS = (4.0, 8.0, 16.0, 32.0)
LARGE, SMALL = (1.0, 10.0, 1e2, 1e3, 1e4), (1.0, 0.1, 0.01, 0.001)
DIMENSION = 64.0


class Squares(NamedTuple):
    """Of a sample, for all signs and overlaps: (f* - f^)^2, |grad f^|^2 / d and <grad f^, u>^2."""

    error: Float[Array, " cases"]
    slope: Float[Array, " cases"]
    towards: Float[Array, " cases"]


def _case(given: rank_one.RankOne, overlap: float, sample: chain.Sample) -> Squares:
    """With the gradient g (q e + x_perp) of f^, g its derivative in p = <u^, x>."""
    state = chain.begin(given, overlap)
    root = jnp.sqrt(rank_one.square_length(given))
    truth = state.overlap * sample.along + state.rest * sample.across

    def output(coefficients: Array, along: Array) -> Array:
        rows = (sample.inside + given.scale * coefficients * along) / root
        return jnp.sum(given.readout * relu().value(rows))

    own, slope = jax.value_and_grad(output, 1)(given.student, sample.along)
    square = slope**2 * (sample.across**2 + sample.square) / DIMENSION
    towards = (slope * sample.across * state.rest) ** 2
    return Squares((output(given.teacher, truth) - own) ** 2, square, towards)


def simulate(x: claims.Instance, key) -> Squares:
    """One sample, with readouts +-x.readout."""
    signs, inputs = jax.random.split(key)
    sides, teacher, student = sign(jax.random.normal(signs, (3, x.k)))
    made = []
    for side in (jnp.ones(x.k), sides):
        for own, other in ((teacher, student), (side, side), (side, -side)):
            given = rank_one.from_signs(jnp.eye(x.k), x.readout * side, own, other, x.scale)
            given = given._replace(features=None)
            sample = jax.tree.map(lambda a: a[0], chain.draw(given, DIMENSION, inputs, 1))
            made += [_case(given, overlap, sample) for overlap in OVERLAPS]
    return jax.tree.map(lambda *cases: jnp.stack(cases), *made)


def _moment(values: Array) -> Float[Array, " powers"]:
    """The largest (E values^p)^(1/p) over cases, for every p; `values` lead with keys."""
    return jnp.stack([jnp.max(jnp.mean(values**p, axis=0)) ** (1 / p) for p in POWERS])


def _claims(k_power: float = 0.0, scales: tuple[float, ...] = LARGE, scale_power: float = 0.0):
    """The three bounds, over k^k_power xi^scale_power."""

    def bounded(name: str, quantity, bound) -> claims.Claim:
        return claims.exists_constant(
            name,
            quantity,
            lambda r: bound(r.x) / (r.x.k**k_power * r.x.scale**scale_power),
            over={"k": NEURONS, "scale": scales},
        )

    def slope(x: claims.Instance):
        return x.readout**2 * x.k**2 * x.scale**2 / (x.k + x.scale**2)

    def error(x: claims.Instance):
        return x.readout**2 * jnp.minimum(x.k**2, 4 * x.k * x.scale**2)

    def larger(weight):
        def quantity(r: claims.Run):
            factor = weight(r.sim)
            both = jnp.concatenate([factor * r.sim.slope, factor * r.sim.towards], axis=1)
            return _moment(both)

        return quantity

    return (
        bounded("Proposition 4: the error", lambda r: _moment(r.sim.error), error),
        bounded("Proposition 5: the student's gradient", larger(lambda sim: 1.0), slope),
        bounded(
            "Lemma 3: the loss's gradient",
            larger(lambda sim: 4 * sim.error),
            lambda x: (
                x.readout**4
                * x.k**3
                * x.scale**2
                * jnp.minimum(x.k, 4 * x.scale**2)
                / (x.k + x.scale**2)
            ),
        ),
    )


SOURCE = claims.Printed(
    "Lemma 3, Section 3.4, and Propositions 4 and 5, Appendix A.2",
    "sup {E|grad L / sqrt(d)|^2p v E|<grad L, u>|^2p}^(1/p) <= "
    "C_(p,sigma) lambda_max^4 k^3 xi^2 min{k, 4 xi^2} / (k + xi^2)",
)

theorem = claims.Theorem(
    space=claims.Space(
        k=claims.Size(4, low=2, high=62),  # d is 64
        readout=claims.Real(0.1, 10, log=True),
        scale=claims.Real(0.001, 1e4, log=True),
    ),
    simulate=simulate,
    claims=_claims(),
    printed="large xi",
    source=SOURCE,
    readings=(claims.Reading("small xi", SOURCE, claims=_claims(scales=SMALL)),),
    mutants=(
        claims.Mutant("a power of k is lost", claims=_claims(1.0)),
        claims.Mutant(
            "a power of k is lost, small xi",
            of=("small xi",),
            claims=_claims(1.0, SMALL),
        ),
        claims.Mutant("a power of xi is lost", claims=_claims(scale_power=2.0)),
        claims.Mutant(
            "a power of xi is lost, small xi",
            of=("small xi",),
            claims=_claims(scales=SMALL, scale_power=-2.0),
        ),
    ),
    keys=8192,  # the largest moments are of polynomials of degree 8
    instances=4,
    mutant_instances=4,
)
