"""Ties by the hundred, complex numbers, ends of the range, averages: rounding refutes nothing."""

import jax
import jax.numpy as jnp
import numpy as np
import optimistix
import pytest
from drawn import one_in, thorough

from tests.engine.statements import verdicts_of
from theorysim.claims import (
    Choice,
    Claim,
    Gaussian,
    Integer,
    Real,
    Size,
    Space,
    Theorem,
    Verdict,
    at_least,
    at_most,
    equal,
    on_average,
    with_probability,
)

NUMBERS = Space(c=Real(1, 2))
LARGE = Space(t=Real(760, 900))


def verdicts(claims: tuple[Claim, ...], simulate, space=NUMBERS, instances=64, **more):
    """Of claims about the same runs."""
    statement = Theorem(
        space=space,
        simulate=simulate,
        claims=claims,
        mutants=(),
        id="tests/ties",
        title="a statement of known truth",
        **more,
    )
    return verdicts_of(statement, instances)


def verdict(claim: Claim, simulate, space=NUMBERS, **more) -> Verdict:
    (found,) = verdicts((claim,), simulate, space, **more)
    return found


def opaque(number):
    """Zero by an operation without an enclosure, so that more bits do not tell."""
    return 0 * jax.lax.lgamma(number + 1)


def flagged(c):
    """1 if one of 200 ranks, computed in a loop, is none."""

    def body(state):
        k, miss = state
        return k + 1, miss | (jnp.floor(k * c / (c * c) * c) != k)

    ended = jax.lax.while_loop(lambda s: s[0] < 200, body, (1, False))
    return jnp.where(ended[1], 1.0, 0.0)


# The companion matrix of (x - 1)^5.
FIVEFOLD = np.vstack([[5.0, -10.0, 10.0, -5.0, 1.0], np.eye(4, 5)])
SYMMETRIC = np.array([[2.0, 1, 0, 1], [1, 3, 1, 0], [0, 1, 5, 2], [1, 0, 2, 7]])


def off_diagonal(matrix):
    """What `SYMMETRIC` keeps beside its diagonal in the eigenvectors of a matrix."""
    vectors = jnp.linalg.eigh(matrix)[1]
    turned = vectors.T @ SYMMETRIC @ vectors
    return jnp.max(jnp.abs(turned - jnp.diag(jnp.diag(turned))))


def grows(rate):
    """Whether descent to 1 goes upwards in each of 300 steps."""

    def step(state, _):
        weight, upwards = state
        moved = weight + 0.3 * rate * (1 - weight)
        return (moved, upwards & (moved > weight)), None

    return jax.lax.scan(step, (0 * rate, True), None, length=300)[0][1]


def ranks(c):
    """1, 2, ... times c, but for rounding."""
    return jnp.arange(1.0, 200.0) * c / (c * c) * c * c


def none(side=lambda r: r.sim):
    return equal("claim", side, lambda r: jnp.zeros(jnp.shape(side(r))))


