"""Online SGD on the sphere keeps its constraints, and its overlap is a Markov chain of its own.

Eq. 4 of Dayi and Chen (2024): u+ = proj(u - eta (I - u u^T) P grad L(u; x)), P the projection off
the features, x a fresh Gaussian sample. Not in print: by rotation invariance m = <u^, u> alone is a
Markov chain, whose step costs O(k) or O(k^2) whatever d is. Its moments agree with those of the
run in d dimensions that differentiates the sample's loss; whole laws are compared in the tests of
the system.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Gaussian, Instance, Mutant, Real, Run, Theorem, equal
from theorysim.systems import rank_one
from theorysim.systems import rank_one_chain as chain
from theorysim.theorems.low_rank._problem import activation, learner, problem, problem_space, truth

STEPS, EVERY = 12, 4
FEW = 4  # keys on which the constraints are checked


def _simulate(shift: int):
    """Overlaps of a run in d dimensions and of the chain for d + shift, on other samples."""

    def simulate(x: Instance, key):
        given, sigma = problem(x), activation(x).value
        rate = x.rate / x.d
        start = learner(x, x.start)
        path, _ = rank_one.train(given, sigma, truth(x), start, rate, STEPS, key, every=EVERY)
        small = chain.reduce_features(given)
        begin = chain.begin(small, x.start)
        states = chain.run(small, sigma, begin, x.d + shift, rate, STEPS, key, every=EVERY)
        return {
            "run": path @ truth(x),
            "chain": states.overlap,
            "length": jnp.linalg.norm(path, axis=-1),
            "inside": path @ given.features.T,
        }

    return simulate


def _moments(which: str):
    def both(r: Run):
        m = r.sim[which][:, 1:]
        return r.mean(jnp.stack([m, m**2], axis=1))

    return both


theorem = Theorem(
    space=problem_space(
        start=Real(-0.9, 0.9), rate=Real(0.2, 2, log=True), elsewhere=Gaussian("d")
    ),
    simulate=_simulate(0),
    claims=(
        equal("unit directions", lambda r: r.sim["length"][:FEW], lambda r: 1.0),
        equal("orthogonal to the features", lambda r: 1 + r.sim["inside"][:FEW], lambda r: 1.0),
        equal("moments of run and chain", _moments("run"), _moments("chain")),
    ),
    mutants=(
        Mutant(
            "a chain of three times the dimension, lengths 2",
            simulate=_simulate(12),
            claims=(
                equal("unit directions", lambda r: r.sim["length"][:FEW], lambda r: 2.0),
                equal(
                    "orthogonal to the features", lambda r: 1 + r.sim["inside"][:FEW], lambda r: 2.0
                ),
                equal("moments of run and chain", _moments("run"), _moments("chain")),
            ),
        ),
    ),
    keys=512,
    instances=8,
    mutant_instances=8,
)
