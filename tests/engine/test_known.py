"""No verdict by the luck of a seed: what the ledger refutes is violated at every one."""

import jax
import pytest
from drawn import thorough

from tests.engine.statements import theorem
from theorysim.claims import Reading, Real, Size, Space, Verdict, at_most
from theorysim.claims.source import Printed
from theorysim.engine.verify import known
from theorysim.engine.verify.verify import verify

NEEDLE = 1.5 + 1e-9


def statement():
    """a <= 2 but for a needle at 1.5 of width 1e-8, which no draw meets; any size n."""
    return theorem(
        at_most("bound", lambda r: r.sim, lambda r: 2.0),
        simulate=lambda x, key: x.a + 1.0 * (abs(x.a - 1.5) < 1e-8),
        space=Space(n=Size(4, high=8), a=Real(1, 2), b=Real(1, 2)),
        readings=(Reading("elsewhere", Printed("Lemma 2", "the same"), predict=lambda x: x.b),),
    )


STATEMENT = statement()


@pytest.fixture
def ledger(monkeypatch):
    """Of the needle, at n = 4."""
    instance = {"sizes": {"n": 4}, "values": {"a": NEEDLE, "b": 1.25}, "key": [0, 1]}
    line = {"theorem": "tests/statement", "reading": "as printed", "claim": "bound"}
    lines = [{**line, "instance": {"theorem": "tests/statement", **instance}}]
    monkeypatch.setattr(known, "errata", lambda: lines)
    return lines


@pytest.mark.parametrize("seed", [0, *map(thorough, (1, 2))])
def test_what_the_ledger_refutes_is_violated_at_every_seed(ledger, seed):
    report = verify(STATEMENT, seed=seed)
    (claim,) = report.readings[0].claims
    assert claim.verdict is Verdict.VIOLATED
    assert claim.lhs == pytest.approx(NEEDLE + 1)
    assert claim.worst_instance is not None and claim.worst_instance["values"]["a"] == NEEDLE
    assert "the draws of this seed do not show it, a known counterexample does" in claim.note
    assert claim.confirmation and report.exit_code == 3
    assert report.readings[1].verdict is Verdict.HOLDS


def test_without_a_ledger_no_draw_meets_the_needle():
    assert verify(STATEMENT).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("settings", "verdict"),
    [
        ({"n": 4}, Verdict.VIOLATED),
        ({"n": 3}, Verdict.HOLDS),
        ({"n": 4, "b": 1.25}, Verdict.VIOLATED),
        ({"n": 4, "b": 1.75}, Verdict.HOLDS),
    ],
)
def test_of_fixed_sizes_and_values_only_their_own_counterexamples_count(ledger, settings, verdict):
    assert verify(STATEMENT, settings=settings).verdict is verdict


def test_a_counterexample_is_tried_again_and_not_believed(ledger):
    """Of a statement that was mended, or whose space no longer holds it, it tells nothing."""
    ledger[0]["instance"]["values"]["a"] = 1.7
    assert verify(STATEMENT).verdict is Verdict.HOLDS
    ledger[0]["instance"]["values"]["a"] = 7.0
    assert verify(STATEMENT).verdict is Verdict.HOLDS
    ledger[0]["instance"]["values"] = {"other": 1.0}
    assert verify(STATEMENT).verdict is Verdict.HOLDS


def test_an_instance_that_is_handed_in_is_judged_alone(ledger):
    with jax.enable_x64(True):
        handed = {"sizes": {"n": 4}, "values": {"a": 1.25, "b": 1.25}}
    assert verify(STATEMENT, instance=handed).verdict is Verdict.HOLDS