TRUE = {
    "one of many ties": (
        none(),
        lambda x, key: jnp.any(x.v / 49.0 * 49.0 > x.v) * 1.0,
        Space(n=Size(100), v=Gaussian("n")),
    ),
    "one of many ties of draws": (
        none(),
        lambda x, key: (
            jnp.any((u := x.c * jax.random.uniform(key, (100,))) / 49.0 * 49.0 != u) * 1.0
        ),
        NUMBERS,
    ),
    "complex tie": (
        none(),
        lambda x, key: jnp.where((z := (x.c + 0j) * (1 + 1j)) / 49.0 * 49.0 == z, 0.0, 1.0),
        NUMBERS,
    ),
    "overflow": (
        at_least("claim", lambda r: r.sim, lambda r: 0.3),
        lambda x, key: (jnp.exp(x.t) + 1.0) ** -0.001 + opaque(x.t),
        LARGE,
    ),
    "overflow on the way": (
        at_most("claim", lambda r: r.sim, lambda r: 0.9),
        lambda x, key: jnp.tanh(jnp.log(jnp.cosh(x.t)) / 1000.0) + opaque(x.t),
        LARGE,
    ),
    "one of many ties of whole numbers": (
        none(),
        lambda x, key: jnp.any((ranks(x.c) / x.c).astype(int) != jnp.arange(1, 200)) * 1.0,
        NUMBERS,
    ),
    "one of many that absorb": (
        none(),
        lambda x, key: 1.0 - jnp.all(jax.nn.sigmoid(45.0 + x.v) < 1) + opaque(x.v[0]),
        Space(n=Size(100), v=Gaussian("n")),
    ),
    "one of many that underflow": (
        none(),
        lambda x, key: 1.0 - jnp.all(jnp.exp(-800.0 - jnp.abs(x.v)) > 0) + opaque(x.v[0]),
        Space(n=Size(100), v=Gaussian("n")),
    ),
    "one tie in a loop": (none(), lambda x, key: flagged(x.c) + opaque(x.c), NUMBERS),
    "size of complex numbers": (
        at_least("claim", lambda r: r.sim, lambda r: 0.25),
        lambda x, key: 1e18 * (jnp.abs(jax.lax.complex(x.c, 1e-9)) - x.c) * x.c,
        NUMBERS,
    ),
    "a narrower number": (
        at_least("claim", lambda r: r.sim, lambda r: 0.3),
        lambda x, key: (1e-200 * x.c).astype(jnp.float32).astype(float) ** 0.001 + opaque(x.c),
        NUMBERS,
    ),
    "within both ends of a range": (
        equal("claim", lambda r: r.sim, lambda r: 1.0 + 0 * r.sim),
        lambda x, key: (
            jnp.all(((p := jax.nn.sigmoid(1000 * x.v)) > 0) & (p < 1)) * 1.0 + opaque(x.v[0])
        ),
        Space(n=Size(100), v=Gaussian("n")),
    ),
    "steps that are absorbed in turn": (
        equal("claim", lambda r: r.sim, lambda r: 1.0 + 0 * r.sim),
        lambda x, key: grows(x.t) * 1.0 + opaque(x.t),
        Space(t=Real(0.5, 1)),
    ),
    "differences that are absorbed": (
        equal("claim", lambda r: r.sim, lambda r: 1.0 + 0 * r.sim),
        lambda x, key: (
            jnp.all(jnp.diff(jnp.tanh(x.t * jnp.arange(1.0, 101.0))) > 0) * 1.0 + opaque(x.t)
        ),
        Space(t=Real(0.5, 1)),
    ),
    "a sum of equal addends in turn": (
        equal("claim", lambda r: r.sim, lambda r: 30_000 * r.x.t),
        lambda x, key: jax.lax.fori_loop(0, 30_000, lambda i, s: s + x.t, opaque(x.t)),
        Space(t=Choice(0.1, 0.7)),
    ),
    "sums that cancel, one of many": (
        none(),
        lambda x, key: (
            jnp.any((s := 1.0 + jnp.abs(x.v)) / 49.0 * 49.0 - s < 0) * 1.0 + opaque(x.v[0])
        ),
        Space(n=Size(100), v=Gaussian("n")),
    ),
    "eigenvalues of an exact matrix": (
        at_most("claim", lambda r: r.sim, lambda r: 1e-6),
        lambda x, key: jnp.abs(jnp.linalg.eigvals(x.k * FIVEFOLD) / x.k - 1.0),
        Space(k=Integer(1, 50)),
    ),
    "eigenvectors of nearly equal eigenvalues": (
        at_most("claim", lambda r: r.sim, lambda r: 1e-8),
        lambda x, key: off_diagonal(x.k * jnp.eye(4) + 2.0**-36 * SYMMETRIC) + opaque(1.0 * x.k),
        Space(k=Integer(1, 50)),
    ),
    "a special function near its zero": (
        at_most("claim", lambda r: jnp.abs(r.sim), lambda r: 1e-3 * r.x.h),
        lambda x, key: jax.lax.lgamma(1.0 + x.h) + jnp.euler_gamma * x.h,
        Space(h=Choice(1e-15, 2e-15)),
    ),
    "one of many floors": (
        none(),
        lambda x, key: (
            jnp.any(jnp.floor(ranks(x.c) / x.c) != jnp.arange(1, 200)) * 1.0 + opaque(x.c)
        ),
        NUMBERS,
    ),
    "underflow of a function that nobody thought of": (
        at_least("claim", lambda r: r.sim, lambda r: 0.3),
        lambda x, key: jax.lax.erfc(x.t / 27.0) ** 0.001 + opaque(x.t),
        LARGE,
    ),
    "complex underflow": (
        at_least("claim", lambda r: r.sim, lambda r: 0.3),
        lambda x, key: jnp.abs(jnp.exp(-x.t + 1j)) ** 0.001,
        LARGE,
    ),
    "complex overflow": (
        at_most("claim", lambda r: r.sim, lambda r: 0.95),
        lambda x, key: jnp.tanh(jnp.log(jnp.abs(jnp.exp(x.t + 1j))) / 1000.0),
        LARGE,
    ),
    "underflow": (
        at_least("claim", lambda r: r.sim, lambda r: 0.3),
        lambda x, key: (3.3 * jnp.exp(-x.t)) ** 0.001 + opaque(x.t),
        LARGE,
    ),
}


