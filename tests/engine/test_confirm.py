"""What a search finds is a counterexample only where no numerical error explains it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import every_second

from tests.engine.rounding import without_enclosure
from tests.engine.statements import about, attack, theorem
from theorysim.claims import (
    Integer,
    Mutant,
    Orthogonal,
    Real,
    Size,
    Space,
    Theorem,
    Verdict,
    at_most,
    equal,
    with_probability,
)
from theorysim.claims.evidence import tabulate
from theorysim.enclosures.interpreter import Interpreter
from theorysim.engine.confirm import other_roundings
from theorysim.engine.confirm.confirm import suspect_at
from theorysim.engine.confirm.other_roundings import AGAIN, look_with_other_roundings
from theorysim.engine.confirm.size import look_at_size
from theorysim.engine.confirm.suspect import Answer, Case
from theorysim.engine.falsify.examine import Examiner
from theorysim.engine.falsify.points import Points, Scored
from theorysim.engine.measure.batch import measure_all
from theorysim.engine.measure.errors import simulation_keys
from theorysim.engine.measure.sample import draw_sample
from theorysim.engine.measure.setup import Settings, Setup, parse_settings
from theorysim.engine.verify.verify import verify
from theorysim.numerics.flow import integrate

# Of an integrator whose errors are far above rounding.
LOOSE = 1e-6


def test_rounding_is_no_counterexample():
    """The same sum in two orders: unequal in the last digits, equal within the error."""

    def total(terms):
        return jax.lax.scan(lambda s, t: (s + t, None), 0 * terms[0], terms)[0]

    def terms(x):
        return x.a / jnp.arange(1, 301, dtype=x.a.dtype)

    statement = theorem(
        equal("sum", lambda r: r.sim, lambda r: r.theory),
        simulate=lambda x, key: total(terms(x)),
        predict=lambda x: total(terms(x)[::-1]),
        mutant=Mutant("false", predict=lambda x: 2 * total(terms(x))),
    )
    assert not attack(statement, 1500).refuted


@pytest.mark.parametrize("small", every_second([1e-9, 1.2e-16], first=1))
def test_a_small_addend_that_a_sum_absorbs_is_no_counterexample(small):
    """(b + w) - b <= w is true and errs by up to 1e-16, however b and w are jittered by ulps.

    It errs in the same way at all instances nearby where w is about as small as the error.
    """
    statement = theorem(
        at_most("w", lambda r: r.sim, lambda r: r.theory),
        simulate=lambda x, key: (x.b + small * x.a) - x.b,
        predict=lambda x: small * x.a,
        mutant=Mutant("false", predict=lambda x: small / 2 * x.a),
    )
    tried = np.linspace(1, 2, 101)
    worst = float(tried[np.argmax((1.5 + small * tried) - 1.5 - small * tried)])
    replay = verify(statement, instance={"values": {"a": worst, "b": 1.5}})
    assert replay.verdict is Verdict.INCONCLUSIVE  # though the measured rounding alone misses it
    assert "vanish with 212 bits" in replay.readings[0].claims[0].note
    found = attack(statement, 1500)
    assert not found.refuted
    assert "vanish" in found.note


@pytest.mark.thorough
def test_the_worst_error_of_many_integrations_is_no_counterexample():
    """A rotation keeps its radius; an integrated one up to an error that a search maximises."""

    def radius(x, key):
        field = lambda z, _: x.speed * jnp.array([-z[1], z[0]])  # noqa: E731
        options = {"rtol": LOOSE, "tolerance_scale": x.tolerance_scale}
        path = integrate(field, jnp.array([x.a, x.b]), jnp.array([0.0, 1.0]), **options)
        return jnp.sum(path[-1] ** 2)

    statement = theorem(
        at_most("radius", lambda r: r.sim, lambda r: r.theory),
        simulate=radius,
        predict=lambda x: x.a**2 + x.b**2,
        space=Space(a=Real(1, 2), b=Real(1, 2), speed=Real(1, 30)),
        mutant=Mutant("false", predict=lambda x: 0.9 * (x.a**2 + x.b**2)),
        integrates=True,
    )
    few = 2000  # each integrates twice
    assert not attack(statement, few).refuted
    assert attack(statement, few, reading="false").refuted


def average_is(mean, sample, space):
    """The average of a sample over 64 keys equals `mean`."""
    return theorem(
        equal("mean", lambda r: r.mean(r.sim), lambda r: r.theory),
        simulate=sample,
        predict=mean,
        mutant=Mutant("false", predict=lambda x: 2 + mean(x)),
        space=space,
        keys=64,
    )


@pytest.mark.thorough
def test_noise_hides_no_violation():
    """Two per cent too much: seen where the noise is small, not where an average misses most."""
    statement = average_is(
        lambda x: 1.02 * x.a,
        lambda x, key: x.a * (1 + x.noise * jax.random.normal(key)),
        Space(a=Real(1, 2), noise=Real(1e-3, 10, log=True)),
    )
    found = attack(statement)
    assert found.refuted
    assert found.instance["values"]["noise"] < 0.1


def test_an_average_must_miss_with_fresh_keys():
    """Thousands of points are measured: with the unluckiest key of many a true claim falls."""
    statement = average_is(
        lambda x: x.a, lambda x, key: x.a * (1 + jax.random.normal(key)), Space(a=Real(1, 2))
    )

    def deviation(seed):
        noise = jax.vmap(jax.random.normal)(simulation_keys(jax.random.key(seed), 64))
        return jnp.abs(jnp.mean(noise)) / jnp.std(noise)

    seed = 126_358  # of the first 200,000 the one whose mean is most deviations from 0
    with jax.enable_x64(True):
        assert deviation(seed) > 4.7 / jnp.sqrt(64)
        replay = verify(statement, instance={"values": {"a": 1.5}, "key": [0, seed]})
        assert replay.verdict is Verdict.INCONCLUSIVE
        (claim,) = replay.readings[0].claims
        assert "fresh keys" in claim.note
        reading = statement.primary()
        unlucky = Points.under(np.array([0, seed], np.uint32), np.array([[0.5]]))
        suspect = Scored(unlucky, np.ones(1), np.zeros(1))
        examiner = Examiner(Setup(statement, (reading,), Settings({}, {})))
        (examined,) = examiner.examine({reading.claims[0]: suspect}, every=True).values()
        assert examiner.unconfirmed == {"mean": 1}
        assert examined.hit is None


def test_a_loop_that_is_too_long_for_many_bits_is_not_begun(monkeypatch):
    """What decides is the length that it will have, not work that is done in vain."""
    rounds = []
    run = Interpreter.loop
    monkeypatch.setattr(Interpreter, "loop", lambda *a: rounds.append(a) or run(*a))
    statement = theorem(
        equal("sum", lambda r: r.sim, lambda r: r.theory),
        space=Space(a=Real(1, 2), b=Real(1, 2), steps=Integer(100_000, 200_000)),
        simulate=lambda x, key: jax.lax.fori_loop(0, x.steps, lambda k, s: s / 2 + x.a, x.a),
        predict=lambda x: 3 * x.a,
        mutant=Mutant("false", predict=lambda x: 4 * x.a),
    )
    found = verify(statement, instances=4)
    assert found.verdict is Verdict.VIOLATED
    assert not rounds


def test_other_roundings_in_chunks_are_those_of_all_at_once(monkeypatch):
    """A wide simulation of many instances and keys needs no more memory than its measurement."""
    statement = theorem(
        with_probability("a", lambda r: r.sim, lambda r: r.x.a, at_least=lambda r: 0.5),
        simulate=lambda x, key: (x.a + jax.random.uniform(key)) - x.b,
        mutant=Mutant("false", predict=lambda x: 2 * x.a),
        keys=16,
    )
    reading = statement.primary()
    setup = Setup(statement, (reading,), parse_settings(statement, {}))
    with jax.enable_x64(True):
        sample = draw_sample(setup, 10)
        case = Case(statement, reading, reading.claims[0])
        found = measure_all(setup, sample.instances, sample.keys)[reading.name]["a"]
        whole = other_roundings._in_chunks(case, found, 1, sample.instances, sample.keys)
        monkeypatch.setattr(other_roundings, "chunk_length", lambda *_: 4)
        parts = other_roundings._in_chunks(case, found, 1, sample.instances, sample.keys)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


def suspects_among(statement, draws):
    """The claim of a statement, and all instances of so many that seem to violate it."""
    reading = statement.primary()
    setup = Setup(statement, (reading,), parse_settings(statement, {}))
    case = Case(statement, reading, reading.claims[0])
    sample = draw_sample(setup, draws)
    found = measure_all(setup, sample.instances, sample.keys)[reading.name][case.claim.name]
    points = tabulate(found)
    room = np.where(case.claim.states(points)[1], case.claim.relative_room(points), np.inf)
    bad = np.flatnonzero(np.isfinite(room).any(axis=1))
    return case, [suspect_at(int(row), points, room, sample.instances, sample.keys) for row in bad]


@pytest.mark.thorough
def test_no_suspect_of_many_stands_by_the_luck_of_its_directions():
    """x / 49 * 49 is x or its neighbour: of these 2000 three stood in all of eight lanes."""
    statement = theorem(
        at_most("a", lambda r: r.sim, lambda r: 0.5),
        simulate=lambda x, key: jnp.where(x.a / 49.0 * 49.0 == x.a, 0.0, 1.0),
    )
    with jax.enable_x64(True):
        case, suspects = suspects_among(statement, 2000)
        looked = [look_with_other_roundings(case, one) for one in suspects]
    assert len(looked) > 1000
    assert {one.answer for one in looked} == {Answer.VANISHED}


@pytest.mark.parametrize("turn", range(1, 1 + AGAIN))
def test_what_stands_in_the_first_directions_must_stand_in_further_ones(monkeypatch, turn):
    """The sides of a violation, which fall together in one turn of those that are tried again."""
    moved = other_roundings._moved

    def falling(case, suspect, turns, origins=False):
        sides = moved(case, suspect, turns, origins)
        return [one._replace(lhs=one.rhs) if n == turn else one for n, one in zip(turns, sides)]

    statement = theorem(at_most("a", lambda r: r.sim, lambda r: 0.5), simulate=lambda x, key: 2.0)
    with jax.enable_x64(True):
        case, (suspect, *_) = suspects_among(statement, 1)
        assert look_with_other_roundings(case, suspect).answer is Answer.VIOLATED
        assert look_at_size(case, suspect)
        monkeypatch.setattr(other_roundings, "_moved", falling)
        assert look_with_other_roundings(case, suspect).answer is Answer.VANISHED
        assert not look_at_size(case, suspect)


def test_every_turn_takes_other_directions():
    """Of ten roundings in eight lanes no two turns err alike by chance."""
    statement = theorem(
        at_most("a", lambda r: r.sim, lambda r: 0.5),
        simulate=lambda x, key: jnp.sum(jnp.exp(x.a * jnp.arange(1.0, 11.0))),
    )
    with jax.enable_x64(True):
        case, (suspect, *_) = suspects_among(statement, 1)
        turns = other_roundings._moved(case, suspect, range(1 + AGAIN))
    assert len({one.lhs.tobytes() for one in turns}) == 1 + AGAIN


def test_a_run_that_raises_where_it_is_moved_says_nothing_of_others():
    """The worst violation cannot be told from rounding; the next ones can."""

    def raised(x, is_moved):
        if np.any(is_moved):
            raise ArithmeticError("no convergence")
        return np.asarray(x)

    def simulate(x, key):
        whole = jnp.floor(1000 * x.x)
        is_moved = (x.x > 1.97) & (whole / 3.0 * 3.0 - whole != 0.0)  # 0 in double
        return jax.pure_callback(raised, jax.typeof(x.x), x.x, is_moved, vmap_method="expand_dims")

    claim = at_most("claim", lambda r: 2.0 + r.sim, lambda r: 0.5)
    found = verify(about(Real(1, 2), claim, simulate), instances=64).readings[0].claims[0]
    assert found.verdict is Verdict.VIOLATED and "Monte Carlo" in found.note
    assert found.lhs < 3.97


def about_rotations(simulate, theory):
    """An equality without enclosures."""
    return Theorem(
        space=Space(n=Size(3), basis=Orthogonal("n")),
        simulate=lambda x, key: without_enclosure(2.0) + simulate(x.basis),
        predict=lambda x: theory,
        claims=(equal("claim", lambda r: r.sim, lambda r: r.theory),),
        mutants=(),
        id="tests/statement",
        title="a statement of known truth",
    )


def test_what_rounding_left_of_a_matrix_is_no_counterexample():
    """Its rows are orthogonal up to rounding; 1.6e-16 in them is a rounded 0."""
    half = 0.7071067811865475
    basis = [
        [0.0, 0.9999999999999998, -1.0087576610494613e-16],
        [-half, 1.570092458683775e-16, 0.7071067811865476],
        [-half, 1.570092458683775e-16, -0.7071067811865475],
    ]
    first = np.eye(3)[0]
    statement = about_rotations(lambda basis: basis @ (basis.T @ first), first)
    found = verify(statement, instance={"values": {"basis": basis}}).readings[0].claims[0]
    assert found.verdict is not Verdict.VIOLATED


def test_what_is_small_in_an_orthogonal_matrix_is_a_number():
    """A rotation by 1e-20 is none by 0."""
    basis = [[1.0, -1e-20, 0.0], [1e-20, 1.0, 0.0], [0.0, 0.0, 1.0]]
    statement = about_rotations(lambda basis: basis[1, 0], 0.0)
    found = verify(statement, instance={"values": {"basis": basis}}).readings[0].claims[0]
    assert found.verdict is Verdict.VIOLATED and "Monte Carlo" in found.confirmation


def test_what_does_not_stand_in_its_replay_is_no_counterexample(monkeypatch):
    """Whoever replays a counterexample must see it."""
    statement = theorem(at_most("a", lambda r: r.sim, lambda r: 0.5), simulate=lambda x, key: x.a)
    assert attack(statement, 500).refuted
    monkeypatch.setattr(Examiner, "_replays", lambda *_: False)
    found = attack(statement, 500)
    assert not found.refuted and "dropped" in found.note
