"""A linearised model tuned to its end with a pull: squared loss or softmax cross-entropy.

minimise sum of losses + sigma/2 ||u||^2 over u, where outputs are f0 + J u; the squared loss counts
half here, so that sigma is lambda/2 for ||f - y||^2 + lambda/2 ||u||^2. With u = J^T c and the Gram
K = J J^T this is a problem in c: solved in the eigenbasis of K for the squared loss, by Newton's
method for the cross-entropy. K may be singular. The loss of an input that was left out comes from
the same Gram: exact for the squared loss, after one Newton step for the cross-entropy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from theorysim.advise.problem import Loss, losses_of, slopes_of

Rows = Float[np.ndarray, "n k"]
Gram = Float[np.ndarray, "nk nk"]

PULLS = tuple(10.0**power for power in (0, -1, -2, -3, -4, -5))
"""values of sigma that are tried, in units of the mean eigenvalue of the Gram"""

NEWTON_STEPS = 40
HALVINGS = 20
SETTLED = 1e-7
"""Newton's method ends where a step changes the outputs by less than this share of them"""


class Fit(NamedTuple):
    """The tuned linearised model: outputs change by K coefficients."""

    sigma: float
    coefficients: Rows
    change: Rows
    """of the outputs on the training inputs"""
    left_out: Rows
    """outputs for every input by the model that was tuned without it"""


def fits(gram: Gram, start: Rows, targets: Rows, loss: Loss) -> list[Fit]:
    """One fit for each of `PULLS`, the strongest pull first."""
    unit = float(np.trace(gram)) / len(gram) or 1.0  # nothing is moved by a Gram of zeros
    sigmas = [pull * unit for pull in PULLS]
    if loss == "squared":
        return _squared(gram, start, targets, sigmas)
    found, warm = [], np.zeros_like(start)
    for sigma in sigmas:
        found.append(_cross_entropy(gram, start, targets, sigma, warm))
        warm = found[-1].coefficients
    return found


def best(candidates: list[Fit], targets: Rows, loss: Loss) -> Fit:
    """The fit of least leave-one-out risk."""
    return min(candidates, key=lambda fit: left_out_risk(fit, targets, loss))


def left_out_risk(fit: Fit, targets: Rows, loss: Loss) -> float:
    """The mean loss of inputs that were left out."""
    return float(losses_of(fit.left_out, targets, loss).mean())


def _squared(gram: Gram, start: Rows, targets: Rows, sigmas: list[float]) -> list[Fit]:
    values, basis = np.linalg.eigh(gram)
    # What is zero but for the rounding of single precision is zero: J^T moves nothing there.
    moves = values > len(gram) * np.finfo(np.float32).eps * values[-1]
    values = np.where(moves, values, 0)
    seen = basis.T @ np.ravel(targets - start)
    n, k = start.shape
    blocks = basis.reshape(n, k, -1)
    found = []
    for sigma in sigmas:
        coefficients = (basis @ (seen / (values + sigma))).reshape(n, k)
        moving = (basis @ (moves * seen / (values + sigma))).reshape(n, k)
        change = (basis @ (values * seen / (values + sigma))).reshape(n, k)
        inverse = np.einsum("iaz,z,ibz->iab", blocks, 1 / (values + sigma), blocks, optimize=True)
        # y - f of the left-out input is (inverse's block)^(-1) times the coefficients.
        errors = np.linalg.solve(inverse, coefficients[..., None])[..., 0]
        found.append(Fit(sigma, moving, change, targets - errors))
    return found


def _cross_entropy(gram: Gram, start: Rows, targets: Rows, sigma: float, warm: Rows) -> Fit:
    n, k = start.shape
    coefficients, change = warm, (gram @ warm.ravel()).reshape(n, k)

    def objective(coefficients: Rows, change: Rows) -> float:
        pulled = sigma / 2 * float(np.sum(coefficients * change))
        return float(losses_of(start + change, targets, "cross-entropy").sum()) + pulled

    best = objective(coefficients, change)
    for _ in range(NEWTON_STEPS):
        slopes = slopes_of(start + change, targets, "cross-entropy")
        curved = _curvature(slopes + targets, gram)
        right = (curved @ coefficients.ravel()) - slopes.ravel()
        wanted = np.linalg.solve(curved + sigma * np.eye(n * k), right).reshape(n, k)
        step, moved = wanted - coefficients, (gram @ wanted.ravel()).reshape(n, k) - change
        share = 1.0
        for _ in range(HALVINGS):
            tried = objective(coefficients + share * step, change + share * moved)
            if tried <= best:
                break
            share /= 2
        else:
            break
        coefficients, change, best = coefficients + share * step, change + share * moved, tried
        if np.abs(share * moved).max() <= SETTLED * (1 + np.abs(change).max()):
            break
    left_out = start + change + _correction(gram, start + change, targets, sigma)
    return Fit(sigma, coefficients, change, left_out)


def _curvature(chances: Rows, gram: Gram) -> Gram:
    """W K for the second derivatives W of the cross-entropy, block by block."""
    n, k = chances.shape
    blocks = _hessians(chances)
    return np.einsum("iab,ibz->iaz", blocks, gram.reshape(n, k, -1)).reshape(n * k, -1)


def _hessians(chances: Rows) -> np.ndarray:
    return np.einsum("ia,ab->iab", chances, np.eye(chances.shape[1])) - np.einsum(
        "ia,ib->iab", chances, chances
    )


def _correction(gram: Gram, outputs: Rows, targets: Rows, sigma: float) -> Rows:
    """What leaving an input out changes at its own output: A (I - W A)^(-1) (p - y).

    A is the input's block of K (sigma I + W K)^(-1).
    """
    n, k = outputs.shape
    slopes = slopes_of(outputs, targets, "cross-entropy")
    curved = _curvature(slopes + targets, gram)
    spread = np.linalg.solve((curved + sigma * np.eye(n * k)).T, gram).T
    own = np.einsum("iaib->iab", spread.reshape(n, k, n, k))
    inner = np.eye(k)[None] - np.einsum("iab,ibc->iac", _hessians(slopes + targets), own)
    return np.einsum("iab,ib->ia", own, np.linalg.solve(inner, slopes[..., None])[..., 0])