@pytest.mark.parametrize("name", one_in(4, TRUE))
def test_rounding_refutes_nothing(name, costly):
    claim, simulate, space = TRUE[name]
    assert verdict(claim, simulate, space) is Verdict.INCONCLUSIVE


def tie(x, key):
    """1 where a draw is not its 49th part times 49, which it is."""
    u = x.c * jax.random.uniform(key)
    return jnp.where(u / 49.0 * 49.0 == u, 0.0, 1.0)


def test_averages_of_ties_are_not_decided(costly):
    below = on_average("below", lambda r: r.sim, lambda r: 0.01)
    above = on_average("above", lambda r: 0.01 + 0 * r.sim, lambda r: r.sim)
    assert verdicts((below, above), tie, keys=256) == 2 * [Verdict.INCONCLUSIVE]


@pytest.mark.thorough
def test_a_plain_average_is_shown_and_its_contrary_violated(costly):
    def draw(x, key):
        return x.c * jax.random.uniform(key)

    below = on_average("below", lambda r: r.sim, lambda r: 2.0)
    contrary = on_average("contrary", lambda r: 2.0 + 0 * r.sim, lambda r: r.sim)
    found = verdicts((below, contrary), draw, keys=256)
    assert found == [Verdict.HOLDS, Verdict.VIOLATED]


def test_a_probability_that_only_rounding_meets_is_not_met():
    rare = with_probability("claim", lambda r: 0.5, lambda r: r.sim, at_least=lambda r: 0.05)
    assert verdict(rare, tie, keys=256) is Verdict.INCONCLUSIVE


def coins(x, key):
    """Whether ten coins of a tenth do not add up to less than none: in .623 of the runs."""
    thrown = jnp.where(jax.random.bernoulli(key, 0.5, (10,)), 0.1, -0.1)
    return jnp.where(jnp.sum(thrown) >= 0, 1.0, 0.0)


def test_runs_that_hang_on_rounding_tell_of_no_other(costly):
    """However ties fall, the chance of 0 lies between .377 and .623."""

    def chance(least):
        return with_probability(
            f"at least {least}", lambda r: r.sim, lambda r: 0.5, at_least=lambda r: least
        )

    found = verdicts((chance(0.7), chance(0.2)), coins, keys=1024, instances=4)
    assert found == [Verdict.VIOLATED, Verdict.HOLDS]


def test_a_loop_that_ends_by_an_equality_ends(costly):
    """A contraction whose rounding, hundreds of units, falls into a cycle when it is moved."""

    def step(y, c):
        return (1000.0 + 0.25 * y * c) - 999.0

    def simulate(x, key):
        go = lambda s: (step(s[0], x.c), s[0])  # noqa: E731
        y, _ = jax.lax.while_loop(lambda s: s[0] != s[1], go, (0.0 * x.c, 1 + 0.0 * x.c))
        return 1.01 * y, step(y, x.c)

    claim = equal("claim", lambda r: r.sim[0], lambda r: r.sim[1])
    assert verdict(claim, simulate) is Verdict.VIOLATED


