"""Certificates: what is certain at an instance and over a box, and what must never be certified."""

import functools
import json
import subprocess
import sys
from fractions import Fraction

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from tests.engine.statements import theorem
from theorysim.claims import (
    Choice,
    Instance,
    InstanceError,
    Integer,
    Orthogonal,
    Reading,
    Real,
    Run,
    Size,
    Space,
    Spectrum,
    Theorem,
    UnitVector,
    UsageError,
    at_least,
    at_most,
    decreasing,
    equal,
    scales_as,
)
from theorysim.engine.certify import certify, certify_box
from theorysim.engine.enclosures.points import Outcome
from theorysim.engine.falsify import falsify
from theorysim.numerics.descent import iterate
from theorysim.systems.linear_modes import Tuning, step
from validation.certificates import lemmas

A28 = "overtraining/lemma-a.28"
PRINTED = {"sigma": 1.0, "sigma_0": 2.0, "lam": 0.0, "step_share": 1.0}


def at(**values):
    return {"sizes": {}, "values": values}


def square_claims(*claims, **more) -> Theorem:
    return theorem(*claims, space=Space(a=Real(-1, 2)), **more)


# Points


def test_the_printed_counterexample_of_lemma_a_28_is_certified(tmp_path):
    """f(2) = 1.25, f(1.25) = 1.162...; sigma* is printed as 2, where it is 1: no contraction."""
    data = {"sizes": {"steps": 2}, "values": PRINTED}
    path = tmp_path / "instance.json"
    path.write_text(json.dumps(data))
    report = certify(A28, claim="rate", instance=path)
    printed = report.certificate("Section A.6", "rate")
    assert printed.outcome is Outcome.VIOLATED
    f = lambda w: w + w * (1 - w * w) / 8  # noqa: E731  # eta = 1 / (2 * 2 * 2^2)
    assert printed.lhs == f"{float(2 - f(f(Fraction(2)))):.20f}"[: len(printed.lhs)]
    assert float(printed.rhs) == 0
    assert printed.numbers == {"sigma": "1.0", "sigma_0": "2.0", "lam": "0.0", "step_share": "1.0"}
    assert report.exit_code == 0  # the corrected reading is the primary one
    assert report.certificate("corrected", "rate").outcome is Outcome.CERTIFIED
    assert certify(A28, claim="rate", reading="Section A.6", instance=data).exit_code == 3
    assert json.loads(json.dumps(report.as_json(), allow_nan=False))["mode"] == "instance"
    assert "certified violated" in str(report)


def test_real_descent_is_certified():
    """The simulation differentiates the loss; its violation of a wrong map is proved."""
    data = {"sizes": {"steps": 20}, "values": {**PRINTED, "sigma": 1.3, "step_share": 0.7}}
    claim = "f is the descent step"
    assert certify(A28, claim=claim, reading="corrected", instance=data).exit_code == 4
    wrong = certify(A28, claim=claim, reading="half the gradient", instance=data)
    assert wrong.exit_code == 3


def test_what_falsify_finds_can_be_certified():
    claim = at_most("square", lambda r: r.x.a**2, lambda r: 2.0)
    false = square_claims(claim, hypotheses={"not large": lambda x: 1.8 - x.a})
    (attack,) = falsify(false, budget=512).attacks
    report = certify(false, instance=attack.instance)
    assert report.exit_code == 3


@pytest.mark.parametrize("steps", [300])
def test_precision_is_doubled_until_the_sign_is_certain(steps):
    """A chaotic map loses about one bit per step; exact fractions have 2^300 digits, mpmath not."""

    def logistic(w):
        return 3.9 * w * (1 - w)

    path = theorem(
        at_most("stays below", lambda r: r.sim, lambda r: 0.98),
        at_most("last", lambda r: r.sim[..., -1], lambda r: 0.5),
        space=Space(steps=Size(steps), a=Real(0, 1)),
        simulate=lambda x, key: iterate(logistic, x.a, x.steps),
    )
    report = certify(path, instance=at(a=0.1))
    below, last = report.certificates
    assert below.outcome is Outcome.CERTIFIED
    assert 256 < last.precision <= 1024
    with mpmath.workdps(400):
        w, rate = mpmath.mpf(1) / 10, mpmath.mpf(39) / 10
        for _ in range(steps):
            w = rate * w * (1 - w)
        expected = Outcome.CERTIFIED if w <= 0.5 else Outcome.VIOLATED
        assert abs(mpmath.mpf(last.lhs.strip("[").split()[0]) - w) < 1e-10
    assert last.outcome is expected
    starved = certify(path, claim="last", instance=at(a=0.1), max_precision=128)
    assert starved.outcome is Outcome.UNDECIDED and starved.exit_code == 4


