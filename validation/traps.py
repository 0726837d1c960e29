"""Statements whose truth is known, made to mislead: the traps that readers set for the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import jax.scipy.special as special
import numpy as np

from theorysim import claims
from theorysim.claims import Instance, Run, Theorem


@dataclass(frozen=True)
class Known:
    """A statement with its truth, and the trap that it sets."""

    name: str
    trap: str
    truth: bool
    theorem: Theorem


def _statement(claim: claims.Claim, simulate: Callable | None = None, **parts) -> Theorem:
    """Over `x.x`, or over the fields and sizes given in `space`."""
    return Theorem(
        space=parts.pop("space"),
        simulate=simulate or (lambda x, key: jnp.zeros(())),
        claims=(claim,),
        source=claims.Finding("a statement of known truth"),
        **parts,
    )


def _on(low: float, high: float, log: bool = False) -> claims.Space:
    return claims.Space(x=claims.Real(low, high, log=log))


def _at_least(lhs: Callable, rhs: Callable, space: claims.Space, **parts) -> Theorem:
    """lhs(x) >= rhs(x) of the number `x.x`."""
    claim = claims.at_least("claim", lambda r: lhs(r.x.x), lambda r: rhs(r.x.x), **parts)
    return _statement(claim, space=space)


# Each is attained or nearly so where a large number has absorbed a small one.
ABSORBED = {
    "1 - sigmoid(x) >= e^-x / 2": (
        lambda x: 1 - jax.nn.sigmoid(x),
        lambda x: jnp.exp(-x) / 2,
        _on(0, 60),
    ),
    "1 - tanh(x)^2 >= e^-2x": (
        lambda x: 1 - jnp.tanh(x) ** 2,
        lambda x: jnp.exp(-2 * x),
        _on(0, 40),
    ),
    "1 - e^-t >= t / 2": (lambda t: 1 - jnp.exp(-t), lambda t: t / 2, _on(1e-20, 1, log=True)),
    "log(1 + x) >= x / 2": (lambda x: jnp.log(1 + x), lambda x: x / 2, _on(1e-20, 1, log=True)),
    "1 - (1 - a)^10 >= a": (
        lambda a: 1 - (1 - a) ** 10,
        lambda a: a,
        _on(1e-20, 1, log=True),
    ),
    "softplus(x) - x >= e^-x / 2": (
        lambda x: jax.nn.softplus(x) - x,
        lambda x: jnp.exp(-x) / 2,
        _on(0, 60),
    ),
    "1 - erf(x) >= erfc(x) / 2": (
        lambda x: 1 - special.erf(x),
        lambda x: special.erfc(x) / 2,
        _on(0, 10),
    ),
}


def absorption() -> Iterator[Known]:
    """True inequalities whose sides cancel, and what is false of them by a factor of 4."""
    for name, (lhs, rhs, space) in ABSORBED.items():
        yield Known(name, "absorption", True, _at_least(lhs, rhs, space))
        too_much = _at_least(lhs, lambda x, rhs=rhs: 11 * rhs(x), space)
        yield Known(f"{name}, times 11", "absorption", False, too_much)
    sinc = claims.equal(
        "claim",
        lambda r: (1 - jnp.cos(r.x.x)) / r.x.x**2,
        lambda r: (jnp.sin(r.x.x / 2) / (r.x.x / 2)) ** 2 / 2,
    )
    small = _statement(sinc, space=_on(1e-8, 1e-3, log=True))
    yield Known("(1 - cos x) / x^2 = sinc(x / 2)^2 / 2", "absorption", True, small)


TERMS = 2000


def _sums(term: Callable) -> Callable:
    """Partial sums of `term(k)`, k from 1."""
    return lambda x, key: x.x * jnp.cumsum(term(jnp.arange(1.0, TERMS + 1)))


def _limit_at_most(bound: float, simulate: Callable) -> Theorem:
    claim = claims.at_most("claim", lambda r: r.limit(r.sim), lambda r: bound * r.x.x)
    return _statement(claim, simulate, space=_on(0.5, 2))


def _limit_equals(limit: Callable, simulate: Callable, space: claims.Space) -> Theorem:
    claim = claims.equal("claim", lambda r: r.limit(r.sim), lambda r: limit(r.x.x))
    return _statement(claim, simulate, space=space)


def limits() -> Iterator[Known]:
    """Sums that converge algebraically, geometrically and not at all."""
    for power in (1.2, 1.5, 2.0):
        zeta = float(special.zeta(power, 1.0))
        sums = _sums(lambda k, power=power: k**-power)
        yield Known(f"sum k^-{power} <= zeta", "slow limit", True, _limit_at_most(zeta, sums))
        half = _limit_at_most(0.5, sums)
        yield Known(f"sum k^-{power} <= 1/2", "slow limit", False, half)
        equal = _limit_equals(lambda x, zeta=zeta: zeta * x, sums, _on(0.5, 2))
        yield Known(f"sum k^-{power} = zeta", "slow limit", True, equal)
    harmonic = _limit_at_most(50.0, _sums(lambda k: 1 / k))
    yield Known("sum 1/k <= 50", "slow limit", False, harmonic)

    def quartic(x: Instance, key) -> jax.Array:
        step = lambda w, _: (w - 0.1 * w**3, w)  # noqa: E731
        return jax.lax.scan(step, x.x, None, length=TERMS)[1]

    still = _limit_equals(jnp.zeros_like, quartic, _on(0.5, 1))
    yield Known("descent on w^4 / 4 tends to 0", "slow limit", True, still)
    for ratio in (0.3, -0.9, 0.99):
        sums = _sums(lambda k, ratio=ratio: ratio**k)
        total = ratio / (1 - ratio)
        name = f"sum ({ratio})^k = {total:.4g}"
        equal = _limit_equals(lambda x, total=total: total * x, sums, _on(0.5, 2))
        yield Known(name, "geometric limit", True, equal)
        off = _limit_equals(lambda x, total=total: 1.001 * total * x, sums, _on(0.5, 2))
        yield Known(f"{name}, times 1.001", "geometric limit", False, off)

    def turning(x: Instance, key) -> jax.Array:
        k = jnp.arange(21)
        return 10 + 0.8**k - x.x * 0.857 ** (k - 20) * 0.8**20

    for share, truth in ((1.0, True), (1.01, False)):
        name = "10 + 0.8^k - c 0.857^k, turning near its end" + ("" if truth else ", times 1.01")
        limit = _limit_equals(lambda x, share=share: 10 * share + 0 * x, turning, _on(0.1, 3))
        yield Known(name, "turning limit", truth, limit)


# Samplers with their true mean.
TAILS = {
    "Pareto 1.2": (lambda key: jax.random.pareto(key, 1.2), 6.0),
    "Pareto 1.8": (lambda key: jax.random.pareto(key, 1.8), 2.25),
    "Student 1.5": (lambda key: jax.random.t(key, 1.5), 0.0),
    "Student 2": (lambda key: jax.random.t(key, 2.0), 0.0),
    "square of a normal": (lambda key: jax.random.normal(key) ** 2, 1.0),
    "exponential": (jax.random.exponential, 1.0),
    "lognormal": (lambda key: jnp.exp(jax.random.normal(key)), float(np.exp(0.5))),
    "Bernoulli 0.05": (lambda key: jax.random.bernoulli(key, 0.05) * 1.0, 0.05),
}


def tails() -> Iterator[Known]:
    """Means with and without a variance, and wrong ones by one unit."""

    def of(sampler: Callable, mean: float) -> Theorem:
        claim = claims.equal("claim", lambda r: r.mean(r.sim), lambda r: mean * r.x.x)
        return _statement(
            claim,
            lambda x, key: x.x * sampler(key),
            space=_on(0.5, 2),
            keys=256,
            instances=16,
        )

    for name, (sampler, mean) in TAILS.items():
        heavy = name.startswith(("Pareto", "Student"))
        trap = "heavy tail" if heavy else "light tail"
        yield Known(f"mean of {name} = {mean:.4g}", trap, True, of(sampler, mean))
        if not heavy:
            yield Known(f"mean of {name} = {mean + 1:.4g}", trap, False, of(sampler, mean + 1))


def arithmetic() -> Iterator[Known]:
    """Single precision and integers that overflow."""

    def single(x: Instance, key) -> jax.Array:
        terms = (x.x / jnp.arange(1, 1001)).astype(jnp.float32)
        return jnp.sum(terms).astype(float)

    harmonic = float(sum(1 / k for k in range(1, 1001)))
    claim = claims.at_most("claim", lambda r: r.sim, lambda r: harmonic * r.x.x)
    below = _statement(claim, single, space=_on(0.5, 2))
    yield Known("a sum in single precision <= its value", "single precision", True, below)
    space = claims.Space(n=claims.Integer(1, 100))
    tall = claims.at_least("claim", lambda r: r.x.n**10, lambda r: 1)
    yield Known("n^10 >= 1", "integers", True, _statement(tall, space=space))
    low = claims.at_most("claim", lambda r: r.x.n**10, lambda r: 1e19)
    yield Known("n^10 <= 1e19, n <= 100", "integers", False, _statement(low, space=space))


RUNGS = (64.0, 128.0, 256.0, 512.0, 1024.0)


def rates() -> Iterator[Known]:
    """Powers and constants: too fast a rate, a ladder that moves nothing, logarithms."""
    space = claims.Space(x=claims.Real(0.5, 2), m=claims.Real(1, 4096, log=True))

    def power(exponent: float, quantity: Callable, relation: str) -> Theorem:
        claim = claims.scales_as(
            "claim", quantity, over={"m": RUNGS}, exponent=exponent, relation=relation
        )
        return _statement(claim, _noise, space=space, keys=64, instances=16)

    def falling(r: Run):
        return r.mean(jnp.exp(0.1 * r.sim)) * r.x.x * r.x.m**-0.5

    bound = power(-0.5, falling, "at_most")
    yield Known("m^-0.5 is O(m^-0.5)", "rates", True, bound)
    yield Known("m^-0.5 is O(m^-0.25)", "rates", True, power(-0.25, falling, "at_most"))
    yield Known("m^-0.5 is O(m^-0.75)", "rates", False, power(-0.75, falling, "at_most"))
    yield Known("m^-0.5 is O(m^-0.6)", "rates", False, power(-0.6, falling, "at_most"))
    yield Known("m^-0.5 grows as m^-0.5", "rates", True, power(-0.5, falling, "equal"))
    yield Known("m^-0.5 grows as m^-0.55", "rates", False, power(-0.55, falling, "equal"))

    def constant(growth: Callable) -> Theorem:
        claim = claims.exists_constant(
            "claim", lambda r: r.x.x * growth(r.x.m), lambda r: r.x.x, over={"m": RUNGS}
        )
        return _statement(claim, space=space)

    bounded = constant(lambda m: 2 - 1 / m)
    yield Known("2 - 1/m is bounded", "constants", True, bounded)
    growths = {
        "log m": jnp.log,
        "log log m": lambda m: jnp.log(jnp.log(m)),
        "m^0.05": lambda m: m**0.05,
        "m^18": lambda m: m**18,
    }
    for name, growth in growths.items():
        yield Known(f"{name} is bounded", "constants", False, constant(growth))


def _noise(x: Instance, key) -> jax.Array:
    return jax.random.normal(key)


def rare() -> Iterator[Known]:
    """Violations of small measure, on edges, at corners, at large sizes."""
    cube = claims.Space(x=claims.Real(0, 1, shape=(3,)))

    def below(room: Callable, strict: bool = False, space: claims.Space = cube) -> Theorem:
        claim = claims.at_least("claim", lambda r: room(r.x.x), lambda r: 0.0, strict=strict)
        return _statement(claim, space=space)

    def box(side: float) -> Callable:
        return lambda x: jnp.max(jnp.abs(x - 0.37)) - side / 2

    yield Known("violated on 5 % of the draws", "rare", False, below(lambda x: x[0] - 0.05))
    yield Known("violated on 1 % of the draws", "rare", False, below(lambda x: x[0] - 0.01))
    yield Known("violated in a box of share 1e-3", "rare", False, below(box(0.1)))
    yield Known("violated in a box of share 1e-5", "rare", False, below(box(1e-5 ** (1 / 3))))
    corner = below(lambda x: 3 - 1e-6 - jnp.sum(x))
    yield Known("violated by 1e-6 at a corner", "corner", False, corner)
    edge = below(lambda x: x[0] * (1 + x[1]), strict=True)
    yield Known("x (1 + y) > 0 on x >= 0", "edge", False, edge)
    diagonal = below(lambda x: (x[0] - x[1]) ** 2, strict=True)
    yield Known("(x - y)^2 > 0", "edge", False, diagonal)
    yield Known("(x - y)^2 >= 0", "edge", True, below(lambda x: (x[0] - x[1]) ** 2))

    def large(bound: int) -> Theorem:
        claim = claims.at_most(
            "claim", lambda r: jnp.sum(r.x.x**2), lambda r: jnp.where(r.x.n < bound, 1.001, 0.5)
        )
        space = claims.Space(n=claims.Size(8, high=1024), x=claims.UnitVector("n"))
        return _statement(claim, space=space)

    yield Known("false for n >= 512 only", "sizes", False, large(512))
    yield Known("false for no n", "sizes", True, large(2048))


def optimisation() -> Iterator[Known]:
    """Rates whose sides tend to 0, so that rounding has the largest ratio."""
    space = claims.Space(d=claims.Size(3), w=claims.UnitVector("d"), c=claims.Spectrum("d", 1, 10))

    def descent(x: Instance, key) -> jax.Array:
        rate = 2 / (x.c[0] + x.c[-1])
        return jax.lax.scan(lambda w, _: (w - rate * x.c * w, w), x.w, None, length=200)[1]

    def contraction(share: float) -> Theorem:
        def bound(r: Run):
            ratio = (r.x.c[0] - r.x.c[-1]) / (r.x.c[0] + r.x.c[-1])
            return (share * ratio) ** jnp.arange(200)

        claim = claims.at_most("claim", lambda r: jnp.linalg.norm(r.sim, axis=-1), bound)
        return _statement(claim, descent, space=space)

    yield Known("descent contracts by (L - l) / (L + l)", "vanishing sides", True, contraction(1.0))
    for share in (0.5, 0.99):
        name = f"descent contracts by {share} (L - l) / (L + l)"
        yield Known(name, "vanishing sides", False, contraction(share))


# Of each side what is needed for a witness, and whether there is one.
WITNESSES = {
    "somewhere 2 e^-x >= 1 - sigmoid(x)": (
        True,
        _on(38, 60),
        lambda x: 2 * jnp.exp(-x),
        lambda x: 1 - jax.nn.sigmoid(x),
    ),
    "somewhere 1 + 1e8 e^-x / 2 >= 1 + 1e8 (1 - sigmoid(x))": (
        False,
        _on(38, 38.5),
        lambda x: 1 + 1e8 * jnp.exp(-x) / 2,
        lambda x: 1 + 1e8 * (1 - jax.nn.sigmoid(x)),
    ),
    "somewhere 1 + (1e8 x + 1/3) - 1e8 x >= 4/3 + 1e-10": (
        False,
        _on(1, 2),
        lambda x: 1 + ((x * 1e8 + 1 / 3) - x * 1e8),
        lambda x: 4 / 3 + 1e-10,
    ),
    "somewhere x in single precision >= x + 1e-9": (
        False,
        _on(1, 2),
        lambda x: x.astype(jnp.float32).astype(float),
        lambda x: x + 1e-9,
    ),
}


def witnesses() -> Iterator[Known]:
    """Instances that seem to have a property, or to miss a probability, by rounding."""
    for name, (truth, space, lhs, rhs) in WITNESSES.items():
        claim = claims.exists("claim", lambda r, lhs=lhs: lhs(r.x.x), lambda r, rhs=rhs: rhs(r.x.x))
        yield Known(name, "witness", truth, _statement(claim, space=space))
    for room in (0.0, 0.01):
        claim = claims.with_probability(
            "claim",
            lambda r, room=room: room + jnp.exp(-r.sim) / 2,
            lambda r: 1 - jax.nn.sigmoid(r.sim),
            at_least=lambda r: 0.9,
        )
        draw = lambda x, key: 40 + x.x * jax.random.normal(key)  # noqa: E731
        name = f"P({room:g} + e^-u / 2 <= 1 - sigmoid(u)) >= 0.9"
        yield Known(
            name, "probability", not room, _statement(claim, draw, space=_on(0.5, 1), keys=64)
        )


FAMILIES = (absorption, limits, tails, arithmetic, rates, rare, optimisation, witnesses)


def known_truths() -> tuple[Known, ...]:
    """All of them."""
    return tuple(known for family in FAMILIES for known in family())
