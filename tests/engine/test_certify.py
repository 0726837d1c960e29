"""Certificates: what is certain at an instance and over a box, and what must never be certified."""

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
    Instance,
    InstanceError,
    Mutant,
    Orthogonal,
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
    equal,
    scales_as,
    strict,
)
from theorysim.enclosures import Outcome
from theorysim.engine.certify.certify import certify
from theorysim.engine.falsify.falsify import falsify
from theorysim.numerics.descent import iterate

A28 = "overtraining/lemma-a.28"
PRINTED = {"sigma": 1.0, "sigma_0": 2.0, "lam": 0.0, "step_share": 0.5}


def at(**values):
    return {"sizes": {}, "values": values}


def square_claims(*claims, **more) -> Theorem:
    return theorem(*claims, space=Space(a=Real(-1, 2)), **more)


# Points


def test_the_printed_counterexample_of_lemma_a_28_is_certified(tmp_path):
    """f(2) = 1.625, f(1.625) = 1.458...; sigma* is printed as 2, where it is 1: no contraction."""
    data = {"sizes": {"steps": 2}, "values": PRINTED}
    path = tmp_path / "instance.json"
    path.write_text(json.dumps(data))
    report = certify(A28, claim="rate", instance=path)
    printed = report.certificate("Section A.6", "rate")
    assert printed.outcome is Outcome.VIOLATED
    f = lambda w: w + w * (1 - w * w) / 16  # noqa: E731  # eta = 1 / (4 * 2 * 2^2)
    assert printed.lhs == f"{float(2 - f(f(Fraction(2)))):.20f}"[: len(printed.lhs)]
    assert float(printed.rhs) == 0
    assert printed.numbers == {"sigma": "1.0", "sigma_0": "2.0", "lam": "0.0", "step_share": "0.5"}
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
    below = at_most("strict", lambda r: r.x.a, lambda r: 1.0, strict=True)
    loose = at_most("loose", lambda r: r.x.a, lambda r: 1.0)
    given = at_most("given", lambda r: r.x.a, lambda r: 1.0, where=lambda r: 0.5 - r.x.a)
    edge = at_most("edge", lambda r: r.x.a, lambda r: 0.0, where=lambda r: r.x.a - 1)
    inside = at_most("inside", lambda r: r.x.a, lambda r: 0.0, where=strict(lambda r: r.x.a - 1))
    report = certify(square_claims(below, loose, given, edge, inside), instance=at(a=1.0))
    outcomes = {c.claim: c.outcome for c in report.certificates}
    assert outcomes == {
        "strict": Outcome.VIOLATED,
        "loose": Outcome.CERTIFIED,
        "given": Outcome.OUTSIDE,
        "edge": Outcome.VIOLATED,
        "inside": Outcome.OUTSIDE,
    }
    report = certify(square_claims(inside), instance=at(a=1.5))
    assert report.outcome is Outcome.VIOLATED


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
    claim = at_most("a", lambda r: r.x.a, lambda r: 0.4, where=lambda r: 0.5 - r.x.a)
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
        mutants=(Mutant("none", claims=()),),
        id="tests/spectrum",
    )
    assert certify(statement, instance=at(s=[0.33, 0.3])).outcome is Outcome.CERTIFIED
    with pytest.raises(InstanceError, match=r"s \(.*1\.1 times the next\).*missed by rounding"):
        certify(statement, instance=at(s=[0.1 * 1.1, 0.1 * (1 + 2**-52)]))


# What cannot be certified


def test_claims_that_no_enclosure_decides_say_so():
    statement = theorem(
        at_most("sampled", lambda r: r.mean(r.sim["a"]), lambda r: 9.0),
        at_most("limit", lambda r: r.limit(jnp.stack([r.x.a] * 9)), lambda r: 9.0),
        scales_as("power", lambda r: r.x.a, over={"n": (4, 8, 16)}, exponent=0),
        at_most("unknown", lambda r: jnp.linalg.svd(jnp.eye(2) * r.x.a)[0], lambda r: 9.0),
        at_most("known", lambda r: r.x.a, lambda r: 9.0),
        keys=64,
    )
    report = certify(statement, instance=at(a=1.5, b=1.5))
    outcomes = {c.claim: c.outcome for c in report.certificates}
    assert outcomes.pop("known") is Outcome.CERTIFIED
    assert set(outcomes.values()) == {Outcome.UNSUPPORTED}
    assert report.exit_code == 4
    for name, message in {
        "sampled": "has an error of sampling",
        "limit": "has an error of limit",
        "power": "scales_as",
        "unknown": "'svd with vectors' in claim 'unknown'",
    }.items():
        with pytest.raises(UsageError, match=message):
            certify(statement, claim=name, instance=at(a=1.5, b=1.5))


def test_an_integrated_path_is_not_certified():
    def simulate(x: Instance, key):
        return x.a * (1 + 0 * x.tolerance_scale)

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
    program = "import sys, theorysim.engine.verify.verify; assert 'flint' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
