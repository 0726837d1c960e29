"""Perfect pretraining: with as many samples as dimensions the source is learned from any start.

Assumption 3.2 of Shachaf et al. (2021), and the text below it: "for linear and deep linear models,
perfect pretraining can be achieved when n_S >= d", here by gradient descent of one layer and by
gradient flow of three, from random starts. It is Theorem 4.1 at n = d, where P_perp = 0:
fine-tuning on d independent samples finds its teacher whatever it starts from.
"""

from collections.abc import Callable
from typing import NamedTuple

from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import linear_regression as regression
from theorysim.theorems.linear_teachers import _deep as deep
from theorysim.theorems.linear_teachers import _problem as problem

DEPTH, STEPS, EVERY = 3, 1000, 50


class Pretrained(NamedTuple):
    """Along pretraining of one layer and of three."""

    one_layer: Float[Array, "d times"]
    three_layers: deep.Trained


def _samples(x: claims.Instance) -> Float[Array, "n_source d"]:
    """X_S of n_S >= d rows and full rank.

    Raises:
        UsageError: for fewer samples than dimensions.
    """
    if x.n_source < x.d:
        raise claims.UsageError(f"n_source = {x.n_source} below d = {x.d}: n_S >= d is assumed")
    return dot(x.source_left[:, : x.d] * x.source_stretch, x.frame.T)


def _too_few(x: claims.Instance) -> Float[Array, "n_source d"]:
    """A mutant's: d - 1 rows."""
    return (x.source_stretch[:-1] * x.frame[:, :-1]).T


def _simulate(drawn: Callable = _samples) -> Callable:
    def simulate(x: claims.Instance, key) -> Pretrained:
        samples = drawn(x)
        labels = dot(samples, problem.source(x))
        rate = x.rate_share * regression.largest_learning_rate(samples)
        start = x.scale * x.start
        path = regression.train(samples, labels, start, rate, STEPS, every=EVERY)
        layers = {DEPTH: deep.random_start(x, key, DEPTH)}
        flow = deep.flows(layers, samples, labels, x.tolerance_scale)[DEPTH]
        return Pretrained(deep.settling(path), deep.observed(flow, samples, labels))

    return simulate


def _learned(name: str, path: Callable, where: Callable | None = None) -> claims.Claim:
    return claims.equal(
        name, lambda r: r.limit(path(r)), lambda r: problem.source(r.x), where=where
    )


theorem = claims.Theorem(
    space=problem.problem_space(
        n_source=claims.Size(7, low=1, high=64),
        source_left=claims.Orthogonal("n_source"),
        source_stretch=claims.Spectrum("d", 0.7, 1.4),
        start=claims.Gaussian("d"),
        scale=claims.Real(1e-3, 1, log=True),
        rate_share=claims.Real(0.1, 0.95),
    ),
    simulate=_simulate(),
    claims=(
        _learned("beta = theta_S, L = 1", lambda r: r.sim.one_layer),
        _learned(
            "beta = theta_S, L = 3",
            lambda r: r.sim.three_layers.weights,
            lambda r: r.sim.three_layers.vanished,
        ),
    ),
    source=claims.Printed(
        "Section 3, Assumption 3.2 and the text below it",
        "f(x, Theta_S) = x^T theta_S; for linear and deep linear models, perfect pretraining can "
        "be achieved when n_S >= d",
    ),
    mutants=(claims.Mutant("n_S = d - 1", simulate=_simulate(_too_few)),),
    instances=8,
    mutant_instances=8,
    integrates=True,
)
