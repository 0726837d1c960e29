"""What a theorem refuses when it is declared: names that collide, and claims that say nothing."""

import jax.numpy as jnp
import pytest

from theorysim.claims import (
    Assumption,
    Finding,
    Mutant,
    Printed,
    Reading,
    Real,
    Space,
    Theorem,
    Verdict,
    at_least,
    at_most,
    corrected,
    exists_constant,
    strict,
    with_probability,
)
from theorysim.engine.verify.verify import verify
from theorysim.errors import UsageError

CLAIM = at_least("c", lambda r: r.sim, lambda r: 1.0)


def theorem(**parts):
    given = {"space": Space(a=Real(1, 2)), "simulate": lambda x, key: x.a, "claims": (CLAIM,)}
    return Theorem(**{**given, **parts})


def assuming(name, least, **margins):
    return Assumption(name, Printed("A", name), {"large": lambda x: x.a - least, **margins})


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"claims": ()}, "says nothing"),
        ({"keys": 0}, "keys = 0"),
        ({"claims": (CLAIM, CLAIM)}, "of one name"),
        ({"printed": "a | b"}, "stands between"),
        ({"mutants": (Mutant("as printed"),)}, "readings and mutants of one name"),
        ({"mutants": (Mutant("m", of=("nosuch",)),)}, "which is not a reading"),
        ({"mutants": (Mutant("m", claims=(CLAIM, CLAIM.scaled(2))),)}, "of one name"),
        ({"mutants": (Mutant("m", of=("as printed", "as printed")),)}, "of one name"),
        ({"mutants": (Mutant("m", breaks=("d",)),)}, "about 'd', which is not a claim"),
        ({"survivors": {"d": "because"}}, "is not a claim"),
        ({"readings": (Reading("as printed", Finding("x")),)}, "of one name"),
        ({"readings": (Reading("r", Finding("x"), primary=True, claims=()),)}, "says nothing"),
        ({"assumes": (assuming("A", 1.0), assuming("B", 0.5))}, "two different margins"),
        (
            {"assumes": (assuming("A", 1.0),), "hypotheses": {"large": lambda x: x.a}},
            "two different margins",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(parts, message):
    with pytest.raises(ValueError, match=message):
        theorem(**parts)


def test_a_source_is_one():
    """Where nothing checks annotations, as in a user's file."""
    statement = theorem()
    object.__setattr__(statement, "source", "a paper")
    with pytest.raises(ValueError, match="expected Printed"):
        statement.__post_init__()


def test_a_corrected_reading_is_primary_and_inherits_the_rest():
    bound = at_most("c", lambda r: r.sim, lambda r: 2.0)
    repaired = theorem(readings=(corrected("2 for 1", claims=(bound,), note="why"),))
    primary = repaired.primary()
    assert (primary.name, str(primary.source)) == ("corrected", "corrected: 2 for 1")
    assert (primary.claims, primary.note) == ((bound,), "why")
    assert primary.simulate is repaired.simulate
    named = theorem(readings=(corrected("2 for 1", name="proof, corrected"),))
    assert named.primary().name == "proof, corrected"


def test_a_mutant_keeps_the_rules_of_claims():
    ladder = exists_constant("c", lambda r: r.sim, lambda r: 1.0, over={"zzz": (1.0, 2.0, 4.0)})
    with pytest.raises(ValueError, match="'zzz'"):
        theorem(mutants=(Mutant("m", claims=(ladder,)),))
    likely = with_probability("c", lambda r: 0.0, lambda r: r.sim, at_least=lambda r: 0.5)
    with pytest.raises(ValueError, match="over one key"):
        theorem(mutants=(Mutant("m", claims=(likely,)),))


def test_a_probability_leads_with_the_axis_of_keys():
    free = with_probability("c", lambda r: jnp.zeros(2000), lambda r: 1.0, at_least=lambda r: 0.999)
    with pytest.raises(UsageError, match="the axis of the 2 keys"):
        verify(theorem(claims=(free,), keys=2))


def test_a_margin_of_zero_meets_a_hypothesis_only_if_it_is_not_strict():
    """At a = 1, the only instance: a - 1 >= 0 is met, a - 1 > 0 is not."""
    one = Space(a=Real(1, 1))
    loose = theorem(space=one, hypotheses={"a >= 1": lambda x: x.a - 1})
    assert verify(loose).verdict is Verdict.HOLDS
    assert verify(theorem(space=one, hypotheses={"a > 1": strict(lambda x: x.a - 1)})).verdict is (
        Verdict.VACUOUS
    )


def test_assumptions_are_shared_and_can_be_met():
    positive = assuming("A", 1.5)
    shared = theorem(assumes=(positive,), hypotheses={"small": lambda x: 1.9 - x.a})
    assert list(shared.primary().hypotheses) == ["large", "small"]
    met = theorem(claims=positive.can_be_met())
    assert verify(met).verdict is Verdict.HOLDS
    never = theorem(claims=assuming("B", 3.0).can_be_met())
    assert verify(never).verdict is Verdict.INCONCLUSIVE


def test_a_mutant_breaks_the_claims_that_it_names_or_all_that_it_changes():
    other = at_most("d", lambda r: r.sim, lambda r: 3.0)
    primary = theorem(claims=(CLAIM, other)).primary()

    def touched(**parts):
        mutant = Mutant("m", **parts)
        return [claim.name for claim in primary.claims if mutant.touches(primary, claim)]

    assert touched(predict=lambda x: 0.0) == ["c", "d"]
    assert touched(predict=lambda x: 0.0, breaks=("d",)) == ["d"]
    assert touched(claims=(CLAIM.scaled(2),)) == ["c"]
