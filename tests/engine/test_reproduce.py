"""Experiments of known truth: what is shown, what is not, and runs that are kept."""

from itertools import count
from types import SimpleNamespace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float, Int8

import theorysim.engine.reproduce.runs as runs_module
from theorysim.claims import (
    Corrected,
    Experiment,
    Mutant,
    Reading,
    Real,
    Size,
    Space,
    Verdict,
    on_average,
)
from theorysim.claims.experiment import no_axes
from theorysim.data import own
from theorysim.engine.certify.certify import certify
from theorysim.engine.falsify.falsify import falsify
from theorysim.engine.reproduce.cost import paper_hours
from theorysim.engine.reproduce.reproduce import _in_double_precision, reproduce
from theorysim.engine.verify.verify import verify
from theorysim.errors import UsageError
from theorysim.report.experiment_plot import figure_of


class Heights(NamedTuple):
    """Normal numbers with means 0, 1, ..., one for each place."""

    base: Float[Array, ""]
    height: Float[Array, "place"]


def grow(x, key):
    noise = jax.random.normal(key, (x.places + 1,), jnp.float32) / 8
    return Heights(noise[0], noise[1:] + jnp.arange(x.places))


def flat(x, key):
    return Heights(*(jax.random.normal(key, (x.places + 1,))[i] for i in (0, slice(1, None))))


def rises(name="rises"):
    return on_average(name, lambda r: r.sim.height[:, :-1], lambda r: r.sim.height[:, 1:])


def falls():
    return on_average("falls", lambda r: r.sim.height[:, 1:], lambda r: r.sim.height[:, :-1])


def experiment(*claims, **more):
    settings = {
        "space": Space(places=Size(3, low=2)),
        "simulate": grow,
        "claims": claims or (rises(),),
        "mutants": (Mutant("flat", simulate=flat),),
        "axes": lambda x: {"place": np.arange(x.places)},
        "keys": 5,
        "id": "tests/figure-1",
        **more,
    }
    return Experiment(**settings)


def verdicts(found):
    return [claim.verdict for reading in found.report.readings for claim in reading.claims]


def test_what_is_so_is_shown_and_its_contrary_is_contrary():
    found = reproduce(experiment(rises(), falls()))
    assert verdicts(found) == [Verdict.HOLDS, Verdict.VIOLATED]
    assert found.report.verdict is Verdict.VIOLATED
    (claim, _) = found.report.readings[0].claims
    assert claim.slack == pytest.approx(1, abs=0.3)


def test_a_null_does_not_show_it():
    (verdict,) = verdicts(reproduce(experiment(), reading="flat"))
    assert verdict is not Verdict.HOLDS


def test_data_have_named_axes_and_the_runs_of_their_keys():
    found = reproduce(experiment(), seed=3, runs=5, settings={"places": 4})
    (data,) = found.data.values()
    assert dict(data.sizes) == {"run": 5, "place": 4}
    assert list(data.place.values) == [0, 1, 2, 3]
    with jax.enable_x64(False):
        key = jax.random.fold_in(jax.random.key(3), 2)
        expected = jax.random.normal(key, (5,), jnp.float32)[1:] / 8 + jnp.arange(4)
    np.testing.assert_array_max_ulp(data.height.isel(run=2).values, np.asarray(expected), 2)


def test_verify_reproduces_and_what_needs_instances_is_refused():
    assert verify(experiment()).verdict is Verdict.HOLDS
    for attempt in (
        lambda: verify(experiment(), instances=3),
        lambda: falsify(experiment()),
        lambda: certify(experiment()),
    ):
        with pytest.raises(UsageError, match="experiment"):
            attempt()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runs": 4}, "at least 5"),
        ({"scale": "huge"}, "small, paper"),
        ({"scale": "paper"}, "no sizes of its paper"),
        ({"reading": "none"}, "no reading 'none'"),
        ({"settings": {"places": 1}}, "places"),
    ],
)
def test_bad_requests_name_what_is_wrong(options, message):
    with pytest.raises(UsageError, match=message):
        reproduce(experiment(), **options)


