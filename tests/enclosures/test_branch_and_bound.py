"""Certificates over a box: what is certain of every point of it."""

import functools
from fractions import Fraction

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from drawn import thorough

from theorysim.enclosures import Outcome, certify_box
from theorysim.systems.linear_modes import Tuning, step
from validation.certificates import lemmas

# Rounding of some dozen operations, enlarged by 1/mu of up to a hundred.
REDUCED = 1e-10


@pytest.mark.parametrize(
    "lhs, rhs, box, boxes",
    [
        # e^x >= 1 + x touches at 0; the bisection meets 0, and both halves are monotone.
        (lambda x: 1 + x, lambda x: jnp.exp(x), {"x": (-1, 1)}, 10),
        # The first step of every rate (1 - y)^K <= exp(-y K).
        (lambda y: 1 - y, lambda y: jnp.exp(-y), {"y": (0, 1)}, 1),
        # Motzkin's polynomial is no sum of squares; lifted by 1/1000 it is positive.
        thorough(
            lambda x, y: 3 * x**2 * y**2,
            lambda x, y: x**4 * y**2 + x**2 * y**4 + 1.001,
            {"x": (0.5, 2), "y": (0.5, 2)},
            4096,
        ),
        (lambda x: jnp.log1p(x), lambda x: x / jnp.sqrt(1 + x), {"x": (0.01, 10)}, 4096),
        (lambda x, y: jnp.maximum(x, y), lambda x, y: x + y + 0.01, {"x": (0, 1), "y": (0, 1)}, 64),
    ],
)
def test_true_inequalities_are_certified(lhs, rhs, box, boxes):
    found = certify_box(lhs, rhs, box)
    assert found.outcome is Outcome.CERTIFIED
    assert found.boxes <= boxes


def test_a_false_inequality_gives_a_point_that_refutes_it():
    found = certify_box(lambda x: jnp.sin(x), lambda x: x - x**3 / 6.05, {"x": (0, 2)})
    assert found.outcome is Outcome.VIOLATED
    with mpmath.workdps(40):
        x = mpmath.mpf(repr(found.point["x"]))
        assert mpmath.sin(x) > x - x**3 / (mpmath.mpf(605) / 100)


def test_strict_inequalities_exclude_ties():
    found = certify_box(lambda x: 1 + x, lambda x: jnp.exp(x), {"x": (-1, 1)}, strict=True)
    assert found.outcome is Outcome.VIOLATED and found.point == {"x": 0.0}
    found = certify_box(lambda x: x * (1 - x), lambda x: 0.0, {"x": (0, 0)}, strict=True)
    assert found.outcome is Outcome.VIOLATED
    for relation in ("at_most", "at_least"):  # x >= 0 on the box, but not > 0
        found = certify_box(
            lambda x: x**2, lambda x: 0.0, {"x": (0, 1)}, relation=relation, strict=True
        )
        assert found.outcome is Outcome.VIOLATED


def test_hypotheses_restrict_the_box():
    """x y <= 1/4 where x + y <= 1: false on the box, attained at x = y = 1/2."""
    given = {"sum": lambda x, y: 1 - x - y}
    box = {"x": (0, 1), "y": (0, 1)}
    product = lambda x, y: x * y  # noqa: E731
    certified = certify_box(product, lambda x, y: 0.26, box, given=given)
    assert certified.outcome is Outcome.CERTIFIED and certified.dropped > 0
    tight = certify_box(product, lambda x, y: 0.25, box, given=given, max_boxes=512)
    assert tight.outcome is Outcome.UNDECIDED
    assert all(low <= 0.5 <= high for low, high in tight.resisting.values())
    assert 0 < tight.left < 0.01
    violated = certify_box(product, lambda x, y: 0.24, box, given=given)
    assert violated.outcome is Outcome.VIOLATED
    x, y = (Fraction(repr(v)) for v in violated.point.values())
    assert x + y <= 1 and x * y > Fraction(24, 100)
    nowhere = certify_box(product, lambda x, y: -1.0, box, given={"none": lambda x, y: -1 - x})
    assert nowhere.outcome is Outcome.OUTSIDE


