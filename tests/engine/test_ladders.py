"""Ladders: on which instances they climb; what is undefined or drowned in errors never holds."""

import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough

from tests.engine.statements import no_edge, theorem
from theorysim.claims import (
    Printed,
    Reading,
    Real,
    Size,
    Space,
    Verdict,
    exists_constant,
    scales_as,
    tends_to,
)
from theorysim.claims.evidence import Evidence, Measurement
from theorysim.engine.measure import draw as drawing
from theorysim.engine.measure.draw import DRAW_CHUNK
from theorysim.engine.measure.ladders import Ladders
from theorysim.engine.verify.verify import verify
from theorysim.errors import UsageError

RUNGS = (1.0, 2.0, 4.0, 8.0)
ROWS = 8


def one(_):
    return 1.0


LIMIT = tends_to(
    "limit",
    one,
    one,
    over={"b": RUNGS},
)
POWER = scales_as("power", one, over={"b": RUNGS}, exponent=1, relation="at_most")
CONSTANT = exists_constant("constant", one, one, over={"b": RUNGS})


def measurement(lhs, rhs, error, applies=True):
    """One point per instance, whose error no instances share."""
    shape = np.shape(lhs)
    none = np.zeros(shape)
    return Measurement(
        lhs=np.asarray(lhs, float),
        rhs=np.broadcast_to(np.asarray(rhs, float), shape),
        applies=np.broadcast_to(applies, shape),
        edge=no_edge(len(lhs)),
        probability=np.zeros(len(lhs)),
        rounding=np.zeros(len(lhs)),
        integrator=np.zeros(len(lhs)),
        limit=np.broadcast_to(np.asarray(error, float), shape),
        sampling=none,
        skewness=none,
        bias=none,
        extremes=np.zeros((len(lhs), 0)),
        by_key=np.zeros(len(lhs), bool),
    )


def judge(claim, paths, error=1e-9, rhs=0.0, applies=True, rungs=RUNGS):
    """Of quantities (instances x rungs), with errors of that shape or one for all."""
    paths = np.asarray(paths, float)
    errors = np.broadcast_to(np.asarray(error, float), paths.shape)
    applies = np.broadcast_to(applies, paths.shape)
    ladder = [
        (rung, measurement(paths[:, i], rhs, errors[:, i], applies[:, i]))
        for i, rung in enumerate(rungs)
    ]
    return claim.judge(Evidence(ladder[0][1], {"b": ladder}))


def verdict(*args, **more):
    """The verdict alone."""
    return judge(*args, **more).verdict


def rows(*shapes):
    """So many instances of each path over the rungs."""
    return np.concatenate([np.tile(path, (count, 1)) for count, path in shapes])


FALLING = (1.0, 0.5, 0.25, 0.125)
CONSTANT_DISTANCE = (0.5, 0.5, 0.5, 0.5)
RUNG = np.array(RUNGS)


def test_a_limit_holds_where_the_distance_falls_or_ends_far_below_it():
    assert verdict(LIMIT, rows((ROWS, FALLING))) is Verdict.HOLDS
    assert verdict(LIMIT, rows((ROWS, (1.0, 0.1, 0.01, 0.0)))) is Verdict.HOLDS
    assert verdict(LIMIT, rows((ROWS, CONSTANT_DISTANCE))) is Verdict.VIOLATED


def test_a_limit_is_not_reached_within_an_error_as_large_as_the_distance():
    assert verdict(LIMIT, rows((ROWS, CONSTANT_DISTANCE)), error=1.0) is Verdict.INCONCLUSIVE


def test_a_limit_reached_by_one_instance_of_many_is_open():
    errors = rows((1, (1e-9,) * 4), (7, (np.nan,) * 4))
    paths = rows((1, (1.0, 0.1, 0.01, 0.0)), (7, CONSTANT_DISTANCE))
    assert verdict(LIMIT, paths, errors) is Verdict.INCONCLUSIVE


def test_a_distance_that_rises_out_of_its_error_keeps_a_limit_open():
    paths = rows((7, (1.0, 0.1, 0.01, 0.0)), (1, (0.0, 1.0, 1.0, 1.0)))
    assert verdict(LIMIT, paths) is Verdict.INCONCLUSIVE


def test_an_attained_limit_is_seen_against_the_sides():
    """Both sides are 1 on all rungs: there is no first distance to compare the error with."""
    paths = np.ones((ROWS, 4))
    assert verdict(LIMIT, paths, error=1e-6, rhs=1.0) is Verdict.HOLDS
    assert verdict(LIMIT, paths, error=0.1, rhs=1.0) is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("blank", [np.nan, np.inf])