def test_the_sizes_of_the_paper_are_taken_and_their_cost_told(tmp_path):
    large = experiment(paper_sizes={"places": 6}, work=lambda x: float(x.places))
    (data,) = reproduce(large, scale="paper").data.values()
    assert data.sizes["place"] == 6
    hours, ratio = paper_hours(large, {}, 0, tmp_path)
    assert ratio == 2
    assert hours > 0


def test_results_without_named_axes_are_refused():
    class Bare(NamedTuple):
        height: Array

    with pytest.raises(UsageError, match=r"Bare\.height"):
        reproduce(experiment(simulate=lambda x, key: Bare(jnp.zeros(2))))
    with pytest.raises(UsageError, match="NamedTuple"):
        reproduce(experiment(simulate=lambda x, key: {"height": jnp.zeros(2)}))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keys": 3}, "5 or more"),
        ({"space": Space(places=Size(3), rate=Real(0, 1))}, "sizes alone"),
        ({"paper_sizes": {"depth": 3}}, "'depth'"),
    ],
)
def test_an_experiment_that_cannot_be_judged_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        experiment(**settings)


def test_data_that_an_experiment_does_not_have_are_refused(tmp_path):
    file = tmp_path / "digits.npz"
    file.touch()
    with own.instead({"digits": file}):
        with pytest.raises(UsageError, match="no data called 'digits': it has none"):
            reproduce(experiment())
        with pytest.raises(UsageError, match="it has heights"):
            reproduce(experiment(data=("heights",)))


def test_sizes_that_are_set_come_before_those_of_the_paper():
    large = experiment(paper_sizes={"places": 6}, work=lambda x: float(x.places))
    (data,) = reproduce(large, scale="paper", settings={"places": 4}).data.values()
    assert data.sizes["place"] == 4
    assert paper_hours(large, {"places": 3}, 0, None)[1] == 1


def test_the_cost_is_that_of_all_runs(monkeypatch):
    """By a clock on which a run takes a second."""
    monkeypatch.setattr(runs_module, "time", SimpleNamespace(perf_counter=count().__next__))
    large = experiment(paper_sizes={"places": 6}, work=lambda x: float(x.places**2), keys=24)
    assert paper_hours(large, {}, 0, None) == (pytest.approx(24 * 4 / 3600), 4)


class Marked(NamedTuple):
    """A field whose name is taken."""

    seconds: Float[Array, ""]


class Ran(NamedTuple):
    """An axis whose name is taken."""

    height: Float[Array, "run"]


class Twice(NamedTuple):
    """An axis of two lengths."""

    height: Float[Array, "place"]
    width: Float[Array, "place"]


class Lettered(NamedTuple):
    """A type that no file has."""

    height: Float[Array, "place"]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (Marked(jnp.zeros(())), "'seconds'"),
        (Ran(jnp.zeros(3)), "'run'"),
        (Twice(jnp.zeros(3), jnp.zeros(4)), "'place' is 4 long, and 3"),
        (Lettered(jnp.zeros((3, 2))), r"shape \(3, 2\)"),
        (Lettered(jnp.zeros(3, jnp.bfloat16)), "bfloat16"),
        (Lettered(jnp.zeros(3, complex)), "complex"),
    ],
)
def test_results_of_another_form_are_refused(result, message):
    with pytest.raises(UsageError, match=message):
        reproduce(experiment(simulate=lambda x, key: result))


def test_axes_of_another_length_are_refused():
    with pytest.raises(UsageError, match="'place' has values of shape"):
        reproduce(experiment(axes=lambda x: {"place": np.arange(x.places + 1)}))


def test_an_axis_that_no_result_has_is_refused():
    with pytest.raises(UsageError, match="no result has the axis 'plase'; there are place"):
        reproduce(experiment(axes=lambda x: {"plase": np.arange(x.places)}))


def test_sizes_that_do_not_go_together_are_refused():
    odd = {"an odd number of places": lambda x: jnp.asarray(float(x.places % 2)) - 0.5}
    assert reproduce(experiment(hypotheses=odd)).report.verdict is Verdict.HOLDS
    with pytest.raises(UsageError, match="needs an odd number of places, not places = 4"):
        reproduce(experiment(hypotheses=odd), settings={"places": 4})


