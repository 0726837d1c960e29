"""How often the adversary finds violations of known share and shape, and spares what is true.

    python -m validation.adversary_battery [--seeds 5] [--only TEXT]

prints, for every small statement, the share of the seeds at which it was refuted, the median of the
evaluations that it took and the seconds of an attack. Each false statement names the share of the
space (drawn plainly) that violates it; the last ones are true and must never fall.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from theorysim.claims import (
    Claim,
    Integer,
    Mutant,
    Real,
    Run,
    Size,
    Space,
    Theorem,
    at_least,
    at_most,
    equal,
)
from theorysim.engine.falsify.falsify import DEFAULT_BUDGET, falsify
from theorysim.numerics.descent import iterate

SEVEN = np.array([0.31, 0.83, 0.12, 0.57, 0.44, 0.91, 0.26])


@dataclass(frozen=True)
class Case:
    """A statement, why it is hard, and which share of plain draws violates it (0: it is true).

    `budget` is that of the attack.
    """

    name: str
    share: float
    statement: Theorem
    budget: int = DEFAULT_BUDGET


def _statement(claim: Claim, space: Space, simulate: Callable | None = None) -> Theorem:
    return Theorem(
        space=space,
        simulate=simulate or (lambda x, key: {}),
        predict=lambda x: {},
        claims=(claim,),
        mutants=(Mutant("reversed", claims=(claim.against(lambda r: jnp.asarray(jnp.nan)),)),),
        id=f"battery/{claim.name}",
        title=claim.name,
    )


def _unit(count: int) -> Space:
    return Space(v=Real(0, 1, shape=count))


def _in_box(v: Any, share: float) -> Any:
    """Whether a point lies in a cube of this share, with walls as steep as can be."""
    count = v.shape[-1]
    return jnp.max(jnp.abs(v - SEVEN[:count])) < 0.5 * share ** (1 / count)


def flat_box(count: int, share: float) -> Case:
    """Nothing outside of a box tells where it lies: only plain draws find it."""
    claim = at_most("flat box", lambda r: jnp.where(_in_box(r.x.v, share), 1.1, 0.5), _one)
    budget = max(DEFAULT_BUDGET, int(4 / share))
    return Case(f"flat box in {count} coordinates", share, _statement(claim, _unit(count)), budget)


def decoyed_box(share: float) -> Case:
    """A smooth hill that ends below the bound lures away from a box."""

    def lhs(r: Run) -> Any:
        hill = 0.99 - jnp.sum((r.x.v - 0.8) ** 2)
        return jnp.where(_in_box(r.x.v, share), 1.1, hill)

    claim = at_most("decoy", lhs, _one)
    return Case("box beside a hill", share, _statement(claim, _unit(3)), int(4 / share))


def sloped_box(count: int, share: float) -> Case:
    """The slack falls towards the box, as that of most formulas does."""
    half = 0.5 * share ** (1 / count)

    def lhs(r: Run) -> Any:
        return 1 + half - jnp.max(jnp.abs(r.x.v - SEVEN[:count]))

    name = f"sloped box in {count} coordinates"
    return Case(name, share, _statement(at_most("slope", lhs, _one), _unit(count)))


def many_basins(bound: float = 0.97) -> Case:
    """Seven coordinates, 3^7 local maxima; only those next to the highest exceed the bound."""

    def lhs(r: Run) -> Any:
        z = r.x.v - SEVEN
        return 1 - jnp.mean(0.5 * z**2 + 0.1 * (1 - jnp.cos(6 * jnp.pi * z)))

    share = 1e-7 if bound < 1 else 0.0
    claim = at_most("basins", lhs, lambda r: bound)
    return Case(f"many basins below {bound:g}", share, _statement(claim, _unit(7)))


def deceptive_basins() -> Case:
    """A broad hill that ends at 0.93 of a bound, a narrow one that exceeds it elsewhere."""

    def lhs(r: Run) -> Any:
        v = r.x.v
        broad = 0.93 - 0.2 * jnp.sum((v - 0.2) ** 2)
        narrow = 1.01 - 2.5 * jnp.sum((v - 0.75) ** 2)
        return jnp.maximum(broad, narrow)

    return Case("deceptive basins", 1e-7, _statement(at_most("deceit", lhs, _one), _unit(7)))


def valley() -> Case:
    """A curved ridge, a thousand times narrower than long."""

    def lhs(r: Run) -> Any:
        z = 4 * r.x.v - 2
        rise = 100 * (z[1:] - z[:-1] ** 2) ** 2 + (1 - z[:-1]) ** 2
        return 1 - jnp.sum(rise)

    bent = at_most("valley", lhs, lambda r: 0.999)
    return Case("curved ridge", 1e-7, _statement(bent, _unit(4)))


def contraction(excess: float) -> Case:
    """Descent contracts by 1 - mu a step and by less, but at some curvatures by more.

    Where the bound tends to 0 the distance is rounding, a violation by any factor.
    """

    def simulate(x: Any, key: Any) -> Any:
        curvature = x.mu + (1 - x.mu) * x.h
        basin = jnp.exp(-jnp.sum(((x.h - SEVEN[:3]) / 0.1) ** 2))
        off = 0.99 + (0.01 + excess) * basin
        rate = off * (1 - x.mu) / (1 - curvature)
        path = iterate(lambda z: z - (1 - rate * (1 - curvature)) * (z - x.target), 1 + x.target, 9)
        return {"distance": jnp.linalg.norm(path[-1] - x.target)}

    def rhs(r: Run) -> Any:
        return (1 - r.x.mu) ** 9 * jnp.sqrt(3.0)

    claim = at_most("contraction", lambda r: r.sim["distance"], rhs)
    space = Space(mu=Real(0.5, 1), h=Real(0.01, 0.99, shape=3), target=Real(-1, 1, shape=3))
    share = 1e-3 if excess else 0.0
    return Case(
        f"contraction, off by {excess:g} in a basin", share, _statement(claim, space, simulate)
    )


def corner(excess: float) -> Case:
    """Attained at a corner alone, and exceeded there by little."""
    claim = at_most("corner", lambda r: jnp.prod(1 + r.x.v), lambda r: 8.0 - excess)
    return Case(f"corner by {excess:g}", excess**3, _statement(claim, _unit(3)))


def strict_edge() -> Case:
    """a (1 - b) > 0 is an equality on two edges."""
    claim = at_least("edge", lambda r: r.x.a * (1 - r.x.b), _nought, strict=True)
    space = Space(a=Real(0, 1), b=Real(0, 1))
    return Case("strict, equal on an edge", 1e-300, _statement(claim, space))


def strict_diagonal() -> Case:
    """(a - b)^2 > 0 is an equality where a = b."""
    claim = at_least("diagonal", lambda r: (r.x.a - r.x.b) ** 2, _nought, strict=True)
    space = Space(a=Real(0.1, 1), b=Real(0.3, 7))
    return Case("strict, equal where a = b", 1e-300, _statement(claim, space))


def large_sizes() -> Case:
    """False for n >= 512 only."""
    claim = at_most("size", lambda r: jnp.sum(r.x.v), lambda r: 511.5)
    space = Space(n=Size(4, high=1024), v=Real(0.99, 1, shape="n"))
    return Case("false for n >= 512", 1e-300, _statement(claim, space))


def integer_edge() -> Case:
    """False at the integer below the last one, for half of the other coordinate."""

    def lhs(r: Run) -> Any:
        return jnp.where((r.x.k == 99_999) & (r.x.a > 0.5), 1.1, 0.5)

    space = Space(k=Integer(1, 100_000), a=Real(0, 1))
    return Case("integer beside its end", 5e-6, _statement(at_most("k", lhs, _one), space))


def unlucky_key() -> Case:
    """Fails for one key in a hundred."""
    claim = at_most("key", lambda r: r.sim["u"] + 0 * r.x.a, lambda r: 0.99)
    simulate = lambda x, key: {"u": jax.random.uniform(key)}  # noqa: E731
    return Case("one key in a hundred", 1e-2, _statement(claim, Space(a=Real(0, 1)), simulate))


def narrow_inequality_of_sums(excess: float) -> Case:
    """An equality that errs by rounding everywhere, and by more in a box."""

    def rhs(r: Run) -> Any:
        return jnp.sum(r.x.v[::-1]) * (1 + jnp.where(_in_box(r.x.v, 1e-3), excess, 0))

    claim = equal("sums", lambda r: jnp.sum(r.x.v), rhs)
    share = 1e-3 if excess else 0.0
    return Case(f"equality, off by {excess:g} in a box", share, _statement(claim, _unit(4)))


def absorbed() -> Case:
    """True: (b + w) - b <= 2 w, but a sum absorbs w."""
    claim = at_most("absorbed", lambda r: (r.x.b + r.x.w) - r.x.b, lambda r: 2 * r.x.w)
    space = Space(b=Real(1, 2), w=Real(1e-18, 1e-3, log=True))
    return Case("absorbed addend", 0.0, _statement(claim, space))


def strict_but_small() -> Case:
    """True: exp(w) > 1, though rounding makes them equal."""
    claim = at_least("small", lambda r: jnp.exp(r.x.w), _one, strict=True)
    space = Space(w=Real(1e-30, 1, log=True))
    return Case("strict beyond rounding", 0.0, _statement(claim, space))


def _one(run: Run) -> Any:
    return jnp.asarray(1.0)


def _nought(run: Run) -> Any:
    return jnp.asarray(0.0)


CASES = (
    flat_box(3, 1e-3),
    flat_box(3, 1e-4),
    flat_box(5, 1e-5),
    decoyed_box(1e-4),
    sloped_box(3, 1e-5),
    sloped_box(5, 1e-7),
    many_basins(),
    deceptive_basins(),
    valley(),
    contraction(0.01),
    contraction(1e-3),
    corner(1e-6),
    strict_edge(),
    strict_diagonal(),
    large_sizes(),
    integer_edge(),
    unlucky_key(),
    narrow_inequality_of_sums(1e-6),
    many_basins(1.0),
    corner(0.0),
    contraction(0.0),
    absorbed(),
    strict_but_small(),
    narrow_inequality_of_sums(0.0),
)


def line(case: Case, seeds: int) -> str:
    """Share of the seeds at which a case was refuted, median evaluations of those, and seconds."""
    spent, start = [], time.perf_counter()
    for seed in range(seeds):
        report = falsify(case.statement, reading="as printed", budget=case.budget, seed=seed)
        (attack,) = report.attacks
        if attack.refuted:
            spent.append(attack.evaluations)
    seconds = (time.perf_counter() - start) / seeds
    median = f"{np.median(spent):,.0f}" if spent else ""
    share = f"{case.share:.0e}" if case.share else "true"
    tried = f"{case.name:40} {share:>7} {case.budget:8,}"
    return f"{tried} {len(spent) / seeds:6.0%} {median:>9} {seconds:7.2f} s"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default="", help="only names that contain this text")
    options = parser.parse_args()
    for case in CASES:
        if options.only in case.name:
            print(line(case, options.seeds), flush=True)
