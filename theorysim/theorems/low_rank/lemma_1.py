"""The overlap's speed keeps its sign and half of its size, and is rarely small at the start.

Lemma 1 of Dayi and Chen (2024) (Condition 3 for random signs, orthonormal features): over c and c^,
h(m) sign(h(0)) >= |h(0)| / 2 wherever m h(0) >= 0, and |h(0)| is at least gamma times A^(-s*) xi^2
(mu_1 != 0) or the same over sqrt(k) (mu_1 = 0), but for a chance of o(1) + exp(-2k / (e xi^2)) +
O(sqrt(gamma)). The o(1) is read as 1 / sqrt(k) in the first claim. It and the exponential
are left out of the second, where the chance comes near 1; its k are odd, so that no sum of signs
vanishes. For m 17 numbers in [0, 1] are taken. Activations
are ReLU (mu_1 = 1/2) and |a| (mu_1 = 0, s* = 2); readouts have any sign and size. As printed, gamma
is taken as the square of their size, so that both shrink together: over gamma alone the chance
falls again once gamma is below lambda_min^2.
"""

from functools import cache

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.low_rank._problem import sign
from theorysim.theorems.low_rank._recovery import Setting, even, growing_scale, odd, recovery_space

GAMMAS = (0.5, 0.25, 0.125, 0.0625)
NEURONS = (5.0, 9.0, 17.0)
SIZES = (0.5, 0.25, 0.125, 0.0625)

ODD, EVEN = Setting(True, growing_scale, odd), Setting(True, growing_scale, even)


def readouts(x: claims.Instance):
    """Of any sign, and of one size but for a factor of 1.6."""
    return x.size * sign(x.side) * x.readout


@cache
def speeds(setting: Setting):
    """|h(0)| and the least h(m) sign(h(0)) / |h(0)|, for random signs."""

    def simulate(x: claims.Instance, key):
        teacher, student = jax.random.normal(key, (2, x.k))
        given = setting.problem(x.replace(readout=readouts(x)), teacher, student)
        return setting.start_speed(given), jnp.nan_to_num(setting.share_kept(given))

    return simulate


def kept(ratio, share: float = 0.5):
    """`ratio` is k / xi^2."""
    return claims.with_probability(
        "C1: h keeps half of h(0)",
        lambda r: share,
        lambda r: r.sim[1],
        at_least=lambda r: 1 - jnp.exp(-2 / jnp.e * ratio(r.x)) - r.x.k**-0.5,
    )


def rarely_small(size):
    """`size` is what gamma multiplies."""

    def rarely(r: claims.Run):
        return jnp.mean(r.sim[0] <= r.x.gamma * size(r.x), axis=0)

    return claims.exists_constant(
        "C2: |h(0)| is rarely small",
        rarely,
        lambda r: jnp.sqrt(r.x.gamma),
        over={"gamma": GAMMAS, "k": NEURONS},
    )


def rarely_small_for_any(size):
    """The same of readouts that shrink, gamma being the square of their size."""

    def rarely(r: claims.Run):
        return jnp.mean(r.sim[0] <= r.x.size**2 * size(r.x), axis=0)

    return claims.exists_constant(
        "C2: |h(0)| is rarely small",
        rarely,
        lambda r: r.x.size,
        over={"size": SIZES, "k": NEURONS},
    )


def _orthonormal(x: claims.Instance):
    """k / xi^2."""
    return x.xi_bar**-2


def _size(star: int, rare: float, power: int = 0):
    """A^-star xi^2 / k^rare times lambda_min^power."""

    def size(x: claims.Instance):
        least = jnp.min(jnp.abs(readouts(x))) ** power
        return (1 + x.xi_bar**2) ** -star * x.xi_bar**2 * x.k ** (1 - rare) * least

    return size


def lemma_space(**fields: claims.Field) -> claims.Space:
    """Readouts of any sign and size, and gamma."""
    return recovery_space(
        gamma=claims.Real(0.0625, 0.5, log=True),
        size=claims.Real(0.02, 1, log=True),
        side=claims.Real(-1, 1, shape="k"),
        **fields,
    )


theorem = claims.Theorem(
    space=lemma_space(xi_bar=claims.Real(0.3, 1)),
    simulate=speeds(ODD),
    claims=(kept(_orthonormal), rarely_small_for_any(_size(1, 0.0))),
    printed="Lemma 1, mu_1 != 0",
    source=claims.Printed(
        "Lemma 1, Section 3.2", "|h(0)| >= (k / (k + xi^2))^s* C_sigma gamma xi^2"
    ),
    note="small readouts make h(0) small: lambda_min^2 is missing; over size, gamma is its square",
    readings=(
        claims.Reading(
            "Lemma 1, mu_1 = 0",
            claims.Printed("Lemma 1, Section 3.2", "... times 1 / sqrt(k) if mu_1 = 0"),
            simulate=speeds(EVEN),
            claims=(kept(_orthonormal), rarely_small_for_any(_size(2, 0.5))),
            note="small readouts make h(0) small: lambda_min^2 is missing; over size, gamma is its "
            "square",
        ),
        claims.corrected(
            "lambda_min^2 C_sigma gamma xi^2 for C_sigma gamma xi^2",
            name="Lemma 1, mu_1 != 0, corrected",
            claims=(kept(_orthonormal), rarely_small(_size(1, 0.0, 2))),
            note="with lambda_min^2 the start is rarely small, whatever the readouts",
        ),
        claims.Reading(
            "Lemma 1, mu_1 = 0, corrected",
            claims.Corrected("lambda_min^2 C_sigma gamma xi^2 for C_sigma gamma xi^2"),
            simulate=speeds(EVEN),
            claims=(kept(_orthonormal), rarely_small(_size(2, 0.5, 2))),
            note="with lambda_min^2 the start is rarely small, whatever the readouts",
        ),
    ),
    mutants=(
        claims.Mutant(
            "2 |h(0)| for |h(0)| / 2; lambda_min^2 is lost",
            claims=(kept(_orthonormal, 2.0), rarely_small(_size(1, 0.0))),
        ),
    ),
    keys=512,
    instances=16,
    mutant_instances=16,
)