def test_a_power_that_some_instances_do_not_show_is_open(blank):
    paths = rows((ROWS, RUNG))
    assert verdict(POWER, paths, rhs=1.0) is Verdict.HOLDS
    paths[-1, -1] = blank
    assert verdict(POWER, paths, rhs=1.0) is Verdict.INCONCLUSIVE


def test_a_power_that_few_instances_resolve_is_open():
    paths = rows((3, RUNG), (5, 0 * RUNG))
    assert verdict(POWER, paths, rhs=1.0) is Verdict.INCONCLUSIVE


def test_what_a_claim_does_not_speak_of_does_not_keep_it_from_holding():
    paths = rows((3, RUNG), (5, np.nan * RUNG))
    applies = np.isfinite(paths)
    assert verdict(POWER, paths, rhs=1.0, applies=applies) is Verdict.HOLDS
    assert verdict(CONSTANT, np.isfinite(paths), rhs=1.0, applies=applies) is Verdict.HOLDS


def test_a_constant_is_bounded_with_its_errors():
    paths = np.ones((ROWS, 4))
    assert verdict(CONSTANT, paths, rhs=1.0) is Verdict.HOLDS
    assert verdict(CONSTANT, paths * RUNG, rhs=1.0) is Verdict.VIOLATED
    assert verdict(CONSTANT, paths, 1000 * RUNG, rhs=1.0) is Verdict.INCONCLUSIVE
    assert verdict(CONSTANT, paths * RUNG, 1000.0, rhs=1.0) is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("part", ["value", "error"])
def test_a_constant_that_one_instance_does_not_show_is_open(part):
    paths, errors = np.ones((ROWS, 4)), np.full((ROWS, 4), 1e-9)
    (paths if part == "value" else errors)[0, 1] = np.nan
    assert verdict(CONSTANT, paths, errors, rhs=1.0) is Verdict.INCONCLUSIVE


def test_no_constant_serves_a_scale_that_vanishes_or_is_negative():
    paths = np.ones((ROWS, 4))
    assert verdict(CONSTANT, paths, rhs=0.0) is Verdict.VIOLATED
    assert verdict(CONSTANT, 0 * paths, rhs=0.0) is Verdict.HOLDS
    assert verdict(CONSTANT, paths, rhs=-1.0) is Verdict.INCONCLUSIVE


def power_of(exponent, relation, paths, **more):
    """The judgement on b^exponent."""
    claim = scales_as("power", one, over={"b": RUNGS}, exponent=exponent, relation=relation)
    return judge(claim, paths, rhs=1.0, **more)


def scattered(exponent, spread=0.2, count=32):
    """Instances that follow b^exponent up to scatter."""
    noise = np.random.default_rng(0).normal(size=(count, len(RUNGS)))
    return np.exp(spread * noise) * RUNG**exponent


@pytest.mark.parametrize("spread", [0.0, 0.01, 0.2, 0.5])
@pytest.mark.parametrize(("relation", "off"), [("at_most", -0.25), ("at_least", 0.25)])
def test_a_bound_on_a_power_that_is_off_by_a_quarter_never_holds(relation, off, spread):
    """A quantity that falls as m^-1/2, printed as O(m^-3/4)."""
    found = power_of(-0.5 + off, relation, scattered(-0.5, spread)).verdict
    assert found is not Verdict.HOLDS
    assert spread == 0.5 or found is Verdict.VIOLATED


@pytest.mark.parametrize("relation", ["at_most", "at_least", "equal"])
def test_an_attained_power_holds_to_within_a_resolution_that_is_named(relation):
    found = power_of(-0.5, relation, scattered(-0.5, 0.01))
    assert found.verdict is Verdict.HOLDS and "to within 0.0" in found.note
    wide = power_of(-0.5, relation, scattered(-0.5, 0.2))
    assert wide.verdict is Verdict.INCONCLUSIVE and "beyond" in wide.note
    beyond = wide.error + (abs(wide.lhs + 0.5) if relation == "equal" else 0)
    assert beyond > (0.1 if relation == "equal" else 0.05)


def test_a_power_is_not_that_of_rungs_whose_slopes_still_change():
    """From b^-1 to b^-1/4: the mean slope lies below -1/2, the last one above it."""
    bending = np.tile(RUNG**-1 + 0.8 * RUNG**-0.25, (ROWS, 1))
    steps = np.diff(np.log(bending[0])) / np.log(2)
    assert np.mean(steps) < -0.5 < steps[-1]
    assert power_of(-0.5, "at_most", bending).verdict is Verdict.INCONCLUSIVE
    assert power_of(-0.25, "at_least", bending).verdict is not Verdict.HOLDS


