"""How much of a printed constant or power a statement uses, as a review measures it."""

from collections.abc import Iterator

import jax.numpy as jnp
import pytest
from searches import AMPLE, one_round

from tests.engine.test_review import NEAR, statement
from theorysim.claims import Real, Size, Space, at_least, at_most, scales_as
from theorysim.engine.review.review import Review, review


@pytest.fixture(scope="module")
def several() -> Iterator[Review]:
    """Of bounds that use all of their constants, some of them, or tell none."""
    claims = (
        at_most(
            "path",
            lambda r: jnp.stack([1.0 + 0 * r.x.b, 0.15 * r.x.b]),
            lambda r: jnp.ones(2),
        ),
        at_least("square", lambda r: 3 + r.x.b**2, lambda r: 1.0 + 0 * r.x.b),
        at_most("sum", lambda r: r.sim, lambda r: 2 * r.theory),
        at_least("positive", lambda r: 1 + r.x.b, lambda r: 0.0 * r.x.b, strict=True),
    )
    with one_round(1024):
        yield review(statement(*claims), seconds=AMPLE)


def constant_of(claim, found: Review):
    (constant,) = (one for one in found.sharpness.constants if one.claim == claim)
    return constant


def called_loose(claim, found: Review) -> bool:
    return any(f"“{claim}” is loose" in one.text for one in found.recommendations)


def test_sides_that_are_equal_by_construction_do_not_hide_the_constant(several):
    """A path that starts at its bound, and stays below three tenths of it."""
    constant = constant_of("path", several)
    assert constant.ties and called_loose("path", several)
    assert constant.factor == pytest.approx(0.3, rel=NEAR)


def test_a_lower_bound_may_be_raised(several):
    assert constant_of("square", several).factor == pytest.approx(3, rel=NEAR)


def test_a_bound_that_is_attained_is_not_called_loose(several):
    assert constant_of("sum", several).attained and not called_loose("sum", several)


def test_a_side_that_is_zero_tells_no_constant(several):
    assert not constant_of("positive", several).known and not called_loose("positive", several)


def test_a_power_below_the_printed_one_is_measured():
    growth = scales_as(
        "growth",
        lambda r: (2 + r.x.b) * r.x.n,
        over={"n": (4, 8, 16, 32)},
        exponent=2,
        relation="at_most",
    )
    space = Space(n=Size(4, high=64), a=Real(-1, 2), b=Real(0, 2))
    with one_round(1024):
        found = review(statement(growth, space=space, mutants=()), seconds=AMPLE)
    (measured,) = found.measured.found
    assert measured.low <= 1 + 1e-9 and measured.high >= 1 - 1e-9
    assert any("“growth” is loose" in one.text for one in found.recommendations)
