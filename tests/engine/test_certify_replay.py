"""A certificate is a proof that somebody else can check, and a forged one is none."""

import copy
import json
import math

import jax
import jax.numpy as jnp
import pytest

from tests.engine.statements import theorem
from tests.engine.test_certify import PRINTED, at, square_claims
from tests.engine.test_certify_boxes import discrete
from theorysim.claims import Integer, Real, Space, UsageError, at_least, at_most
from theorysim.enclosures import Outcome
from theorysim.engine.certify.certify import certify
from theorysim.engine.certify.formulas import claim_formula
from theorysim.engine.certify.replay import replay
from theorysim.engine.certify.spaces import pieces
from theorysim.engine.measure.setup import select_readings
from theorysim.jaxprs.fingerprint import fingerprint

A28 = "overtraining/lemma-a.28"


def as_file(report):
    """What a JSON file of the report holds."""
    return json.loads(json.dumps(report.as_json(), allow_nan=False))


def faults(statement, data):
    return [one.fault for one in replay(statement, data)]


def hilly():
    """Needs bisections, monotone faces and the mean value; least slack 0.05 within the box."""
    claim = at_most(
        "hills",
        lambda r: jnp.sin(3 * r.x.a) * r.x.b + r.x.a * r.x.b,
        lambda r: jnp.sin(3 * r.x.a) * r.x.b + r.x.a**2 / 2 + r.x.b**2 / 2 + 0.05,
    )
    return theorem(claim, space=Space(a=Real(-1, 1), b=Real(-1, 1)))


@pytest.mark.parametrize(
    "statement, options",
    [
        (square_claims(at_most("e", lambda r: 1 + r.x.a, lambda r: jnp.exp(r.x.a))), {}),
        (square_claims(at_most("s", lambda r: r.x.a, lambda r: 3, where=lambda r: r.x.a)), {}),
        (hilly(), {}),
        (discrete(), {"claim": "bounded"}),
        (discrete(), {"claim": "ordered"}),
        (discrete(), {"claim": "small", "box": {"a": ("0.1", "0.49"), "k": (1, 2), "n": 3}}),
        (discrete(), {"claim": "path"}),
    ],
)
def test_what_is_certified_over_a_box_is_proved_again(statement, options):
    report = certify(statement, max_boxes=4000, **options)
    assert report.outcome is Outcome.CERTIFIED
    assert set(faults(statement, as_file(report))) == {""}


def test_what_is_certified_at_an_instance_is_proved_again():
    data = {"sizes": {"steps": 2}, "values": PRINTED}
    report = certify(A28, claim="rate", instance=data)
    found = {one.reading: one for one in replay(A28, as_file(report))}
    assert found["Section A.6"].outcome is Outcome.VIOLATED and not found["Section A.6"].fault
    assert found["corrected"].outcome is Outcome.CERTIFIED and not found["corrected"].fault
    data = {"sizes": {"steps": 20}, "values": {**PRINTED, "sigma": 1.3, "step_share": 0.7}}
    undecided = certify(A28, claim="f is the descent step", reading="corrected", instance=data)
    assert faults(A28, as_file(undecided)) == ["not proved: it claims no proof"]


def forged(statement, change, **options):
    data = as_file(certify(statement, **options))
    change(data)
    return faults(statement, data)


BOUND = square_claims(at_most("square", lambda r: r.x.a**2 - r.x.a**3, lambda r: 2.1))


def test_a_box_with_leaves_cut_off_is_not_proved():
    def forget_a_cut(data):
        (tree,) = data["certificates"][0]["trees"]
        del tree["cuts"][min(tree["cuts"], key=len)]

    def cut_outside(data):
        (tree,) = data["certificates"][0]["trees"]
        tree["cuts"][""] = [0, -3.0]

    assert "not certain on" in forged(BOUND, forget_a_cut)[0]
    assert "not within" in forged(BOUND, cut_outside)[0]


def test_a_larger_box_or_a_missing_part_is_not_proved():
    def enlarge(data):
        data["given"] = {"k": [0, 3]}

    options = {"claim": "bounded", "box": {"k": (1, 3)}}
    assert forged(discrete(), lambda data: None, **options) == [""]
    assert "no tree" in forged(discrete(), enlarge, **options)[0]
    small = square_claims(at_most("a", lambda r: r.x.a, lambda r: 1.5))

    def everywhere(data):
        data["given"] = {}

    assert "not certain on" in forged(small, everywhere, box={"a": (0, 1)})[0]


def test_another_outcome_claim_or_statement_is_not_proved():
    statement = square_claims(at_most("a", lambda r: r.x.a, lambda r: 1.5))

    def opposite(data):
        data["certificates"][0]["outcome"] = "certified violated"

    assert "sign" in forged(statement, opposite, instance=at(a=1.0))[0]
    data = as_file(certify(statement, instance=at(a=1.0)))
    other = square_claims(at_most("a", lambda r: r.x.a, lambda r: 1.6))
    assert "program is another one" in faults(other, data)[0]
    moved = copy.deepcopy(data)
    moved["certificates"][0]["instance"]["values"]["a"] = 1.6
    assert "sign" in faults(statement, moved)[0]
    for broken in ({}, {**data, "certificates": [{}]}, {**data, "settings": {}}):
        with pytest.raises(UsageError, match="certificate"):
            replay(statement, broken)


def test_hypotheses_must_be_met_at_an_instance():
    statement = square_claims(
        at_most("a", lambda r: r.x.a, lambda r: 1.5), hypotheses={"small": lambda x: 1.2 - x.a}
    )
    data = as_file(certify(statement, instance=at(a=1.0)))
    data["certificates"][0]["instance"]["values"]["a"] = 1.3
    assert "hypotheses" in faults(statement, data)[0]


