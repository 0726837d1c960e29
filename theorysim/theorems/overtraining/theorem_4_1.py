"""Gradient flow from a small start learns the singular directions one after the other.

Theorem 4.1 of Springer et al. (2025) and its formal version, Theorem A.1 (both after Gidel et al.
2019). Main text: from small weights there are times t_1 < ... < t_d with theta(t_n) close to
U Sigma_{:n} V^T; weights are exp(-tau) times Gaussian ones. Appendix: from W_1 = W_2 = exp(-tau) I,
for a map of rank R, there are times and a C > 0 with |W_1(t_n) - U Sigma_{:n}^(1/2)|_F <=
exp(-C tau), n <= R, and likewise for W_2; signs of the singular vectors are chosen in the theorem's
favour. Flows are integrated; the product from the identity is the exact one (statement eq-5-6),
because rounding would let an integrated flow leave a saddle.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Gaussian,
    Instance,
    Integer,
    Mutant,
    Printed,
    Reading,
    Real,
    Run,
    Theorem,
    at_most,
    exists_constant,
    increasing,
    tends_to,
)
from theorysim.numerics.flow import gradient_flow, statement_options
from theorysim.numerics.products import dot
from theorysim.systems.balanced_flow import balanced_flow
from theorysim.theorems.overtraining._pretraining import (
    EQUAL,
    decomposition,
    identity_start,
    pretraining_loss,
    pretraining_space,
)

TAUS = (12.0, 18.0, 27.0)
TIMES = 96

# Weights start at exp(-27), and distances of that order are compared with it: at a relative
# tolerance of 1e-10 their error was half of the constants.
RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-12, 1e-17

# In the ladder the asymptotics are in sight if no feature starts with a smaller share of exp(-tau)
# in a hidden direction of its own.
VISIBLE_START = 0.3


def _limited(x: Instance):
    """The instance with its singular values beyond the rank set to zero."""
    return x.replace(sigma=jnp.where(jnp.arange(x.d) < x.rank, x.sigma, 0))


def _following(x: Instance):
    """sigma_{n+1}, zero behind the rank."""
    return jnp.append(_limited(x).sigma[1:], 0).astype(x.sigma.dtype)


def _stage_times(x: Instance):
    """t_n = 3 tau / (2 (2 sigma_n + sigma_{n+1})) for n <= R; later entries only continue them."""
    times = 3 * x.tau / (2 * (2 * x.sigma + _following(x)))
    stages = jnp.arange(x.d)
    return jnp.where(stages < x.rank, times, times[x.rank - 1] * (2 + stages - x.rank))


def _rate(x: Instance):
    """C at these times: the least 2 (sigma_n - sigma_{n+1}) / (2 sigma_n + sigma_{n+1}), n <= R."""
    rates = 2 * (x.sigma - _following(x)) / (2 * x.sigma + _following(x))
    return jnp.min(rates, where=jnp.arange(x.d) < x.rank, initial=1.0)


def _hidden_basis(x: Instance):
    """Gram-Schmidt of the columns of (U + V) / 2: the basis, and what is left of each column."""
    left, _, right = decomposition(x)
    basis, residual = jnp.linalg.qr((left + right) / 2)
    sizes = jnp.diagonal(residual)
    return basis * jnp.where(sizes < 0, -1, 1), jnp.abs(sizes)


def _visible(x: Instance):
    """Margin: no feature up to the rank nearly depends on faster ones in the start."""
    sizes = _hidden_basis(x)[1]
    return jnp.min(sizes, where=jnp.arange(x.d) < x.rank, initial=1.0) - VISIBLE_START


def _out_of_reach(x: Instance):
    """Margin: A^pre has full rank and a negative determinant."""
    left, _, right = decomposition(x)
    negative = -jnp.linalg.det(dot(left.T, right))
    return jnp.where(x.rank == x.d, negative, -1)


def simulate(x: Instance, key):
    """U^T W_1(t_n) and (W_2(t_n) V)^T from the identity; U^T theta(t) V from Gaussian weights.

    Both flows run in one call; the first passes the stage times at the end of its own.
    """
    gaussian = jax.tree.map(lambda w: jnp.exp(-x.tau) * w, (x.first, x.second))
    starts = jax.tree.map(lambda *w: jnp.stack(w), identity_start(x), gaussian)
    stage_times = _stage_times(x)
    share = jnp.linspace(0, 1, TIMES - x.d + 1, dtype=x.tau.dtype)
    until = (1.2 * x.tau + 5) / x.sigma[-1]
    grid = jnp.append(0, jnp.geomspace(0.02, 1, TIMES - 1)).astype(x.tau.dtype)
    times = jnp.stack([jnp.append(stage_times[0] * share, stage_times[1:]), until * grid])
    spectra = jnp.stack([_limited(x).sigma, x.sigma])

    def flow(start, sigma, times):
        loss = pretraining_loss(x.replace(sigma=sigma))
        tolerances = {"rtol": RELATIVE_TOLERANCE, "atol": ABSOLUTE_TOLERANCE}
        return gradient_flow(
            loss, start, times, **tolerances, **statement_options(x.tolerance_scale)
        )

    first, second = jax.vmap(flow)(starts, spectra, times)
    left, _, right = decomposition(x)
    return {
        "W_1": dot(left.T, first[0, -x.d :]),
        "W_2": dot(right.T, jnp.swapaxes(second[0, -x.d :], -1, -2)),
        "product": dot(left.T, first[1], second[1], right),
    }


def _stages(x: Instance, values):
    """diag(values) with the first n entries kept, for n = 1..d."""
    return jax.vmap(jnp.diag)(jnp.tril(jnp.ones((x.d, x.d), values.dtype)) * values)


def _predict(basis: Callable) -> Callable:
    """Ideal factors in singular coordinates, a basis of the hidden space, the exact product."""

    def predict(x: Instance):
        limited = _limited(x)
        left, sigma, right = decomposition(limited)
        exact = balanced_flow(*identity_start(x), decomposition(limited), _stage_times(x))
        return {
            "ideal": _stages(x, jnp.sqrt(sigma)),
            "basis": basis(x),
            "rate": _rate(x),
            "product": dot(left.T, exact.product, right),
        }

    return predict


def _identity(x: Instance):
    return jnp.eye(x.d, dtype=x.sigma.dtype)


def _own_basis(x: Instance):
    return _hidden_basis(x)[0]


def _norm(matrices):
    return jnp.linalg.norm(matrices, axis=(-2, -1))


def _distance(layer: str):
    """|W_j(t_n) - ideal|_F in the basis of the hidden space, with the best signs, per stage."""

    def distance(r: Run):
        weights = dot(r.sim[layer], r.theory["basis"])
        signs = jnp.sign(jnp.diagonal(weights, axis1=-2, axis2=-1))
        return _norm(signs[..., None] * weights - r.theory["ideal"])

    return distance


def _product_distance(r: Run):
    """|theta(t_n) - U Sigma_{:n} V^T|_F of the exact product, per stage."""
    return _norm(r.theory["product"] - r.theory["ideal"] ** 2)


def _least_distance(r: Run):
    """The least distance to U Sigma_{:n} V^T along the flow from Gaussian weights, per stage."""
    path = r.sim["product"][..., None, :, :]
    return jnp.min(_norm(path - _stages(r.x, r.x.sigma)), axis=-2)


def _within_rank(r: Run):
    return r.x.rank - 1 - jnp.arange(r.x.d)


def _some_rate(name: str, distance: Callable):
    """There is a C with distance <= exp(-C tau): 1 / C bounds tau / (-log distance)."""

    def inverse_rate(r: Run):
        size = distance(r)
        below = size < 1
        return jnp.where(below, r.x.tau / -jnp.log(jnp.where(below, size, 0.5)), jnp.inf)

    def unit(r: Run):
        return jnp.ones_like(distance(r))

    return exists_constant(name, inverse_rate, unit, over={"tau": TAUS}, where=_within_rank)


def _this_rate(name: str, distance: Callable):
    """distance <= constant exp(-C tau) with the C of the prediction."""

    def decay(r: Run):
        return jnp.exp(-r.theory["rate"] * r.x.tau)

    return exists_constant(name, distance, decay, over={"tau": TAUS}, where=_within_rank)


FACTORS = (_some_rate("W_1", _distance("W_1")), _some_rate("W_2", _distance("W_2")))

CORRECTED = (
    *FACTORS,
    increasing("t_1 < ... < t_d", lambda r: _stage_times(r.x), strict=True),
    _this_rate("W_1, at this rate", _distance("W_1")),
    _this_rate("W_2, at this rate", _distance("W_2")),
    _this_rate("product, at this rate", _product_distance),
)

theorem = Theorem(
    space=pretraining_space(
        rank=Integer(1, "d"),
        tau=Real(10, 27),
        first=Gaussian("d", "d"),
        second=Gaussian("d", "d"),
    ),
    simulate=simulate,
    predict=_predict(_identity),
    claims=(
        tends_to(
            "theta(t_n)",
            _least_distance,
            lambda r: 0.0,
            over={"tau": TAUS},
        ),
    ),
    printed="main text",
    integrates=True,
    instances=24,
    mutant_instances=16,
    readings=(
        Reading("appendix", Printed("", ""), claims=FACTORS),
        Reading(
            "appendix, U = V = I",
            Printed("", ""),
            hypotheses={"A^pre is diagonal": lambda x: EQUAL - 0.5 - x.family},
            claims=FACTORS,
        ),
        Reading(
            "appendix, the product where det A^pre < 0",
            Printed("", ""),
            hypotheses={"det A^pre < 0": _out_of_reach},
            claims=(
                at_most(
                    "theta(t_d)", lambda r: _product_distance(r)[-1], lambda r: r.x.sigma[-1] / 2
                ),
            ),
            note="det theta(t) never changes its sign: the last feature stays away for ever",
        ),
        Reading(
            "corrected",
            Corrected(""),
            predict=_predict(_own_basis),
            hypotheses={"U + V is not nearly singular": _visible},
            claims=CORRECTED,
            primary=True,
            note="W_1 tends to U Sigma_{:n}^(1/2) Q^T and W_2 to Q Sigma_{:n}^(1/2) V^T, Q from "
            "Gram-Schmidt on the columns of U + V, which must be independent",
        ),
    ),
    mutants=(
        Mutant(
            "the slowest feature comes first",
            predict=_predict(lambda x: _own_basis(x)[:, ::-1]),
            claims=FACTORS,
        ),
    ),
    aliases=("theorem-a.1",),
)
