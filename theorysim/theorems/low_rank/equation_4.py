"""Online SGD on the sphere keeps its constraints, and its overlap is a Markov chain of its own.

Eq. 4 of Dayi and Chen (2024): u+ = proj(u - eta (I - u u^T) P grad L(u; x)), P the projection off
the features, x a fresh Gaussian sample. Not in print: by rotation invariance m = <u^, u> alone is a
Markov chain, whose step costs O(k) or O(k^2) whatever d is. Its moments agree with those of the
run in d dimensions that differentiates the sample's loss; whole laws are compared in the tests of
the system.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import rank_one
from theorysim.systems import rank_one_chain as chain
from theorysim.theorems.low_rank._problem import activation, learner, problem, problem_space, truth

STEPS, EVERY = 12, 4
FEW = 4  # keys on which the constraints are checked


class Paths(NamedTuple):
    """Overlaps of a run in d dimensions and, on other samples, of two chains; |u_t|, <u_t, w_i>.

    The `wide` chain has a wrong number of degrees of chi^2: d, for d - k - 2.
    """

    run: Float[Array, " times"]
    chain: Float[Array, " times"]
    wide: Float[Array, " times"]
    length: Float[Array, " times"]
    inside: Float[Array, "times k"]


def _simulate(project: bool = True):
    def simulate(x: claims.Instance, key) -> Paths:
        given, sigma, u = problem(x), activation(x).value, truth(x)
        rate, start = x.rate / x.d, learner(x, x.start)
        path, _ = rank_one.train(
            given, sigma, u, start, rate, STEPS, key, every=EVERY, project=project
        )
        small = chain.reduce_features(given)
        first = chain.begin(small, x.start)

        def overlaps(dimension):
            return chain.run(small, sigma, first, dimension, rate, STEPS, key, every=EVERY).overlap

        return Paths(
            run=path @ u,
            chain=overlaps(x.d),
            wide=overlaps(x.d + x.k + 2),
            length=jnp.linalg.norm(path, axis=-1),
            inside=path @ given.features.T,
        )

    return simulate


def _moments(which: str):
    def both(r: claims.Run):
        m = getattr(r.sim, which)[:, 1:]
        return r.mean(jnp.stack([m, m**2], axis=1))

    return both


CHAIN = claims.equal("moments of run and chain", _moments("run"), _moments("chain"))

theorem = claims.Theorem(
    space=problem_space(
        start=claims.Real(-0.9, 0.9),
        rate=claims.Real(0.2, 2, log=True),
        elsewhere=claims.Gaussian("d"),
    ),
    simulate=_simulate(),
    claims=(
        claims.equal("unit directions", lambda r: r.sim.length[:FEW], lambda r: 1.0),
        claims.equal("orthogonal to the features", lambda r: 1 + r.sim.inside[:FEW], lambda r: 1.0),
    ),
    source=claims.Printed(
        "Eq. 4, Section 1.2.2", "u_(t+1) = proj(u_t - eta spherical grad L(u_t; x_t))"
    ),
    readings=(
        claims.Reading(
            "the chain",
            claims.Finding("the overlap is a Markov chain of its own"),
            claims=(CHAIN,),
            note="the overlap is a Markov chain whose step does not depend on d but in a chi^2",
        ),
    ),
    mutants=(
        claims.Mutant("gradients keep their part inside the features", simulate=_simulate(False)),
        claims.Mutant(
            "a chi^2 of d degrees, for d - k - 2",
            of=("the chain",),
            claims=(CHAIN.against(_moments("wide")),),
        ),
    ),
    survivors={"unit directions": "identity: the step divides the direction by its length"},
    keys=512,
    instances=8,
    mutant_instances=8,
)
