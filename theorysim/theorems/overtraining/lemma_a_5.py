"""A matrix of independent Gaussian entries scales a squared norm by the width and its variance.

Lemma A.5 of Springer et al. (2025): E |alpha M|_F^2 = d gamma^2 |M|_F^2 for a d x d matrix alpha
of independent centred entries of variance gamma^2. Its proof is a chain of three equations, which
is a reading of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.claims import (
    Corrected,
    Gaussian,
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Run,
    Size,
    Space,
    Theorem,
    equal,
)
from theorysim.numerics.products import dot

DRAWS = 64  # per key: sixteen thousand with all keys, which leaves about a percent of noise


class Means(NamedTuple):
    """Means over alpha of |alpha M|_F^2, Tr(alpha M M^T alpha^T) and alpha^T alpha."""

    norm: Float[Array, ""]
    trace: Float[Array, ""]
    gram: Float[Array, "d d"]


def simulate(x: Instance, key):
    noise = jnp.sqrt(x.variance) * jax.random.normal(key, (DRAWS, x.d, x.d))
    image = dot(noise, x.M)
    return Means(
        norm=jnp.mean(jnp.sum(image**2, axis=(1, 2))),
        trace=jnp.mean(jnp.trace(dot(image, jnp.swapaxes(image, 1, 2)), axis1=1, axis2=2)),
        gram=jnp.mean(dot(jnp.swapaxes(noise, 1, 2), noise), axis=0),
    )


def _predict(power: int):
    def predict(x: Instance):
        return x.d**power * x.variance * jnp.sum(x.M**2)

    return predict


def _norm(r: Run):
    return r.mean(r.sim.norm)


def _trace(r: Run):
    return r.mean(r.sim.trace)


def _split_trace(r: Run):
    """E[Tr(alpha alpha^T)] |M|_F^2, as the proof prints it."""
    return jnp.trace(r.mean(r.sim.gram)) * jnp.sum(r.x.M**2)


def _trace_of_gram(r: Run):
    """Tr(E[alpha^T alpha] M M^T)."""
    return jnp.sum(r.mean(r.sim.gram) * dot(r.x.M, r.x.M.T))


def _chain(middle: Callable) -> tuple:
    return (
        equal("E |alpha M|^2 = E Tr(alpha M M^T alpha^T)", _norm, _trace),
        equal("the norm of M comes out of the trace", _trace, middle),
        equal("the end of the chain", middle, lambda r: r.theory),
    )


STATEMENT = (equal("expected norm", _norm, lambda r: r.theory),)

theorem = Theorem(
    space=Space(d=Size(3, low=2), M=Gaussian("d", "d"), variance=Real(1e-3, 1e2, log=True)),
    simulate=simulate,
    predict=_predict(1),
    keys=256,
    source=Printed("Lemma A.5", "E |alpha M|_F^2 = d gamma^2 |M|_F^2"),
    claims=STATEMENT,
    readings=(
        Reading(
            "proof chain",
            Printed("proof of Lemma A.5", "E Tr(alpha M M^T alpha^T) = E[Tr(alpha alpha^T)] |M|^2"),
            claims=_chain(_split_trace),
            note="E Tr(alpha alpha^T) is d^2 gamma^2: its middle term is d times too large",
        ),
        Reading(
            "proof chain, corrected",
            Corrected("Tr(E[alpha^T alpha] M M^T) in the middle of the chain"),
            claims=_chain(_trace_of_gram),
            note="M M^T stays inside the trace, where E[alpha^T alpha] = d gamma^2 I",
        ),
    ),
    mutants=(
        Mutant(
            "as many variances as entries",
            of=("as printed", "proof chain, corrected"),
            predict=_predict(2),
        ),
    ),
)