@pytest.mark.parametrize("relation", ["at_most", "at_least"])
def test_a_ladder_that_moves_nothing_shows_no_power(relation):
    still = np.tile(np.linspace(1, 2, ROWS)[:, None], (1, 4))
    for exponent in (10.0, -10.0):
        found = power_of(exponent, relation, still)
        assert found.verdict is Verdict.INCONCLUSIVE and "does not move" in found.note
    drowned = power_of(0.1, relation, still * RUNG**0.1, error=0.5)
    assert drowned.verdict is Verdict.INCONCLUSIVE
    assert power_of(0.0, relation, still).verdict is Verdict.HOLDS


LONG = np.array([8.0, 16, 32, 64, 128, 256, 512])


def constant_of(growth, rungs=LONG):
    """The judgement on a constant that is growth(n)."""
    claim = exists_constant("constant", one, one, over={"b": tuple(rungs)})
    return judge(claim, np.tile(growth(rungs), (ROWS, 1)), rhs=1.0, rungs=rungs)


@pytest.mark.parametrize(
    ("growth", "expected"),
    [
        (np.ones_like, Verdict.HOLDS),
        (lambda n: 1 - 1 / n, Verdict.HOLDS),
        (lambda n: 1 / np.log(n), Verdict.HOLDS),
        (np.log, Verdict.INCONCLUSIVE),
        (lambda n: np.log(np.log(n)), Verdict.INCONCLUSIVE),
        (lambda n: n**0.1, Verdict.INCONCLUSIVE),
        (lambda n: np.where(n < 500, 1, 1.4), Verdict.INCONCLUSIVE),  # it begins to grow
        (lambda n: n**0.2, Verdict.VIOLATED),
        (np.sqrt, Verdict.VIOLATED),
        (lambda n: n * np.log(n), Verdict.VIOLATED),
        (lambda n: np.exp(n / 10), Verdict.VIOLATED),
    ],
)
def test_a_constant_holds_where_all_slow_growth_is_excluded(growth, expected):
    assert constant_of(growth).verdict is expected


def test_a_constant_that_outgrows_every_power_is_refuted_on_three_rungs():
    taus = np.array([12.0, 18, 27])
    assert constant_of(lambda tau: np.exp(tau), taus).verdict is Verdict.VIOLATED
    assert constant_of(lambda tau: np.exp(-tau), taus).verdict is Verdict.HOLDS
    slight = constant_of(lambda tau: 1 + np.exp(tau - 30), taus)
    assert slight.verdict is not Verdict.VIOLATED


def test_the_note_says_which_growth_a_ladder_excludes():
    assert "excludes growth like b^0.1, log b, log log b" in constant_of(np.ones_like).note
    assert "does not exclude b^0.1, log b, log log b" in constant_of(np.log).note
    far = np.array([1e1, 1e2, 1e3, 1e4, 1e5, 1e6])
    shown = constant_of(lambda n: np.log(np.log(n)), far)
    assert shown.verdict is Verdict.INCONCLUSIVE
    assert "excludes growth like b^0.1, log b and does not exclude log log b" in shown.note
    assert "(1/b)^0.1, log (1/b)" in constant_of(np.ones_like, 1 / LONG).note


def bounded_over_b(hypothesis, rungs=(3, 6, 12)):
    """A quantity that is bounded for b <= 2 and grows above."""
    return theorem(
        exists_constant(
            "b",
            lambda r: jnp.where(r.x.b <= 2, 2, r.x.b) * r.sim["a"],
            lambda r: 1.0,
            over={"b": rungs},
        ),
        space=Space(a=Real(1, 2), b=Real(1, 16)),
        hypotheses=hypothesis,
    )


def test_ladders_climb_on_instances_that_meet_the_hypotheses_on_every_rung():
    assert verify(bounded_over_b({})).verdict is Verdict.VIOLATED
    some = {"a <= 1.5 or b <= 2": lambda x: jnp.maximum(1.5 - x.a, 2 - x.b)}
    report = verify(bounded_over_b(some))
    assert report.readings[0].claims[0].path["b_constants"].max() <= 1.5 * 12
    with pytest.raises(UsageError, match="b = 3"):
        verify(bounded_over_b({"b <= 2": lambda x: 2 - x.b}))


