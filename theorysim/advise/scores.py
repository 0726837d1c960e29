"""Scores of what might be tuned: what theory promises of every candidate, and what is trivial.

Kernels are K of the groups that are tuned anyway, S of those that a candidate adds. Theorems are
those of Afzal et al., "Linearization Explains Fine-Tuning in Large Language Models", NeurIPS 2025.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from theorysim.advise import kernel_fits
from theorysim.advise.kernel_fits import Fit
from theorysim.advise.kernels import Kernels
from theorysim.advise.problem import Problem, losses_of, slopes_of
from theorysim.advise.subject import Params

SCORES: dict[str, tuple[str, int]] = {
    "linearised": ("held-out risk of the linearised model", 1),
    "left_out": ("leave-one-out risk from the same Gram", 1),
    "one_step": ("held-out risk of the real model after one Gauss-Newton step", 1),
    "eta": ("eta = |K^(-1/2) S K^(-1/2)| (Theorem 6)", -1),
    "condition": ("condition number of K + S + sigma I", 1),
    "bound": ("upper bound of the ridge's training error (Theorem 5)", 1),
    "fit": ("training error of the ridge, after / before (Theorem 7)", 1),
    "movement": ("distance that the linearised parameters move", 1),
    "alignment": ("alignment of the kernel with the targets", -1),
    "depth": ("trivial: nearest to the outputs first", -1),
    "parameters": ("trivial: most parameters first", -1),
}
"""Names, what they are, and 1 where the smallest value is promising, -1 where the largest is"""

TRIVIAL = ("depth", "parameters")
NEEDS_BASE = ("eta",)


class Window(NamedTuple):
    """What Theorems 6 and 7 need and say of added groups, in the ridge of strength `sigma`."""

    sigma: float
    invertible: bool
    """K^(-1/2) is there (Theorem 6)"""
    exact_eta: float
    """with K itself; NaN where K is singular"""
    lower: float
    upper: float
    """Theorem 7 on the root of the ratio of training errors; NaN where eta > 1 or none is there"""
    ratio: float
    """what the ridge's training error changes by, its root"""
    condition_before: float
    """of K + sigma I: 1 / (kappa q) and kappa bound the ratio whatever eta is"""
    growth: float
    """q = lambda_max(K + S + sigma I) / lambda_max(K + sigma I)"""

    @property
    def met(self) -> bool:
        """Whether both theorems apply."""
        return self.invertible and self.exact_eta <= 1


class Score(NamedTuple):
    """A candidate with its scores (`SCORES`) and what they are made of."""

    groups: tuple[str, ...]
    scores: Mapping[str, float]
    held_out: Float[np.ndarray, " m"]
    """loss of every held-out input by the linearised model"""
    wrong: float
    """share of held-out inputs that the linearised model classifies wrongly; NaN without classes"""
    window: Window | None
    fit: Fit
    """the one of least leave-one-out risk"""
    fits: tuple[Fit, ...]
    """one for every pull"""
    bend: float = float("nan")
    """how far the real model's outputs are from the linearised ones at the linearised solution, as
    a share of how far these have moved; near 0 the linearisation says what tuning does"""


def score(
    problem: Problem, kernels: Kernels, base: tuple[str, ...], added: tuple[str, ...]
) -> Score:
    """All scores of tuning `base` and `added` groups."""
    groups = (*base, *added)
    gram, cross = kernels.of(groups)
    start, start_out = kernels.start, kernels.start_out
    train, out, loss = problem.train, problem.test, problem.loss
    learnt = problem.learnt.targets
    fitted = kernel_fits.fits(gram, kernels.tall_of(groups), kernels.start_all, learnt, loss)
    fit = kernel_fits.best(fitted, learnt, loss)
    told = start_out + (cross @ fit.coefficients.ravel()).reshape(start_out.shape)
    held_out = losses_of(told, out.targets, loss)
    gap = -slopes_of(start, train.targets, loss)
    window = _window(kernels.of(base)[0], kernels.of(added)[0], gap) if base and added else None
    spectrum = np.linalg.eigvalsh(gram)
    sigma = window.sigma if window else fit.sigma
    lowest, highest = max(spectrum[0], 0.0), spectrum[-1]
    order, subject = problem.subject.order, problem.subject
    movement = float(np.sqrt(max(np.sum(fit.coefficients * fit.change), 0)))
    scores = {
        "linearised": float(held_out.mean()),
        "left_out": kernel_fits.left_out_risk(fit, learnt, loss),
        "eta": _eta(kernels, base, added, sigma),
        "condition": float((highest + sigma) / (lowest + sigma)),
        "bound": float((sigma / (sigma + lowest)) ** 2 * np.sum(gap**2)),
        "fit": float(_ridge_error(gram, gap, sigma) / np.sum(gap**2)),
        "movement": movement,
        "alignment": float(gap.ravel() @ gram @ gap.ravel() / _size(gram) / np.sum(gap**2)),
        "depth": float(np.mean([order.index(g) for g in added or base])),
        "parameters": float(sum(subject.size(g) for g in groups)),
    }
    wrong = float("nan")
    if loss == "cross-entropy":
        wrong = float(np.mean(told.argmax(1) != out.targets.argmax(1)))
    return Score(groups, scores, held_out, wrong, window, fit, tuple(fitted))