def test_a_true_equality_is_never_certified_but_at_exact_points():
    def pythagoras(r: Run):
        return jnp.sin(r.x.a) ** 2 + jnp.cos(r.x.a) ** 2

    for claim in (
        equal("equality", pythagoras, lambda r: 1.0),
        at_most("bound", pythagoras, lambda r: 1.0),
        at_least("bound from below", pythagoras, lambda r: 1.0),
    ):
        statement = square_claims(claim)
        assert certify(statement, instance=at(a=0.5)).outcome is Outcome.UNDECIDED
        assert certify(statement, box={"a": (0.1, 1)}, max_boxes=64).outcome is Outcome.UNDECIDED
        assert certify(statement, instance=at(a=0.0)).outcome is Outcome.CERTIFIED


def test_a_false_equality_is_refuted():
    claim = equal("half", lambda r: jnp.sin(r.x.a), lambda r: jnp.sin(r.x.a) * (1 + 1e-15))
    report = certify(square_claims(claim), instance=at(a=0.5))
    assert report.exit_code == 3
    assert "rounding of floating point" in report.certificates[0].note
    gross = equal("half", lambda r: jnp.sin(r.x.a), lambda r: r.x.a / 2)
    assert not certify(square_claims(gross), instance=at(a=0.5)).certificates[0].note


def test_strictness_and_own_conditions():
    strict = at_most("strict", lambda r: r.x.a, lambda r: 1.0, strict=True)
    loose = at_most("loose", lambda r: r.x.a, lambda r: 1.0)
    given = at_most("given", lambda r: r.x.a, lambda r: 1.0, given=lambda r: 0.5 - r.x.a)
    report = certify(square_claims(strict, loose, given), instance=at(a=1.0))
    outcomes = {c.claim: c.outcome for c in report.certificates}
    assert outcomes == {
        "strict": Outcome.VIOLATED,
        "loose": Outcome.CERTIFIED,
        "given": Outcome.OUTSIDE,
    }


def test_hypotheses_are_honoured_at_an_instance():
    claim = at_most("square", lambda r: r.x.a**2, lambda r: 1.0)
    statement = square_claims(claim, hypotheses={"small": lambda x: 1 - x.a})
    assert certify(statement, instance=at(a=1.5)).outcome is Outcome.OUTSIDE
    assert certify(statement, instance=at(a=-0.3)).outcome is Outcome.CERTIFIED


def test_a_violation_needs_certain_hypotheses():
    """sin^2 + cos^2 >= 1 is met, but nothing certain says so."""
    claim = at_most("false", lambda r: r.x.a, lambda r: 0.1)
    unclear = {"unit": lambda x: jnp.sin(x.a) ** 2 + jnp.cos(x.a) ** 2 - 1}
    statement = square_claims(claim, hypotheses=unclear)
    assert certify(statement, instance=at(a=0.5)).outcome is Outcome.UNDECIDED
    unclear = certify(statement, box={"a": (0.2, 0.5)}, max_boxes=64, max_precision=256)
    assert unclear.outcome is Outcome.UNDECIDED


def test_a_condition_of_the_claim_may_split_a_box():
    claim = at_most("a", lambda r: r.x.a, lambda r: 0.4, given=lambda r: 0.5 - r.x.a)
    report = certify(square_claims(claim))
    assert report.exit_code == 3
    assert 0.4 < float(report.certificates[0].numbers["a"]) <= 0.5


def test_numbers_enter_as_printed():
    """0.1 is 1/10, and 0.1 + 0.2 is the float that it is."""
    third = at_most("thrice", lambda r: 3 * r.x.a, lambda r: 0.3)
    statement = square_claims(third, equal("tenth", lambda r: 10 * r.x.a, lambda r: 1.0))
    report = certify(statement, instance=at(a=0.1))
    # 3/10 against 3/10 are two inexact balls in base 2
    assert report.certificate("as printed", "thrice").outcome is Outcome.UNDECIDED
    assert report.certificate("as printed", "thrice").numbers == {"a": "0.1"}
    above = certify(statement, claim="thrice", instance=at(a=0.1 + 1e-17 + 0.2 - 0.2))
    (certificate,) = above.certificates
    assert certificate.numbers["a"] in ("0.1", (0.1 + 1e-17 + 0.2 - 0.2).hex())
    bits = certify(
        statement, claim="tenth", instance=at(a=float(np.nextafter(0.1, 1)))
    ).certificates[0]
    assert bits.outcome is Outcome.VIOLATED and bits.numbers["a"] == np.nextafter(0.1, 1).hex()