@pytest.mark.parametrize(
    "goes_on",
    [
        thorough(lambda y, before: jnp.any(y != before)),
        lambda y, before: jnp.max(jnp.abs(y - before)) > 1e-15,
    ],
)
def test_loops_of_many_numbers_end(goes_on, costly):
    """Not all of a hundred entries come to rest at once while they are moved.

    Plainly they do: an increasing map gives monotone sequences, which have no cycles.
    """

    def simulate(x, key):
        body = lambda s: (s[0] / 3.0 + x.v / 7.0, s[0])  # noqa: E731
        start = (jnp.zeros_like(x.v), jnp.ones_like(x.v))
        return jax.lax.while_loop(lambda s: goes_on(*s), body, start)[0]

    claim = equal("claim", lambda r: r.sim, lambda r: 1.01 * r.x.v * 3.0 / 14.0)
    space = Space(n=Size(100), v=Gaussian("n"))
    assert verdict(claim, simulate, space, instances=4) is Verdict.VIOLATED


@pytest.mark.parametrize(
    "inner_products",
    [
        thorough(lambda X: jnp.sum(X * X, 1) / 5),
        lambda X: jnp.diag(X @ X.T / 5),
        thorough(lambda X: jnp.ones(8)),
    ],
)
def test_the_edge_of_a_domain_is_no_obstacle(inner_products, costly):
    """The kernel of rectifiers is 1 at u = 1, where a root and an angle end; not 1.01."""

    def simulate(x, key):
        u = inner_products(jnp.sign(x.A))
        kernel = (jnp.sqrt(1 - u**2) + u * (jnp.pi - jnp.arccos(u))) / jnp.pi
        return jnp.mean(kernel) + opaque(x.A[0, 0])

    claim = equal("claim", lambda r: r.sim, lambda r: 1.01 + 0 * r.sim)
    space = Space(n=Size(8), A=Gaussian("n", 5))
    assert verdict(claim, simulate, space) is Verdict.VIOLATED


@pytest.mark.thorough
def test_a_solver_that_gives_up_where_it_is_moved_ends_no_verification(costly):
    """Newton's method to the last bit: it converges plainly, not where residuals are moved."""

    def simulate(x, key):
        squares = 1.0 + x.v**2
        newton = optimistix.Newton(rtol=1e-15, atol=1e-15)
        found = optimistix.root_find(lambda y, _: y * y - squares, newton, squares)
        return jnp.sum(found.value), jnp.sum(jnp.sqrt(squares))

    claim = equal("claim", lambda r: 1.01 * r.sim[0], lambda r: r.sim[1])
    space = Space(n=Size(8), v=Gaussian("n"))
    assert verdict(claim, simulate, space) in (Verdict.VIOLATED, Verdict.INCONCLUSIVE)


def test_plain_violations_of_complex_numbers_are_confirmed(costly):
    def sums(x, key):
        terms = jnp.exp(1j * x.c * jnp.arange(1.0, 20.0))
        return jnp.abs(jnp.sum(terms)), 1.01 * jnp.abs(jnp.sum(terms[::-1]))

    claim = equal("claim", lambda r: r.sim[0], lambda r: r.sim[1])
    assert verdict(claim, sums) is Verdict.VIOLATED


@pytest.mark.thorough
def test_a_call_that_returns_nothing_is_no_obstacle(costly):
    """Solvers of optimistix leave one behind."""
    optimistix = pytest.importorskip("optimistix")

    def root(x, key):
        solver = optimistix.Newton(rtol=1e-12, atol=1e-12)
        return optimistix.root_find(lambda y, c: y * y - c, solver, x.c, args=x.c).value

    claim = equal("claim", lambda r: r.sim, lambda r: 1.01 * jnp.sqrt(r.x.c))
    assert verdict(claim, root) is Verdict.VIOLATED