def test_an_unknown_reading_is_told_the_nulls():
    with pytest.raises(UsageError, match="the nulls \\['flat'\\]"):
        reproduce(experiment(), reading="none")


def test_runs_that_are_equal_tell_nothing():
    still = experiment(simulate=lambda x, key: Heights(jnp.zeros(()), jnp.arange(3.0)))
    (claim,) = reproduce(still).report.readings[0].claims
    assert claim.verdict is Verdict.INCONCLUSIVE and "nothing of its key" in claim.note


def test_large_seeds_differ():
    heights = [
        next(iter(reproduce(experiment(), seed=seed).data.values())).height.values
        for seed in (0, 1 << 32, 1 << 40)
    ]
    assert not np.array_equal(heights[0], heights[1])
    assert not np.array_equal(heights[1], heights[2])


def test_a_claim_is_judged_where_it_applies():
    """Heights rise to the second place, and fall from it."""

    def bend(x, key):
        return Heights(*grow(x, key)[:1], grow(x, key).height.at[2].add(-9.0))

    def to_the(places):
        return on_average(
            f"rises to {places}",
            lambda r: r.sim.height[:, :-1],
            lambda r: r.sim.height[:, 1:],
            where=lambda r: places - 0.5 - jnp.arange(2),
        )

    found = verdicts(reproduce(experiment(*map(to_the, (0, 1, 2)), simulate=bend)))
    assert found == [Verdict.VACUOUS, Verdict.HOLDS, Verdict.VIOLATED]


class Counts(NamedTuple):
    """Counts in a byte, and numbers beside which their differences vanish in single precision."""

    count: Int8[Array, ""]
    large: Float[Array, ""]


def test_sides_are_computed_in_types_that_hold_them():
    def counted(x, key):
        noise = jax.random.bernoulli(key)
        return Counts(jnp.asarray(100 + noise, jnp.int8), jnp.float32(2.0**26) + 8 * noise)

    twice = on_average("twice", lambda r: r.sim.count, lambda r: r.sim.count + r.sim.count)
    more = on_average("more", lambda r: r.sim.large, lambda r: r.sim.large + 2)
    both = experiment(twice, more, simulate=counted, mutants=(), axes=no_axes, keys=8)
    assert verdicts(reproduce(both)) == [Verdict.HOLDS] * 2


@pytest.mark.parametrize("number", [1e-40, -1e-45, 3e38])
def test_numbers_of_single_precision_are_the_same_in_double(number, x64):
    single = np.float32(number)
    assert float(_in_double_precision(jnp.asarray(single))) == float(single) != 0


def test_a_result_that_is_the_same_in_all_runs_does_not_hide_one_that_differs():
    def on_the_ground(x, key):
        return Heights(jnp.zeros(()), grow(x, key).height)

    assert reproduce(experiment(simulate=on_the_ground)).report.verdict is Verdict.HOLDS


def test_each_reading_is_judged_by_runs_of_its_own_and_the_first_is_shown():
    other = Reading("of the ground", Corrected("heights do not rise"), simulate=flat)
    found = reproduce(experiment(readings=(other,)))
    assert verdicts(found)[0] is Verdict.HOLDS and verdicts(found)[1] is not Verdict.HOLDS
    np.testing.assert_allclose(found.shown.height.mean("run"), np.arange(3), atol=0.3)
    drawn = figure_of(found)
    assert drawn is not None
    np.testing.assert_allclose(drawn.axes[0].lines[0].get_ydata(), np.arange(3), atol=0.3)


def test_only_the_claims_that_are_named_are_judged():
    (reading,) = reproduce(experiment(rises(), falls()), claims="rises").report.readings
    assert [claim.name for claim in reading.claims] == ["rises"]


def test_a_judgement_has_the_means_of_both_sides():
    (claim,) = reproduce(experiment(), settings={"places": 2}).report.readings[0].claims
    assert (claim.lhs, claim.rhs) == (pytest.approx(0, abs=0.3), pytest.approx(1, abs=0.3))