# The key


def noisy(sample):
    return theorem(
        at_most("y N <= 0", lambda r: r.sim, lambda r: 0.0),
        simulate=lambda x, key: x.a * sample(key),
        predict=lambda x: (),
    )


@pytest.mark.parametrize(
    "sample",
    [
        jax.random.normal,
        lambda key: jax.random.uniform(key) - 0.99,
        lambda key: jax.random.bernoulli(key) - 1.0,
        lambda key: -1.0 * jax.random.randint(key, (), 0, 5),
    ],
)
def test_a_box_is_refused_where_the_key_enters(sample):
    with pytest.raises(UsageError, match="depends on the random key"):
        certify(noisy(sample), claim="y N <= 0", box={"a": (1, 2)})
    report = certify(noisy(sample))
    assert report.outcome is Outcome.UNSUPPORTED


def test_at_an_instance_the_key_is_printed_and_part_of_the_proof():
    statement = noisy(jax.random.normal)
    outcomes = set()
    for seed in range(8):
        instance = {"values": {"a": 1.5, "b": 1.0}, "key": [0, seed]}
        report = certify(statement, instance=instance)
        outcomes.add(report.outcome)
        assert f"for this key only: [0, {seed}]" in str(report)
        data = as_file(report)
        assert data["certificates"][0]["random"]
        assert faults(statement, data) == [""]
        del data["certificates"][0]["instance"]["key"]
        assert "key is missing" in faults(statement, data)[0]
    assert outcomes == {Outcome.CERTIFIED, Outcome.VIOLATED}
    free = square_claims(at_most("a", lambda r: r.x.a, lambda r: 2.0))
    assert "key" not in str(certify(free, instance=at(a=1.0)))


def test_integers_that_overflow_are_not_certified():
    """n! for n <= 25 as an int64: negative from 21 on."""
    statement = theorem(
        at_least(
            "positive",
            lambda r: jnp.prod(jnp.where(jnp.arange(1, 26) <= r.x.n, jnp.arange(1, 26), 1)),
            lambda r: 1.0,
        ),
        space=Space(n=Integer(1, 25)),
        simulate=lambda x, key: x.n,
        predict=lambda x: (),
    )
    assert certify(statement, box={"n": (1, 20)}).outcome is Outcome.CERTIFIED
    whole = certify(statement)
    assert whole.outcome is Outcome.UNSUPPORTED
    assert "int64 cannot hold" in whole.certificates[0].note


# What a certificate states beside its proof


def first(name, value):
    return lambda data: data["certificates"][0].update({name: value})


def whole(name, value):
    return lambda data: data.update({name: value})


@pytest.mark.parametrize(
    "change",
    [
        whole("box", {"a": "-1e9:1e9"}),
        whole("title", "another"),
        whole("primary", "another"),
        whole("outcome", "certified violated"),
        whole("mode", "instance"),
        first("claim", ["square"]),
        first("claim", None),
        first("reading", None),
        first("kind", "equal"),
        first("slack", "[55 +/- 1]"),
        first("numbers", {"a": "99"}),
        first("instance", {"values": {"a": 99}}),
        first("note", "for all a"),
        first("boxes", 1),
        first("depth", 99),
        first("precision", 10**9),
    ],
)
def test_what_is_stated_of_a_box_is_what_was_proved(change):
    assert "not proved" in forged(BOUND, change)[0]


@pytest.mark.parametrize(
    "change",
    [
        *(first(name, "[3 +/- 1e-9]") for name in ("lhs", "rhs", "slack")),
        first("numbers", {"a": "0.7", "b": "1"}),
        first("place", [7]),
        first("entries", 700),
        first("note", "none"),
        first("instance", "instance.json"),
        whole("box", {"a": "0:1"}),
    ],
)
def test_what_is_stated_of_an_instance_is_what_was_proved(change):
    assert "not proved" in forged(BOUND, change, instance=at(a=1.0))[0]


def test_a_violation_as_small_as_rounding_stays_marked():
    claim = at_most("less", lambda r: 1 + r.x.a * 1e-15, lambda r: 1.0)
    options = {"instance": at(a=1.0)}
    assert "below the rounding" in certify(square_claims(claim), **options).certificates[0].note
    assert forged(square_claims(claim), lambda data: None, **options) == [""]
    assert "its note" in forged(square_claims(claim), first("note", ""), **options)[0]


@pytest.mark.parametrize("options", [{}, {"instance": at(a=0.5)}])
def test_a_claim_that_speaks_of_nothing_is_not_proved(options):
    nowhere = square_claims(
        at_most("v", lambda r: 9.0 + r.x.a, lambda r: 0.0, where=lambda r: -2 - r.x.a**2)
    )
    data = as_file(certify(nowhere, **options))
    assert data["outcome"] == "outside the hypotheses"
    with jax.enable_x64(True):
        (reading,) = select_readings(nowhere, None, "v")
        (piece,) = pieces(nowhere.space, {})
        formula = claim_formula(nowhere, reading, reading.claims[0], piece.sizes)
        program = fingerprint(formula.program)
    tree = {"piece": piece.what_matters(formula.needs), "program": program, "cuts": {}}
    forgery = {"outcome": "certified", "trees": [tree], "program": program, "precision": 64}
    data["certificates"][0].update(forgery)
    data["outcome"] = "certified"
    assert "speak" in faults(nowhere, data)[0]


@pytest.mark.parametrize(
    "change",
    [
        whole("certificates", []),
        whole("given", []),
        whole("given", "a"),
        first("precision", math.inf),
        first("trees", 5),
    ],
)
def test_what_is_no_certificate_is_refused(change):
    with pytest.raises(UsageError, match="no complete certificate"):
        forged(BOUND, change)