def test_readings_climb_rungs_of_their_own():
    """The rungs of one reading are outside the hypotheses of the other."""
    statement = theorem(
        *bounded_over_b({}).claims,
        space=Space(a=Real(1, 2), b=Real(1, 16)),
        readings=(
            Reading(
                "few",
                Printed("", ""),
                claims=bounded_over_b({}, (1, 1.5, 2)).claims,
                hypotheses={"b <= 2": lambda x: 2 - x.b},
                primary=True,
            ),
        ),
    )
    verdicts = [reading.verdict for reading in verify(statement).readings]
    assert verdicts == [Verdict.VIOLATED, Verdict.HOLDS]


def test_a_fixed_vector_fits_no_other_rung():
    statement = theorem(
        exists_constant("n", lambda r: jnp.sum(r.x.w), lambda r: 1.0, over={"n": (2, 4, 8)}),
        space=Space(n=Size(4), w=Real(1, 2, shape="n"), a=Real(1, 2)),
    )
    with pytest.raises(UsageError, match="shape"):
        verify(statement, settings={"n": 2, "w": [1.0, 1.0]})


def test_a_ladder_names_a_size_or_a_field():
    for rungs in ((1, 2), (0, 1, 2), (1, 3, 2)):
        with pytest.raises(ValueError, match="rungs"):
            exists_constant("c", lambda r: 1.0, lambda r: 1.0, over={"b": rungs})
    with pytest.raises(ValueError, match="over"):
        exists_constant("c", lambda r: 1.0, lambda r: 1.0, over={})
    with pytest.raises(ValueError, match="'m'"):
        theorem(exists_constant("c", lambda r: 1.0, lambda r: 1.0, over={"m": (1, 2, 3)}))


def in_sizes(**bounds):
    """A statement that climbs a size, a reading for each hypothesis a <= bound."""
    claim = exists_constant("b", lambda r: r.sim["a"], lambda r: 1.0, over={"n": (2, 4, 8)})
    first, *others = (
        (name, {f"a <= {bound}": lambda x, bound=bound: bound - x.a})
        for name, bound in bounds.items()
    )
    return theorem(
        claim,
        space=Space(n=Size(4), a=Real(1, 2), v=Real(0, 1, shape="n")),
        hypotheses=first[1],
        simulate=lambda x, key: {"a": x.a + jnp.mean(x.v)},
        readings=tuple(Reading(name, Printed("", ""), hypotheses=h) for name, h in others),
    )


@pytest.mark.parametrize(
    "bounds, drawn_on_rungs",
    [
        thorough({"half": 1.5}, {32, 64, 128}),
        ({"all": 2.0}, {32}),
        thorough({"half": 1.5, "few": 1.1}, {256, 512}),
        thorough({"half": 1.5, "rare": 1.002}, {512}),
        ({"rare": 1.002, "half": 1.5}, {512}),
    ],
)
def test_rungs_of_a_size_draw_as_many_as_the_sample_needed(bounds, drawn_on_rungs, monkeypatch):
    """And take the same instances as from many draws at once."""
    statement, drawn, draw = in_sizes(**bounds), [], drawing._drawn

    def counted(setup, first, count):
        drawn.append(count)
        return draw(setup, first, count)

    monkeypatch.setattr(drawing, "_drawn", counted)
    few = verify(statement, instances=16).as_json()
    assert set(drawn[1:]) - {DRAW_CHUNK} <= drawn_on_rungs and drawn[0] == DRAW_CHUNK
    assert DRAW_CHUNK in drawn_on_rungs or min(drawn) < DRAW_CHUNK
    monkeypatch.setattr(Ladders, "_candidates", lambda self: None)
    assert verify(statement, instances=16).as_json() == few


def test_rungs_where_fewer_meet_the_hypotheses_are_searched_as_far_as_ever(monkeypatch):
    claim = exists_constant("b", lambda r: r.sim["a"], lambda r: 1.0, over={"n": (2, 4, 8)})
    statement = theorem(
        claim,
        space=Space(n=Size(2), a=Real(1, 2), v=Real(0, 1, shape="n")),
        hypotheses={"rare above 2": lambda x: (1.004 if x.n > 2 else 2.0) - x.a},
        simulate=lambda x, key: {"a": x.a + jnp.mean(x.v)},
    )

    def outcome(seed):
        try:
            return verify(statement, instances=1, seed=seed).as_json()
        except UsageError as error:
            return str(error)

    seeds = (5, 6)  # no draw of the second is found on every rung
    hoped = [outcome(seed) for seed in seeds]
    assert {type(found) for found in hoped} == {dict, str}
    monkeypatch.setattr(Ladders, "_candidates", lambda self: None)
    assert [outcome(seed) for seed in seeds] == hoped
