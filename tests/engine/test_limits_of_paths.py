"""Limits of paths: true ones are not refuted, planted offsets are, slow ones have no number."""

import jax
import jax.numpy as jnp
import mpmath
import pytest
from drawn import one_in, thorough

from tests.engine.statements import decay, theorem, verdict_of, verdicts_of
from theorysim.claims import Verdict, at_most, equal
from theorysim.engine.verify.verify import verify


def test_the_limit_of_a_path_allows_for_its_distance_and_no_more():
    plain = decay(rate=0.5, steps=20)
    (true,) = plain.claims
    off = equal("off", true.lhs, lambda r: (1 - 1e-4) * r.theory["a"])
    both = theorem(true, off, simulate=plain.simulate)
    assert verdicts_of(both) == [Verdict.HOLDS, Verdict.VIOLATED]


@pytest.mark.parametrize("rate", one_in(4, [0.04, 0.3, 0.5, 0.9]))
@pytest.mark.parametrize("steps", [6, thorough(20)])
def test_a_path_of_one_mode_is_not_refuted_wherever_it_is_cut(rate, steps):
    assert verdict_of(decay(rate=rate, steps=steps)) is not Verdict.VIOLATED


@pytest.mark.thorough
@pytest.mark.parametrize("apart", [True, False])
def test_two_ends_that_approach_from_both_sides_are_not_refuted(apart):
    """Both are off by the same distance: moved by a common sign, their difference stays."""

    def simulate(x, key):
        left = 0.5 ** jnp.arange(10.0)
        up, down = x.a + left, x.b - left
        return {"up": up, "down": down, "both": jnp.stack([up, down])}

    def difference(r):
        if apart:
            return r.limit(r.sim["up"]) - r.limit(r.sim["down"])
        both = r.limit(r.sim["both"])
        return both[..., 0] - both[..., 1]

    def claimed(name, offset):
        return equal(name, difference, lambda r: r.x.a - r.x.b + offset)

    both = theorem(claimed("true", 0.0), claimed("off", 0.1), simulate=simulate)
    true, off = verdicts_of(both)
    assert true is not Verdict.VIOLATED and off is Verdict.VIOLATED


def test_the_end_of_a_path_is_known_to_rounding_of_its_largest_value_only():
    statement = theorem(
        equal("limit", lambda r: r.limit(r.sim["path"]), lambda r: 0.0),
        simulate=lambda x, key: {"path": x.a * 1e-3 ** jnp.arange(20.0)},
    )
    assert verdict_of(statement) is not Verdict.VIOLATED


def test_a_path_that_does_not_converge_passes_nothing():
    statement = theorem(
        equal("limit", lambda r: r.limit(r.sim["path"]), lambda r: r.theory["a"]),
        simulate=lambda x, key: {"path": x.a + jnp.arange(9, dtype=x.a.dtype)},
    )
    assert verdict_of(statement) is not Verdict.HOLDS


def sums(power, steps=1000):
    """Partial sums of a k^-power, k >= 1."""
    return lambda x, key: {"path": x.a * jnp.cumsum(jnp.arange(1.0, steps + 1) ** -power)}


@pytest.mark.parametrize("power", one_in(3, [1.2, 1.5, 2.0]))
def test_a_true_limit_of_slow_convergence_is_inconclusive_and_says_why(power):
    total = float(mpmath.zeta(power))
    statement = theorem(
        equal("limit", lambda r: r.limit(r.sim["path"]), lambda r: total * r.theory["a"]),
        simulate=sums(power),
    )
    (claim,) = verify(statement, instances=32).readings[0].claims
    assert claim.verdict is Verdict.INCONCLUSIVE
    assert "geometrically" in claim.note


@pytest.mark.thorough
def test_a_divergent_sum_is_not_bounded():
    statement = theorem(
        at_most("limit", lambda r: r.limit(r.sim["path"]), lambda r: 50 * r.theory["a"]),
        simulate=sums(1.0),
    )
    assert verdict_of(statement) is Verdict.INCONCLUSIVE


@pytest.mark.thorough
def test_descent_on_a_quartic_is_not_refuted():
    def simulate(x, key):
        step = lambda w, _: (w - 0.1 * w**3, w)  # noqa: E731
        return {"path": jax.lax.scan(step, x.a, length=2000)[1]}

    statement = theorem(
        equal("limit", lambda r: r.limit(r.sim["path"]), lambda r: 0.0), simulate=simulate
    )
    assert verdict_of(statement) is Verdict.INCONCLUSIVE