def test_structured_fields_are_exact():
    """A printed matrix is orthogonal to 1e-16 only; the one that is certified is so exactly."""
    space = Space(d=Size(3), q=Orthogonal("d"), v=UnitVector("d"))

    def gram(r: Run):
        return jnp.abs(jnp.sum(r.x.q @ r.x.q.T * jnp.ones(3)) - 3)

    statement = theorem(
        at_most("orthogonal", gram, lambda r: 1e-60),
        at_most("unit", lambda r: jnp.abs(jnp.sum(r.x.v**2) - 1), lambda r: 1e-60),
        space=space,
        simulate=lambda x, key: x.v,
        predict=lambda x: (),
    )
    with jax.enable_x64(True):
        x = space.sample(jax.random.key(0), {"d": 3})
        data = space.to_json(x)
    assert certify(statement, instance=data).outcome is Outcome.CERTIFIED


def test_gaps_that_rounding_misses_are_refused():
    space = Space(s=Spectrum(2, 0.1, 1, gap=1.1))
    statement = theorem(at_least("order", lambda r: r.x.s[0], lambda r: r.x.s[1]), space=space)
    statement = Theorem(
        space=space,
        simulate=lambda x, key: x.s,
        claims=(at_least("order", lambda r: r.x.s[0], lambda r: r.x.s[1]),),
        wrong=Reading("none", claims=()),
        id="tests/spectrum",
    )
    assert certify(statement, instance=at(s=[0.33, 0.3])).outcome is Outcome.CERTIFIED
    with pytest.raises(InstanceError, match=r"s: the gap 1\.1"):
        certify(statement, instance=at(s=[0.1 * 1.1, 0.1 * (1 + 2**-52)]))


# Boxes


