"""How often the verdicts are right: true statements and planted errors of graded size, many seeds.

    python -m validation.verdict_rates [--seeds 200]

writes docs/records/verdict_rates.md. Each statement has a field `planted`, the size of an error
that is put into it; zero is the truth. A false alarm is a true statement that comes out violated, a
miss a planted error that comes out holding; inconclusive is neither.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

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
    at_most,
    equal,
    exists_constant,
    scales_as,
    tends_to,
    with_probability,
)
from theorysim.engine.verify.verify import verify
from theorysim.numerics.descent import iterate
from theorysim.numerics.flow import integrate

TABLE = Path(__file__).resolve().parent.parent / "docs" / "records" / "verdict_rates.md"
EPS = float(np.finfo(np.float64).eps)


def statement(
    *claims: Claim, simulate: Callable, predict: Callable, mutant: Callable, **more
) -> Theorem:
    """A statement about a number `a` with a planted error."""
    space = Space(n=Size(8, high=4096), a=Real(0.5, 2), b=Real(1, 64), planted=Real(0, 10))
    return Theorem(
        space=space,
        simulate=simulate,
        predict=predict,
        claims=claims,
        mutants=(Mutant("false", predict=mutant),),
        **more,
    )


def contraction() -> Theorem:
    """A thousand steps of Newton-like descent against their closed form (rounding)."""

    def simulate(x, key):
        return iterate(lambda w: w - 0.01 * (w - x.a), 3 * x.a, 1000) * (1 + x.planted)

    def closed(factor):
        return lambda x: x.a * (1 + factor * 0.99 ** jnp.arange(1001, dtype=x.a.dtype))

    claim = equal("path", lambda r: r.sim, lambda r: r.theory)
    return statement(claim, simulate=simulate, predict=closed(2.0), mutant=closed(4.0))


def attained() -> Theorem:
    """A bound that is attained, after a sum of 500 terms in two orders (rounding, tie)."""

    def total(terms):
        return jax.lax.scan(lambda s, t: (s + t, None), 0 * terms[0], terms)[0]

    def terms(x):
        return x.a / jnp.arange(1, 501, dtype=x.a.dtype)

    return statement(
        at_most("sum", lambda r: r.sim, lambda r: r.theory),
        simulate=lambda x, key: total(terms(x)) * (1 + x.planted),
        predict=lambda x: total(terms(x)[::-1]),
        mutant=lambda x: total(terms(x)[::-1]) / 2,
    )


def integrated() -> Theorem:
    """A nonlinear flow against its closed form (integrator)."""
    times = np.linspace(0, 6, 25)

    def simulate(x, key):
        field = lambda y, _: 4 * y * (x.a - y)  # noqa: E731
        path = integrate(field, 1e-3 * x.a, jnp.asarray(times), tolerance_scale=x.tolerance_scale)
        return path * (1 + x.planted)

    def logistic(rate):
        return lambda x: x.a / (1 + (1e3 - 1) * jnp.exp(-rate * x.a * times))

    claim = equal("path", lambda r: r.sim, lambda r: r.theory)
    more = {"integrates": True}
    return statement(claim, simulate=simulate, predict=logistic(4), mutant=logistic(8), **more)


def limit() -> Theorem:
    """The end of thirty steps with contraction 1/2 against the limit."""
    return statement(
        equal("limit", lambda r: r.limit(r.sim), lambda r: r.theory),
        simulate=lambda x, key: x.a * (1 + x.planted) * (1 - 0.5 ** jnp.arange(30.0)),
        predict=lambda x: x.a,
        mutant=lambda x: 2 * x.a,
    )


def mean() -> Theorem:
    """The mean of a square of 256 normal draws (Monte-Carlo; planted in standard errors)."""
    deviation = np.sqrt(2 / 256)

    return statement(
        equal("variance", lambda r: r.mean(r.sim**2), lambda r: r.theory),
        simulate=lambda x, key: x.a * jax.random.normal(key) * (1 + x.planted * deviation) ** 0.5,
        predict=lambda x: x.a**2,
        mutant=lambda x: 4 * x.a**2,
        keys=256,
        instances=16,
    )


def probability() -> Theorem:
    """An event of chance 0.9 - planted that is said to happen with probability 0.8."""
    claim = with_probability("event", lambda r: r.sim, lambda r: 0.0, at_least=lambda r: r.theory)
    return statement(
        claim,
        simulate=lambda x, key: jax.random.uniform(key) - 0.9 + x.planted,
        predict=lambda x: 0.8,
        mutant=lambda x: 0.99,
        keys=512,
        instances=16,
    )


def exponent() -> Theorem:
    """A noisy quantity that grows as b^(2 + planted), said to grow as b^2."""
    rungs = (1.0, 2.0, 4.0, 8.0, 16.0)

    def quantity(r):
        return r.mean(jnp.exp(0.3 * r.sim)) * r.x.b ** (2 + r.x.planted)

    claim = scales_as("power", quantity, over={"b": rungs}, exponent=2.0)
    noise = lambda x, key: jax.random.normal(key)  # noqa: E731
    nothing = lambda x: x.a  # noqa: E731
    return statement(claim, simulate=noise, predict=nothing, mutant=nothing, keys=64, instances=16)


def vanishing() -> Theorem:
    """A distance 1/b + planted that is said to vanish as b grows."""
    rungs = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
    return statement(
        tends_to(
            "limit",
            lambda r: r.sim,
            lambda r: r.theory,
            over={"b": rungs},
        ),
        simulate=lambda x, key: x.a * (1 + x.planted + 1 / x.b),
        predict=lambda x: x.a,
        mutant=lambda x: 2 * x.a,
    )


def constant() -> Theorem:
    """A ratio that grows as b^planted, said to be bounded by a constant."""
    rungs = (1.0, 4.0, 16.0, 64.0)
    claim = exists_constant("constant", lambda r: r.sim, lambda r: r.theory, over={"b": rungs})
    return statement(
        claim,
        simulate=lambda x, key: x.a * x.b**x.planted,
        predict=lambda x: x.a,
        mutant=lambda x: x.a / x.b,
    )


CASES = (
    (contraction, (0.0, 4 * EPS, 64 * EPS, 1024 * EPS, 1e-10), "relative"),
    (attained, (0.0, 4 * EPS, 64 * EPS, 1024 * EPS, 1e-10), "relative"),
    (integrated, (0.0, 1e-10, 1e-9, 1e-8, 1e-6), "relative"),
    (limit, (0.0, 1e-10, 1e-9, 1e-8, 1e-6), "relative"),
    (mean, (0.0, 1.0, 4.0, 8.0), "standard errors"),
    (probability, (0.0, 0.05, 0.1, 0.15, 0.2, 0.3), "chance"),
    (exponent, (0.0, 0.05, 0.2, 0.5), "exponent"),
    (vanishing, (0.0, 0.01, 0.1, 1.0), "floor"),
    (constant, (0.0, 0.05, 0.2, 0.5), "exponent"),
)


def rates(make: Callable[[], Theorem], planted: float, seeds: int) -> Counter:
    """Verdicts over seeds."""
    theorem = case(make)
    return Counter(
        str(verify(theorem, seed=seed, settings={"planted": planted}).verdict)
        for seed in range(seeds)
    )


@cache
def case(make: Callable[[], Theorem]) -> Theorem:
    """One theorem per case, so that it compiles once."""
    return make()


def table(seeds: int) -> str:
    """The rates as a Markdown table."""
    lines = [
        "# How often the verdicts are right",
        "",
        f"Measured by `python -m validation.verdict_rates` over {seeds} seeds per row. A planted",
        "error of zero is the truth: `violated` there is a false alarm. `holds` beside an error is",
        "a miss.",
        "",
        "| statement | planted error | holds | inconclusive | violated |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for make, sizes, unit in CASES:
        name = (make.__doc__ or "").removesuffix(".")
        for planted in sizes:
            found = rates(make, planted, seeds)
            shares = [f"{found[v] / seeds:.3f}" for v in ("holds", "inconclusive", "violated")]
            size = f"{planted:.2g} ({unit})" if planted else "none: true"
            lines.append(f"| {name} | {size} | {' | '.join(shares)} |")
            print(lines[-1], flush=True)
            name = ""
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    text = table(parser.parse_args().seeds)
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(text)
