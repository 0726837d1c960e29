"""The activation gradient after pretraining, term by term.

Eq. 24 of Liu et al. (2019): ||dL/dX^1||^2 = ||dL_0/dX^1||^2 + |t|^2 - 2 y_Q^T t + perturbations,
with t = y_(P->Q), eps' = u_Q(P) - u_Q(0) - Z_Q(0)^T (W(P) - W(0)) and eps = W(P) - W(0) -
Z_P(0) H_P^(-1) y_P (Eq. 22). In print Z_Q(P) stands for Z_Q(0), |eps|^2 for |Z_Q(0)^T eps|^2, the
terms in u_Q(0) lack their factor 2 and the last one its sign, and two terms in y_Q and one with t
are missing.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import Corrected, Instance, Mutant, Reading, Real, Theorem, equal
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    HYPOTHESES,
    cross_gram,
    problem_space,
    solve,
    source,
    source_gram,
    target,
    transferred,
)


def simulate(x: Instance, key):
    """Start and end of pretraining."""
    path = training.paths(x, training.started(x, key))
    return {"signs": path.signs, "start": path.source[0], "end": path.source[-1]}


def _parts(r, sim) -> dict:
    """What the displays are made of, for one simulation."""
    inputs = target(r.x).inputs

    def z(weights, inputs):
        return training.features(weights, sim["signs"], inputs)

    start, end = (training.outputs(sim[k], sim["signs"], inputs) for k in ("start", "end"))
    change = training.vec(sim["end"] - sim["start"])
    lead = dot(z(sim["start"], source(r.x).inputs), solve(source_gram(r.x), r.x.source_labels))
    z_start, z_end = z(sim["start"], inputs), z(sim["end"], inputs)
    return {
        "u(0)": start,
        "u(P)": end,
        "eps": change - lead,
        "eps'": end - start - dot(z_start.T, change),
        "lead": lead,
        "Z_Q(0)": z_start,
        "Z_Q(P)": z_end,
    }


def _square(vector):
    return jnp.sum(jnp.square(vector))


def _printed(r, sim):
    p, y, t = _parts(r, sim), r.x.target_labels, transferred(r.x)
    z, error = p["Z_Q(P)"].T, p["eps'"]
    lead, drift = dot(z, p["lead"]), dot(z, p["eps"])
    labels = solve(source_gram(r.x), r.x.source_labels)
    return (
        _square(p["u(0)"] - y)
        + _square(t)
        - 2 * jnp.sum(y * t)
        + _square(error)
        + 2 * jnp.sum(error * lead)
        + 2 * jnp.sum(error * drift)
        + _square(lead - dot(cross_gram(r.x).T, labels))
        + _square(p["eps"])
        + 2 * jnp.sum(drift * lead)
        + jnp.sum(p["u(0)"] * (lead + drift + error))
        + 2 * jnp.sum(y * (lead - t))
    )


def _corrected(factor: float):
    def expand(r, sim):
        p, y, t = _parts(r, sim), r.x.target_labels, transferred(r.x)
        z, error = p["Z_Q(0)"].T, p["eps'"]
        lead, drift = dot(z, p["lead"]), dot(z, p["eps"])
        return (
            _square(p["u(0)"] - y)
            + _square(t)
            - 2 * jnp.sum(y * t)
            + _square(error)
            + 2 * jnp.sum(error * (lead + drift))
            + _square(lead - t)
            + 2 * jnp.sum((lead - t) * t)
            + _square(drift)
            + 2 * jnp.sum(drift * lead)
            + factor * jnp.sum(p["u(0)"] * (lead + drift + error))
            - 2 * jnp.sum(y * (lead - t + drift + error))
        )

    return expand


def _claims(expansion) -> tuple:
    def gradient(r, sim):
        return _square(_parts(r, sim)["u(P)"] - r.x.target_labels)

    return (
        equal(
            "|dL/dX1|^2",
            lambda r: jax.vmap(lambda sim: gradient(r, sim))(r.sim),
            lambda r: jax.vmap(lambda sim: expansion(r, sim))(r.sim),
        ),
    )


theorem = Theorem(
    space=problem_space(**training.SIZES, kappa=training.KAPPA, rate_share=Real(0.05, 0.95)),
    hypotheses=HYPOTHESES,
    simulate=simulate,
    claims=_claims(_printed),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            claims=_claims(_corrected(2.0)),
            primary=True,
            note="Z_Q(0), |Z_Q(0)^T eps|^2, 2 u_Q(0), -2 y_Q and the missing cross terms",
        ),
    ),
    mutants=(Mutant("u_Q(0) without its factor 2", claims=_claims(_corrected(1.0))),),
    instances=32,
    mutant_instances=32,
)