@pytest.mark.parametrize(
    "lhs, rhs, box, boxes",
    [
        # e^x >= 1 + x touches at 0; the bisection meets 0, and both halves are monotone.
        (lambda x: 1 + x, lambda x: jnp.exp(x), {"x": (-1, 1)}, 10),
        # The first step of every rate (1 - y)^K <= exp(-y K).
        (lambda y: 1 - y, lambda y: jnp.exp(-y), {"y": (0, 1)}, 1),
        # Motzkin's polynomial is no sum of squares; lifted by 1/1000 it is positive.
        (
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


@pytest.mark.parametrize("lemma", lemmas(), ids=lambda lemma: lemma.name)
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
    image = np.asarray(step(x, Tuning(sigma**2, start**2, lam, rate)))
    kept = 1 - 2 * rate * (1 + lam) * x * (x + star)
    found = {lemma.name: lemma for lemma in lemmas()}

    def slack(name, **numbers):
        lemma = found[f"A.28, {name} ({case})"]
        return np.asarray(lemma.rhs(**numbers) - lemma.lhs(**numbers))

    # rounding of some dozen operations, enlarged by 1/mu
    close = functools.partial(np.testing.assert_allclose, rtol=1e-10, atol=1e-10)
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


# Boxes of a theorem's space


def discrete() -> Theorem:
    return Theorem(
        space=Space(
            n=Size(2, high=3),
            k=Integer(0, 3),
            c=Choice(0.1, 0.5),
            a=Real(0.1, 1, log=True),
            s=Spectrum("n", 0.1, 1),
        ),
        simulate=lambda x, key: x.s,
        claims=(
            at_most("bounded", lambda r: r.x.c * r.x.a**r.x.k * r.x.s, lambda r: 0.5),
            at_most(
                "small", lambda r: r.x.a**r.x.k, lambda r: r.x.c + 0.4, given=lambda r: r.x.k - 1
            ),
            at_least("ordered", lambda r: r.x.s[0] - r.x.s[-1], lambda r: -0.02),
            decreasing("path", lambda r: r.x.s + 0.02 * jnp.arange(r.x.n)[::-1]),
        ),
        wrong=Reading("none", claims=()),
        id="tests/discrete",
    )


def test_discrete_values_are_enumerated():
    report = certify(discrete(), max_boxes=2000)
    outcomes = {c.claim: c for c in report.certificates}
    assert outcomes["bounded"].outcome is Outcome.CERTIFIED
    assert outcomes["bounded"].boxes >= 8  # every k and c
    small = outcomes["small"]
    assert small.outcome is Outcome.VIOLATED
    x = {name: Fraction(value) for name, value in small.numbers.items() if name in "ack"}
    assert x["a"] ** int(x["k"]) > x["c"] + Fraction(4, 10) and x["k"] >= 1
    assert certify(discrete(), claim="small", instance=small.instance).exit_code == 3
    assert outcomes["ordered"].outcome is Outcome.CERTIFIED
    assert outcomes["path"].outcome is Outcome.CERTIFIED


def test_a_box_may_be_given():
    tied = {"a": (0.1, 0.5), "k": (1, 2), "n": (2, 3)}
    tied = certify(discrete(), claim="small", box=tied, max_boxes=128)
    assert tied.exit_code == 4  # 0.5 <= 0.1 + 0.4 is attained
    held = certify(discrete(), claim="small", box={"a": (0.1, 0.49), "k": (1, 2), "n": (2, 3)})
    assert held.exit_code == 0


@pytest.mark.parametrize(
    "box, message",
    [
        ({"b": (0, 1)}, "'b' is no size or field"),
        ({"a": (0.01, 1)}, "a: expected real in"),
        ({"a": (1, 0.5)}, "a: no interval"),
        ({"a": "x"}, "a: expected .low, high."),
        ({"c": (0.2, 0.3)}, "c: nothing of one of 0.1, 0.5"),
        ({"n": 5}, "n = 5 is out of range"),
    ],
)
def test_a_wrong_box_is_refused(box, message):
    with pytest.raises(UsageError, match=message):
        certify(discrete(), box=box)


def test_fields_without_a_box_need_a_value():
    space = Space(v=UnitVector(2), a=Real(1, 2))
    claim = at_least("short", lambda r: r.x.a * jnp.sum(r.x.v**2), lambda r: 0.999)
    statement = theorem(claim, space=space)
    with pytest.raises(UsageError, match=r"v \(unit vector of length 2\) has no box"):
        certify(statement)
    assert certify(statement, box={"v": [0.6, 0.8]}).exit_code == 0


# What cannot be certified


def test_claims_that_no_enclosure_decides_say_so():
    statement = theorem(
        at_most("sampled", lambda r: r.mean(r.sim["a"]), lambda r: 9.0),
        at_most("limit", lambda r: r.limit(jnp.stack([r.x.a] * 9)), lambda r: 9.0),
        scales_as("power", lambda r: r.x.a, over="n", rungs=(4, 8, 16), exponent=0),
        at_most("unknown", lambda r: jnp.linalg.eigh(jnp.eye(2) * r.x.a)[0], lambda r: 9.0),
        at_most("known", lambda r: r.x.a, lambda r: 9.0),
    )
    report = certify(statement, instance=at(a=1.5, b=1.5))
    outcomes = {c.claim: c.outcome for c in report.certificates}
    assert outcomes.pop("known") is Outcome.CERTIFIED
    assert set(outcomes.values()) == {Outcome.UNSUPPORTED}
    assert report.exit_code == 4
    for name, message in {
        "sampled": "known up to sampling",
        "limit": "known up to limit",
        "power": "scales_as",
        "unknown": "'eigh' in claim 'unknown'",
    }.items():
        with pytest.raises(UsageError, match=message):
            certify(statement, claim=name, instance=at(a=1.5, b=1.5))


def test_an_integrated_path_is_not_certified():
    def simulate(x: Instance, key):
        return x.a * (1 + 0 * x.coarsening)

    statement = theorem(
        at_most("path", lambda r: r.sim, lambda r: 9.0), simulate=simulate, integrates=True
    )
    with pytest.raises(UsageError, match="integrates an ODE"):
        certify(statement, claim="path", instance=at(a=1.5, b=1.5))


def test_bad_requests_are_refused():
    statement = square_claims(at_most("a", lambda r: r.x.a, lambda r: 2.0))
    for request, message in (
        ({"claim": "b"}, "no claim 'b'"),
        ({"instance": at(a=1.0), "box": {}}, "leave out the box"),
        ({"precision": 8}, "at least 32 bits"),
        ({"instance": {"values": {"a": 1.0}, "more": 1}}, "unknown entry 'more'"),
    ):
        with pytest.raises(UsageError, match=message):
            certify(statement, **request)


def test_importing_the_engine_loads_no_enclosures():
    program = "import sys, theorysim.engine.verify; assert 'flint' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
