"""Runs of the reduced chain, which has the law of online SGD in d dimensions (`equation-4`)."""

from jaxtyping import PRNGKeyArray

from theorysim import claims
from theorysim.systems import rank_one_chain as chain
from theorysim.theorems.low_rank._problem import activation, problem, problem_space


def chain_space(**fields: claims.Field | claims.Size) -> claims.Space:
    """Problems with a start, a learning rate and a traced number of dimensions from 8 to 10^4."""
    given: dict[str, claims.Field | claims.Size] = {
        "d": claims.Size(8, low=2, high=64),
        "start": claims.Real(-1, 1),
        "rate": claims.Real(1e-4, 0.3, log=True),
        "dimension": claims.Real(8, 1e4, log=True),
    }
    return problem_space(**{**given, **fields})


def room(x: claims.Instance):
    """Margin of d >= k + 2: u and u^ need two directions outside the rows."""
    return x.dimension - x.k - 2


def trace_chain(x: claims.Instance, key: PRNGKeyArray, steps: int) -> chain.Step:
    """Every step of a run: states before it, |gradient|^2 and <gradient, u>."""
    given = chain.reduce_features(problem(x))
    start = chain.begin(given, x.start)
    return chain.trace(given, activation(x).value, start, x.dimension, x.rate, steps, key)
