"""Kinds of claims: true ones hold, planted errors are caught, noise and NaN decide nothing."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough

from tests.engine.statements import noisy_mean, theorem, verdict_of, verdicts_of
from theorysim.claims import (
    Mutant,
    Verdict,
    at_least,
    at_most,
    decreasing,
    equal,
    increasing,
    strict,
    with_probability,
)
from theorysim.engine.verify.mutation import mutation
from theorysim.engine.verify.verify import verify
from theorysim.errors import UsageError

EPS = np.finfo(np.float64).eps


def test_a_true_equality_holds_and_refutes_its_mutant():
    statement = theorem(equal("a", lambda r: r.sim["a"], lambda r: r.theory["a"]))
    assert verdict_of(statement) is Verdict.HOLDS
    assert mutation(statement).killed_by("a") == ("false",)
    assert verdict_of(statement, reading="false") is Verdict.VIOLATED


def test_an_equality_off_by_a_hair_beyond_its_rounding_is_caught():
    hair = 64 * EPS
    statement = theorem(equal("a", lambda r: r.sim["a"] * (1 + hair), lambda r: r.theory["a"]))
    assert verdict_of(statement) is Verdict.VIOLATED


def test_an_equality_reached_by_another_order_of_summation_is_not_refuted():
    def simulate(x, key):
        terms = x.a / jnp.arange(1, 2001, dtype=x.a.dtype)
        return {"a": jax.lax.scan(lambda s, t: (s + t, None), 0 * x.a, terms)[0]}

    def predict(x):
        terms = x.a / jnp.arange(1, 2001, dtype=x.a.dtype)
        return {"a": jax.lax.scan(lambda s, t: (s + t, None), 0 * x.a, terms[::-1])[0]}

    mutant = Mutant("false", predict=lambda x: {"a": x.a * 8.18})
    statement = theorem(
        equal("sum", lambda r: r.sim["a"], lambda r: r.theory["a"]),
        simulate=simulate,
        predict=predict,
        mutant=mutant,
    )
    assert verdict_of(statement) is Verdict.HOLDS


def test_nan_never_passes():
    claims = (
        kind(kind.__name__, lambda r: r.sim["a"] * jnp.nan, lambda r: r.theory["a"])
        for kind in (equal, at_most, at_least)
    )
    assert verdicts_of(theorem(*claims)) == 3 * [Verdict.INCONCLUSIVE]


def test_one_nan_among_many_instances_keeps_a_claim_from_holding():
    def simulate(x, key):
        return {"a": jnp.where(x.b > 1.97, jnp.nan, x.a)}

    statement = theorem(at_most("a", lambda r: r.sim["a"], lambda r: 3.0), simulate=simulate)
    assert verdict_of(statement, instances=200) is Verdict.INCONCLUSIVE


def test_a_diverging_run_keeps_a_bound_from_holding():
    def simulate(x, key):
        return {"a": x.a * jnp.inf}

    statement = theorem(at_most("a", lambda r: r.sim["a"], lambda r: 3.0), simulate=simulate)
    assert verdict_of(statement) is not Verdict.HOLDS


@pytest.mark.parametrize(
    ("make", "factor", "expected"),
    [
        (at_most, 1.001, Verdict.HOLDS),
        (at_most, 1.0, Verdict.HOLDS),  # attained: a tie at the level of rounding
        (at_most, 1 - 256 * EPS, Verdict.VIOLATED),
        (at_least, 0.999, Verdict.HOLDS),
        (at_least, 1.0, Verdict.HOLDS),
        (at_least, 1 + 256 * EPS, Verdict.VIOLATED),
    ],
)
def test_inequalities(make, factor, expected):
    statement = theorem(make("a", lambda r: r.sim["a"], lambda r: factor * r.theory["a"]))
    assert verdict_of(statement) is expected


def test_a_strict_inequality_does_not_allow_a_tie():
    statement = theorem(at_most("a", lambda r: r.sim["a"], lambda r: r.theory["a"], strict=True))
    assert verdict_of(statement) is Verdict.INCONCLUSIVE


def test_tightness_is_the_worst_ratio():
    statement = theorem(at_most("a", lambda r: r.sim["a"], lambda r: 4 * r.theory["a"]))
    (claim,) = verify(statement, instances=32).readings[0].claims
    assert claim.tightness == pytest.approx(0.25, rel=4 * EPS)


@pytest.mark.parametrize("make", [increasing, decreasing])
@pytest.mark.parametrize("slope", [1.0, -1.0])
def test_monotone_sequences(make, slope):
    statement = theorem(make("path", lambda r: r.sim["a"] * slope * jnp.arange(5.0)))
    rising = slope > 0
    expected = Verdict.HOLDS if rising == (make is increasing) else Verdict.VIOLATED
    assert verdict_of(statement) is expected


def test_a_condition_of_a_claim_masks_points():
    bad_tail = lambda r: r.sim["a"] * jnp.asarray([0.0, 1, 2, 1])  # noqa: E731
    mask = lambda r: jnp.asarray([1.0, 1, -1])  # noqa: E731
    edge = lambda r: jnp.asarray([1.0, 1, 0])  # noqa: E731
    everywhere, masked, to_the_edge, inside = verdicts_of(
        theorem(
            increasing("everywhere", bad_tail),
            increasing("masked", bad_tail, where=mask),
            increasing("to the edge", bad_tail, where=edge),
            increasing("inside", bad_tail, where=strict(edge)),
        )
    )
    assert everywhere is to_the_edge is Verdict.VIOLATED
    assert masked is inside is Verdict.HOLDS


def test_a_claim_whose_condition_is_never_met_is_vacuous():
    statement = theorem(at_most("a", lambda r: r.sim["a"], lambda r: 3.0, where=lambda r: -1.0))
    assert verdict_of(statement) is Verdict.VACUOUS


def test_a_space_without_satisfying_instances_is_vacuous():
    statement = theorem(
        at_most("a", lambda r: r.sim["a"], lambda r: 3.0),
        hypotheses={"a above three": lambda x: x.a - 3},
    )
    report = verify(statement, instances=32)
    assert report.verdict is Verdict.VACUOUS
    assert report.exit_code == 4
    (hypothesis,) = report.readings[0].hypotheses
    assert hypothesis.satisfied == 0
    assert -2 <= hypothesis.worst_margin < -1


def test_a_nan_margin_is_not_satisfied():
    statement = theorem(
        at_most("a", lambda r: r.sim["a"], lambda r: 3.0),
        hypotheses={"undefined": lambda x: x.a * jnp.nan},
    )
    assert verdict_of(statement) is Verdict.VACUOUS


def test_instances_outside_the_hypotheses_are_not_judged():
    statement = theorem(
        at_most("a", lambda r: r.sim["a"], lambda r: 1.5),
        hypotheses={"a below 1.5": lambda x: 1.5 - x.a},
    )
    report = verify(statement, instances=64)
    assert report.verdict is Verdict.HOLDS
    assert report.readings[0].claims[0].checked == 64


@pytest.mark.thorough
def test_a_noisy_mean_is_not_refuted_and_a_planted_offset_is():
    assert verdict_of(noisy_mean()) is Verdict.HOLDS
    ten_standard_errors = 10 * 0.1 / np.sqrt(256)
    assert verdict_of(noisy_mean(offset=ten_standard_errors)) is Verdict.VIOLATED


def test_means_need_whole_batches():
    with pytest.raises(UsageError, match="multiple of 64"):
        verify(noisy_mean(keys=100))


@pytest.mark.parametrize(
    ("chance", "printed", "expected"),
    [
        (0.95, 0.6, Verdict.HOLDS),
        (0.5, 0.9, Verdict.VIOLATED),
        (1.0, 0.999999, Verdict.INCONCLUSIVE),
        (1.0, 1.0, Verdict.INCONCLUSIVE),  # frequencies never prove certainty
        (0.5, -0.1, Verdict.VACUOUS),
    ],
)
def test_probabilities(chance, printed, expected):
    statement = theorem(
        with_probability(
            "event",
            lambda r: r.sim["draw"],
            lambda r: chance,
            at_least=lambda r: printed,
        ),
        simulate=lambda x, key: {"draw": jax.random.uniform(key)},
        keys=256,
    )
    report = verify(statement, instances=16)
    assert report.verdict is expected
    if printed == 0.999999:
        assert "keys without a failure" in report.readings[0].claims[0].note


def test_the_keys_that_would_decide_are_those_at_the_measured_frequency():
    """With 5 % of failures no number of keys without a failure comes; 1e3 to 1e5 keys decide."""
    statement = theorem(
        with_probability("event", lambda r: r.sim["draw"], lambda r: 0.95, at_least=lambda r: 0.94),
        simulate=lambda x, key: {"draw": jax.random.uniform(key)},
        keys=256,
    )
    claim = verify(statement, instances=4).readings[0].claims[0]
    assert claim.verdict is Verdict.INCONCLUSIVE and "without a failure" not in claim.note
    (keys,) = re.findall(r"about (\S+) keys would decide", claim.note)
    assert 1e3 <= float(keys)


def test_an_integrator_that_is_not_declared_passes_nothing():
    statement = theorem(
        equal("a", lambda r: r.sim["a"], lambda r: r.theory["a"]),
        simulate=lambda x, key: {"a": x.a * x.tolerance_scale},
    )
    assert verdict_of(statement) is Verdict.INCONCLUSIVE


def test_the_integrator_error_is_the_change_under_coarser_tolerances():
    statement = theorem(
        equal("a", lambda r: r.sim["a"], lambda r: r.theory["a"]),
        simulate=lambda x, key: {"a": x.a * (1 + 1e-9 * x.tolerance_scale)},
        integrates=True,
    )
    report = verify(statement, instances=32)
    assert report.verdict is Verdict.HOLDS
    part = report.readings[0].claims[0].error_parts["integrator"]
    assert 1e-8 < part < 1e-7


def test_claims_asked_for_are_checked_alone_on_the_same_instances():
    statement = theorem(
        at_most("sum", lambda r: r.sim["a"] + r.x.b, lambda r: 5.0),
        at_most("product", lambda r: r.sim["a"] * r.x.b, lambda r: 3.0),
    )
    whole = {claim.name: claim for claim in verify(statement, instances=64).readings[0].claims}
    (alone,) = verify(statement, claims=["product"], instances=64).readings[0].claims
    assert str(alone) == str(whole["product"])
    with pytest.raises(UsageError, match=r"no claim 'quotient'; it has .*'product', 'sum'"):
        verify(statement, claims=["quotient"])


def test_an_equality_excludes_no_mutant_by_errors_smaller_than_its_own():
    """The end is known to 70 percent; the mutant, which has no error itself, is 50 percent off."""
    coarse = theorem(
        equal("limit", lambda r: r.limit(r.sim["path"]), lambda r: r.theory["a"]),
        simulate=lambda x, key: {"path": x.a * (1 - 0.95 ** jnp.arange(20.0))},
        mutant=Mutant(
            "false",
            simulate=lambda x, key: {"path": jnp.full(20, x.a)},
            predict=lambda x: {"a": 1.5 * x.a},
        ),
    )
    assert verdict_of(coarse) is Verdict.INCONCLUSIVE


def test_a_printed_probability_without_a_number_is_open():
    def never(share):
        return with_probability(
            f"never {share}",
            lambda r: r.sim["a"],
            lambda r: jnp.where(r.x.a > 1.5, 0.5, 3.0),
            at_least=lambda r: jnp.where(r.x.a > 1.5, share, 0.5),
        )

    found = verdicts_of(theorem(*map(never, (jnp.nan, 0.5, 0.0)), keys=64))
    assert found == [Verdict.INCONCLUSIVE, Verdict.VIOLATED, Verdict.HOLDS]


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (equal("a", lambda r: r.sim["a"] / 0 * 0, lambda r: r.x.a), "a side is not a number (NaN)"),
        (at_most("a", lambda r: r.x.a / 0, lambda r: r.x.b / 0), "a side is infinite"),
        thorough(
            equal("a", lambda r: r.limit(r.sim["path"]), lambda r: r.x.a), "converge geometrically"
        ),
    ],
)
def test_why_nothing_is_decided_names_what_is_no_number(claim, reason):
    """A NaN in a side was once laid to rounding."""
    steps = jnp.arange(1.0, 200)
    found = verify(
        theorem(claim, simulate=lambda x, key: {"a": x.a, "path": x.a + 1 / steps}), instances=4
    )
    assert found.verdict is Verdict.INCONCLUSIVE
    note = found.readings[0].claims[0].note
    assert reason in note and "perturbed" not in note
