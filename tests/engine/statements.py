"""Small statements whose truth is known, for testing the engine."""

import jax
import jax.numpy as jnp
import numpy as np

from theorysim.claims import (
    Claim,
    Mutant,
    Real,
    Size,
    Space,
    Theorem,
    Verdict,
    equal,
    with_probability,
)
from theorysim.claims.evidence import Edge
from theorysim.engine.falsify.falsify import falsify
from theorysim.engine.falsify.report import Attack
from theorysim.engine.verify.verify import verify

SPACE = Space(n=Size(4, high=512), a=Real(1, 2), b=Real(1, 2))

BUDGET = 6000
"""evaluations of an attack that finds what is to be found here"""


def theorem(
    *claims: Claim, mutant=None, simulate=None, predict=None, space=None, **more
) -> Theorem:
    """A theorem about one number `a` of [1, 2], with whatever claims are to be tested."""
    return Theorem(
        space=space or SPACE,
        simulate=simulate or (lambda x, key: {"a": x.a}),
        predict=predict or (lambda x: {"a": x.a}),
        claims=claims,
        mutants=(mutant or Mutant("false", predict=lambda x: {"a": 2 * x.a}),),
        id="tests/statement",
        title="a statement of known truth",
        **more,
    )


def decay(offset: float = 0.0, rate: float = 0.5, steps: int = 40) -> Theorem:
    """The end of a geometric path equals its limit `a`, up to a planted relative offset."""
    return theorem(
        equal("limit", lambda r: r.limit(r.sim["path"]), lambda r: r.theory["a"]),
        simulate=lambda x, key: {
            "path": x.a * (1 + offset) * (1 - rate ** jnp.arange(steps, dtype=x.a.dtype))
        },
    )


def noisy_mean(offset: float = 0.0, keys: int = 256) -> Theorem:
    """The mean of normal numbers around `a` is `a`, up to a planted offset in standard units."""
    return theorem(
        equal("mean", lambda r: r.mean(r.sim["samples"]), lambda r: r.theory["a"]),
        simulate=lambda x, key: {"samples": x.a + offset + 0.1 * jax.random.normal(key)},
        keys=keys,
    )


def attack(statement: Theorem, budget: int = BUDGET, **options) -> Attack:
    """The attack on the only claim of the only reading."""
    (found,) = falsify(statement, budget=budget, **options).attacks
    return found


def about(field, claim, simulate=lambda x, key: x.x, **more):
    """A statement about one number."""
    return Theorem(
        space=Space(x=field),
        simulate=simulate,
        predict=lambda x: x.x,
        claims=(claim,),
        mutants=(),
        id="tests/statement",
        title="a statement of known truth",
        **more,
    )


def sides(kind, lhs, rhs):
    return kind("claim", lambda r: lhs(r.x.x), lambda r: rhs(r.x.x))


def absorbed(room: float) -> Claim:
    """A probability of numbers near 40, where 1 - sigmoid is 0 in double precision: missed by
    `room`, and by rounding alone where that is 0."""
    return with_probability(
        "claim",
        lambda r: room + jnp.exp(-r.sim) / 2,
        lambda r: 1 - jax.nn.sigmoid(r.sim),
        at_least=lambda r: 0.9,
    )


def no_edge(rows: int) -> Edge:
    """What is measured of so many instances without a condition."""
    return Edge(np.full(rows, np.inf), np.zeros(rows), np.zeros(rows))


def judged(statement, **options):
    return verify(statement, **options).readings[0].claims[0]


def verdict_of(statement, instances: int = 32, **options) -> Verdict:
    return verify(statement, instances=instances, **options).verdict


def verdicts_of(statement, instances: int = 32) -> list[Verdict]:
    """Of all claims, which one program measures."""
    report = verify(statement, instances=instances)
    return [claim.verdict for claim in report.readings[0].claims]
