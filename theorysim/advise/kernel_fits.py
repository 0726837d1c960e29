"""A linearised model tuned to its end with a pull: squared loss or softmax cross-entropy.

minimise sum of losses + sigma/2 ||u||^2 over u, where outputs are f0 + J u; the squared loss counts
half here, so that sigma is lambda/2 for ||f - y||^2 + lambda/2 ||u||^2. Where all examples are
landmarks, u = J^T c and the Gram K = J J^T make this exact, but for directions below the
rounding of single precision, which move nothing. With more examples than landmarks u is
J^T c of the landmarks alone (the method of Nystrom: Williams and Seeger 2001), and learns from
all of them. Either way u is J^T R w with R the inverse root of the landmarks' Gram, which may be
singular, and |u| = |w|: a linear model in w, whose features are K R. The loss of an example that
was left out comes from the same features: exact for the squared loss, after one Newton step for
the cross-entropy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from theorysim.advise.problem import Loss, Rows, losses_of, slopes_of

Gram = Float[np.ndarray, "mk mk"]
Tall = Float[np.ndarray, "nk mk"]
Features = Float[np.ndarray, "n k r"]

PULLS = tuple(10.0**power for power in (0, -1, -2, -3, -4, -5))
"""values of sigma that are tried, in units of the mean eigenvalue of the landmarks' Gram"""

NEWTON_STEPS = 40
HALVINGS = 20
SETTLED = 1e-7
"""Newton's method ends where a step changes the outputs by less than this share of them"""


class Fit(NamedTuple):
    """The tuned linearised model: the kernel from any input to the landmarks, times c, is added."""

    sigma: float
    coefficients: Float[np.ndarray, "m k"]
    """c, of the landmarks"""
    change: Float[np.ndarray, "m k"]
    """of the outputs on the landmarks"""
    left_out: Rows
    """outputs for every example by the model that was tuned without it"""


def fits(gram: Gram, tall: Tall, start: Rows, targets: Rows, loss: Loss) -> list[Fit]:
    """One fit for each of `PULLS`, the strongest pull first.

    Args:
        gram: kernel of the landmarks.
        tall: kernel of all examples that are learnt from with the landmarks; `gram` itself where
            these are all.
        start: untuned outputs for all examples.
        targets: theirs.
        loss: of one example.
    """
    unit = float(np.trace(gram)) / len(gram) or 1.0  # nothing is moved by a Gram of zeros
    root = _inverse_root(gram)
    features = (tall @ root).reshape(*start.shape, root.shape[1])
    sigmas = [pull * unit for pull in PULLS]
    if loss == "squared":
        found = _squared(features, start, targets, sigmas)
    else:
        found, weights = [], np.zeros(root.shape[1])
        for sigma in sigmas:
            weights, left_out = cross_entropy(features, start, targets, sigma, weights)
            found.append((weights, left_out))
    landmarks = -1, start.shape[1]
    fitted = []
    for sigma, (weights, left_out) in zip(sigmas, found, strict=True):
        coefficients = root @ weights
        change = (gram @ coefficients).reshape(landmarks)
        fitted.append(Fit(sigma, coefficients.reshape(landmarks), change, left_out))
    return fitted


def best(candidates: list[Fit], targets: Rows, loss: Loss) -> Fit:
    """The fit of least leave-one-out risk."""
    return min(candidates, key=lambda fit: left_out_risk(fit, targets, loss))


def left_out_risk(fit: Fit, targets: Rows, loss: Loss) -> float:
    """The mean loss of examples that were left out."""
    return float(losses_of(fit.left_out, targets, loss).mean())


def _inverse_root(gram: Gram) -> Float[np.ndarray, "mk r"]:
    """R with R^T K R = I on the r directions that J^T moves.

    What is zero but for the rounding of single precision is zero.
    """
    values, basis = np.linalg.eigh(gram)
    moves = values > len(gram) * np.finfo(np.float32).eps * values[-1]
    return basis[:, moves] / np.sqrt(values[moves])


def _squared(
    features: Features, start: Rows, targets: Rows, sigmas: list[float]
) -> list[tuple[np.ndarray, Rows]]:
    """Weights and left-out outputs for every pull."""
    flat = _flat(features)
    values, basis = np.linalg.eigh(flat.T @ flat)
    turned = (flat @ basis).reshape(features.shape)
    seen = _flat(turned).T @ np.ravel(targets - start)
    found = []
    for sigma in sigmas:
        shrunk = seen / (values + sigma)
        errors = targets - start - turned @ shrunk
        # An example's own share in its fit; without it the error grows by the inverse of the rest.
        own = np.matmul(turned / (values + sigma), turned.transpose(0, 2, 1))
        left = np.linalg.solve(np.eye(start.shape[1]) - own, errors[..., None])[..., 0]
        found.append((basis @ shrunk, targets - left))
    return found


def cross_entropy(
    features: Features, start: Rows, targets: Rows, sigma: float, warm: np.ndarray
) -> tuple[np.ndarray, Rows]:
    """Weights by Newton's method from `warm`, and outputs after one step without each example."""
    flat = _flat(features)
    weights, change = warm, features @ warm

    def objective(weights: np.ndarray, change: Rows) -> float:
        pulled = sigma / 2 * float(weights @ weights)
        return float(losses_of(start + change, targets, "cross-entropy").sum()) + pulled

    least = objective(weights, change)
    for _ in range(NEWTON_STEPS):
        slopes = slopes_of(start + change, targets, "cross-entropy")
        pull = flat.T @ slopes.ravel() + sigma * weights
        step = -np.linalg.solve(_curvature(features, slopes + targets, sigma), pull)
        moved, share = features @ step, 1.0
        for _ in range(HALVINGS):
            tried = objective(weights + share * step, change + share * moved)
            if tried <= least:
                break
            share /= 2
        else:
            break
        weights, change, least = weights + share * step, change + share * moved, tried
        if np.abs(share * moved).max() <= SETTLED * (1 + np.abs(change).max()):
            break
    outputs = start + change
    return weights, outputs + _correction(features, outputs, targets, sigma)


def _flat(features: Features) -> Float[np.ndarray, "nk r"]:
    n, k, r = features.shape
    return features.reshape(n * k, r)


def _curvature(features: Features, chances: Rows, sigma: float) -> Float[np.ndarray, "r r"]:
    """Second derivatives of the objective: features' W features + sigma I, W = diag(p) - p p'."""
    flat, expected = _flat(features), np.einsum("ia,iaz->iz", chances, features)
    spread = flat.T @ (flat * chances.ravel()[:, None]) - expected.T @ expected
    return spread + sigma * np.eye(flat.shape[1])


def _correction(features: Features, outputs: Rows, targets: Rows, sigma: float) -> Rows:
    """What leaving an example out changes at its own output: A (I - W A)^(-1) (p - y).

    A is the example's own block of features (second derivatives)^(-1) features'.
    """
    slopes = slopes_of(outputs, targets, "cross-entropy")
    chances = slopes + targets
    inverse = np.linalg.inv(_curvature(features, chances, sigma))
    own = np.matmul(features @ inverse, features.transpose(0, 2, 1))
    bent = np.einsum("ia,ab->iab", chances, np.eye(chances.shape[1]))
    bent -= np.einsum("ia,ib->iab", chances, chances)
    inner = np.eye(chances.shape[1]) - bent @ own
    return np.einsum("iab,ib->ia", own, np.linalg.solve(inner, slopes[..., None])[..., 0])