def _size(gram: np.ndarray) -> float:
    """The norm of a Gram, by which it is divided: of zeros 1."""
    return float(np.linalg.norm(gram)) or 1.0


def _ridge_error(gram: np.ndarray, gap: np.ndarray, sigma: float) -> float:
    shifted = gram + sigma * np.eye(len(gram))
    return float(np.sum((sigma * np.linalg.solve(shifted, gap.ravel())) ** 2))


def pull_of(gram: np.ndarray) -> float:
    """The sigma of the theorems' ridge: a hundredth of the mean eigenvalue of K."""
    return float(np.trace(gram)) / len(gram) * 1e-2


def _eta(kernels: Kernels, base: tuple[str, ...], added: tuple[str, ...], sigma: float) -> float:
    """With K + sigma I in the place of K, which may be singular; NaN without a K."""
    if not base:
        return float("nan")
    if not added:
        return 0.0
    before, extra = kernels.of(base)[0], kernels.of(added)[0]
    return _relative_size(before + sigma * np.eye(len(before)), extra)


def _relative_size(gram: np.ndarray, added: np.ndarray) -> float:
    """The largest eigenvalue of gram^(-1/2) added gram^(-1/2), gram being invertible."""
    root = np.linalg.cholesky(gram)
    whitened = np.linalg.solve(root, np.linalg.solve(root, added).T)
    return float(np.linalg.eigvalsh((whitened + whitened.T) / 2)[-1])


def numerical_rank(gram: np.ndarray) -> int:
    """How many eigenvalues stand out: kernels come in single precision, whose rounding is none."""
    values = np.linalg.eigvalsh(gram)
    return int(np.sum(values > len(gram) * np.finfo(np.float32).eps * values[-1]))


def _window(gram: np.ndarray, added: np.ndarray, gap: np.ndarray) -> Window:
    sigma = pull_of(gram)
    before, after = np.linalg.eigvalsh(gram), np.linalg.eigvalsh(gram + added)
    invertible = numerical_rank(gram) == len(gram)
    eta = _relative_size(gram, added) if invertible else float("nan")
    kappa = (before[-1] + sigma) / (max(before[0], 0) + sigma)
    growth = float((after[-1] + sigma) / (before[-1] + sigma))
    lower = upper = float("nan")
    if invertible and eta < 1:
        loose = kappa / (1 - eta) ** 2
        lower, upper = growth / loose, loose * growth
    errors = [_ridge_error(k, gap, sigma) for k in (gram + added, gram)]
    ratio = float(np.sqrt(errors[0] / errors[1]))
    return Window(sigma, invertible, eta, lower, upper, ratio, float(kappa), growth)


def moved(problem: Problem, scored: Mapping[str, Score]) -> dict[str, Score]:
    """With the scores for which the real model is moved to linearised solutions theta_0 + J^T c.

    `bend` at the solution of least leave-one-out risk; `one_step` at the pull of least training
    loss of the real model, which is a Gauss-Newton step with its length chosen.
    """
    subject, loss = problem.subject, problem.loss
    train, out = problem.train, problem.test

    def outputs(params: Params) -> jax.Array:
        return subject.batch(params, train.inputs)

    @jax.jit
    def move(coefficients: jax.Array, shares: dict[str, float]) -> tuple[jax.Array, jax.Array]:
        start, pull = jax.vjp(outputs, subject.params)
        (step,) = pull(coefficients)
        there = {
            name: jax.tree.map(lambda a, b, name=name: a + shares[name] * b, part, step[name])
            for name, part in subject.params.items()
        }
        return outputs(there) - start, subject.batch(there, out.inputs)

    kind = jax.eval_shape(outputs, subject.params).dtype
    start = np.asarray(jax.jit(outputs)(subject.params), float)
    found = {}
    for name, one in scored.items():
        shares = {group: float(group in one.groups) for group in subject.order}
        best = (np.inf, np.inf)
        bend = float("nan")
        for fit in one.fits:
            change, told = (
                np.asarray(part, float)
                for part in move(jnp.asarray(fit.coefficients, kind), shares)
            )
            training = float(losses_of(start + change, train.targets, loss).mean())
            best = min(best, (training, float(losses_of(told, out.targets, loss).mean())))
            if fit is one.fit:
                size = np.linalg.norm(fit.change)
                bend = float(np.linalg.norm(change - fit.change) / size) if size > 0 else 0.0
        found[name] = one._replace(scores={**one.scores, "one_step": best[1]}, bend=bend)
    return found
