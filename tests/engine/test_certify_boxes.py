"""Certificates over a box of a theorem's space."""

from fractions import Fraction

import jax.numpy as jnp
import pytest

from tests.engine.statements import theorem
from theorysim.claims import (
    Choice,
    Integer,
    Mutant,
    Real,
    Size,
    Space,
    Spectrum,
    Theorem,
    UnitVector,
    UsageError,
    at_least,
    at_most,
    decreasing,
)
from theorysim.enclosures import Outcome
from theorysim.engine.certify.certify import certify


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
                "small", lambda r: r.x.a**r.x.k, lambda r: r.x.c + 0.4, where=lambda r: r.x.k - 1
            ),
            at_least("ordered", lambda r: r.x.s[0] - r.x.s[-1], lambda r: -0.1),
            decreasing("path", lambda r: r.x.s + 0.1 * jnp.arange(r.x.n)[::-1]),
        ),
        mutants=(Mutant("none", claims=()),),
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
    ends = {"s[0]": "0.1:1", "s[1]": "0.1:1", "s[2]": "0.1:1"}
    whole = {"n": "2, 3", "k": "1, 2", "c": "0.1, 0.5", "a": "0.1:0.49", **ends}
    assert {name: text.replace("1.0", "1") for name, text in held.box.items()} == whole
    assert "a = 0.1:0.49" in str(held)


@pytest.mark.parametrize(
    "box, message",
    [
        ({"b": (0, 1)}, "'b' is not a size or field"),
        ({"a": (0.01, 1)}, "a: expected real in"),
        ({"a": (1, 0.5)}, "a: expected low <= high"),
        ({"a": "x"}, "a: expected .low, high."),
        ({"c": (0.2, 0.3)}, "c: nothing of one of 0.1, 0.5"),
        ({"n": 5}, "n = 5 is out of range"),
        ({"n": 2.5}, "n: no integer lies in"),
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