@pytest.mark.parametrize(
    "lhs",
    [
        lambda x: jnp.sin(jnp.log(x - 0.5)),  # undefined on half of the box
        lambda x: jnp.where(x > 0.3, 1.0, 0.0) + 0.6,  # jumps above the bound
        lambda x: jnp.sign(x - 0.99) + 1.0,  # jumps, with slope zero elsewhere
        lambda x: jnp.floor(x) * 3 + 1,  # attains 4 at the last point only
        lambda x: 1.5 + jax.lax.stop_gradient(x) ** 2 / 10 - 0.04,  # 1.56 at x = 1
        lambda x: jnp.where(jnp.abs(x - 0.777) < 0.01, 2.0, 0.0),  # a narrow table
        lambda x: 1 + jnp.maximum(0 * x, 10 * (x - 0.9)),  # 2 at x = 1, where the second wins
        lambda x: 2 - jnp.minimum(1 + 0 * x, 10 * x),  # 2 at x = 0
        lambda x: 1 + 1.6 * jnp.abs(x - 0.5),  # 1.8 at both ends
    ],
)
def test_jumps_and_gaps_are_not_certified(lhs):
    found = certify_box(lhs, lambda x: 1.5, {"x": (0, 1)}, max_boxes=64)
    assert found.outcome is not Outcome.CERTIFIED


def random_polynomial(rng):
    powers = rng.integers(0, 4, (5, 2))
    weights = np.round(rng.normal(size=5), 3)

    def polynomial(x, y):
        return sum(
            w * x ** int(p) * jnp.abs(y) ** int(q) for w, (p, q) in zip(weights.tolist(), powers)
        )

    return polynomial


@pytest.mark.parametrize("seed", range(12))
def test_what_is_certified_no_sample_refutes(seed):
    """Random inequalities, shifted so that about half of them are true."""
    rng = np.random.default_rng(seed)
    polynomial = random_polynomial(rng)
    x, y = rng.uniform(-1, 1, (2, 4096))
    values = np.asarray(polynomial(x, y), float)
    bound = float(np.round(values.max() + rng.normal() * 0.2, 3))
    box = {"x": (-1, 1), "y": (-1, 1)}
    found = certify_box(polynomial, lambda x, y: bound, box, max_boxes=2048)
    if found.outcome is Outcome.CERTIFIED:
        assert values.max() <= bound + 1e-12  # rounding of five terms of order one
    elif found.outcome is Outcome.VIOLATED:
        point = np.array(list(found.point.values()))
        assert np.asarray(polynomial(*point)) > bound - 1e-12
    else:
        assert abs(values.max() - bound) < 0.05


LEMMAS = {lemma.name: lemma for lemma in lemmas()}
WIDEST = "A.28, range, upper"
"""the one that takes by far the most boxes"""


@pytest.mark.parametrize(
    "lemma",
    [thorough(lemma) if name == WIDEST else lemma for name, lemma in LEMMAS.items()],
    ids=LEMMAS,
)
def test_the_scalar_lemmas_are_certified(lemma):
    assert lemma.certified().outcome is Outcome.CERTIFIED


@pytest.mark.parametrize("case", ["rising", "falling"])
def test_the_reductions_are_those_of_the_map(case, x64):
    """The certified displays, times what was divided out, are the lemma's at random numbers."""
    mu, u, s, part = np.random.default_rng(0).uniform(0.01, 1, (4, 100))
    x = s + part * (1 - s)
    sigma, start = (1, s) if case == "rising" else (s, 1)
    lam = (1 - mu) / mu
    rate = u / (2 * (lam + 2))
    star = np.sqrt((sigma**2 + lam * start**2) / (1 + lam))
    tuning = Tuning(*map(jnp.asarray, np.broadcast_arrays(sigma**2, start**2, lam, rate)))
    image = np.asarray(step(jnp.asarray(x), tuning))
    kept = 1 - 2 * rate * (1 + lam) * x * (x + star)
    found = {lemma.name: lemma for lemma in lemmas()}

    def slack(name, **numbers):
        lemma = found[f"A.28, {name} ({case})"]
        return np.asarray(lemma.rhs(**numbers) - lemma.lhs(**numbers))

    close = functools.partial(np.testing.assert_allclose, rtol=REDUCED, atol=REDUCED)
    close(image - star, (x - star) * kept)
    low = slack("P5, lower", mu=mu, x=x, q=s / x) * (1 + lam) * x
    close((1 + lam) * x * (x + star) - s**2, low)
    close(1 - 2 * rate * s**2 + kept, slack("P7", mu=mu, u=u, x=x, q=s / x))
    if case == "falling":
        over = slack("overshoot", mu=mu, u=u, x=x, s=s) * (1 - s**2) / (1 + mu)
        over = over / ((1 + star) * (s + star))
        close(star - s - (1 - star) * -kept, over)
    else:
        over = slack("overshoot", mu=mu, s=s) * (1 - mu) * (1 - s**2) / (1 + mu)
        over = over / ((1 + star) * (s + star))
        most = (1 + star) / (1 + mu) - 1  # 2 eta S - 1 at u = x = 1
        close(1 - star - (star - s) * most, over)
