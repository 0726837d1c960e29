"""The report on experiments of known truth: what it recommends, and what it leaves out."""

import json
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import pytest
from drawn import thorough
from jaxtyping import Array, Float
from rich.console import Console

import theorysim.engine.reproduce.referee as referee_module
from theorysim.claims import (
    Corrected,
    Experiment,
    Mutant,
    Reading,
    Size,
    Space,
    Verdict,
    at_most,
    on_average,
)
from theorysim.claims.theorem import Theorem
from theorysim.engine.reproduce.referee import Change, ExperimentReview, referee
from theorysim.engine.review.recommendations import Weight
from theorysim.errors import UsageError
from theorysim.report.referee import page, render

AMPLE = 600.0


class Heights(NamedTuple):
    """Three numbers, the second above the first by one."""

    height: Float[Array, "place"]


def rise(by):
    def simulate(x, key):
        noise = jax.random.normal(key, (3,)) / 8
        return Heights(noise + by(x) * jnp.array([0.0, 1.0, 0.0]))

    return simulate


def rises(r):
    return r.sim.height[:, 0], r.sim.height[:, 1]


# Of which no half is tried.
LEAST = Space(width=Size(8, low=8))
ZERO, ONE = (lambda x: 0.0), (lambda x: 1.0)


def experiment(by=ONE, mutant=ZERO, **parts):
    shown = on_average("rises", lambda r: rises(r)[0], lambda r: rises(r)[1])
    filled = {
        "space": Space(width=Size(8, low=2)),
        "simulate": rise(by),
        "claims": (shown,),
        "mutants": (Mutant("flat", simulate=rise(mutant)),),
        "keys": 5,
        "id": "tests/figure-1",
        "title": "It rises.",
        **parts,
    }
    return Experiment(**filled)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Of what is shown everywhere but by its null: the review, its runs and where they are kept."""
    kept = tmp_path_factory.mktemp("kept")
    return *referee(experiment(), seconds=AMPLE, kept=kept), kept


@pytest.fixture(scope="module")
def shown_by_its_null():
    return referee(experiment(mutant=ONE), seconds=AMPLE)


def test_what_is_shown_everywhere_but_by_its_null_is_accepted(shown):
    found, _, _ = shown
    assert (found.decision, found.exit_code, found.recommendations) == ("accept", 0, ())
    assert [trial.change for trial in found.trials] == list(Change)
    assert [trial.name for trial in found.trials] == ["as it is", "flat", "seed 1", "width = 4"]
    verdicts = [trial.verdicts["rises"] for trial in found.trials]
    assert verdicts[0] == verdicts[2] == verdicts[3] == Verdict.HOLDS
    assert verdicts[1] is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("by", "weight", "code"), [(-1.0, Weight.MAJOR, 3), thorough(0.0, Weight.MINOR, 4)]
)
def test_the_contrary_is_a_major_and_noise_a_minor_finding(by, weight, code):
    found, _ = referee(experiment(by=lambda x: by, space=LEAST), seconds=AMPLE)
    assert [one.weight for one in found.recommendations] == [weight]
    assert found.exit_code == code and found.decision == f"{weight} revision"


def test_what_every_null_shows_is_an_objection_and_what_one_of_them_shows_a_remark(
    shown_by_its_null,
):
    found, _ = shown_by_its_null
    (one,) = found.recommendations
    assert one.weight is Weight.MINOR and "every null that was run (“flat”)" in one.text
    two = experiment(
        mutants=(Mutant("flat", simulate=rise(ZERO)), Mutant("up", simulate=rise(ONE))),
        space=LEAST,
    )
    found, _ = referee(two, seconds=AMPLE)
    (one,) = found.recommendations
    assert one.weight is Weight.REMARK and "“up”" in one.text and "flat" not in one.text
    assert found.decision == "accept"


def test_a_claim_without_a_null_is_an_objection():
    other = on_average("rises", lambda r: rises(r)[0], lambda r: rises(r)[1] + 1)
    second = on_average("stays", lambda r: rises(r)[0], lambda r: r.sim.height[:, 2] + 1)
    higher = Mutant("higher", claims=(other,))
    both = experiment(claims=(other, second), mutants=(higher,), space=LEAST)
    found, _ = referee(both, seconds=AMPLE)
    assert [set(t.verdicts) for t in found.trials if t.change is Change.NULL] == [{"rises"}]
    told = [one.text for one in found.recommendations]
    assert [text for text in told if "“stays” has no null" in text]
    assert not [text for text in told if "“stays”" in text and "“higher”" in text]


def test_a_null_of_another_reading_is_none_of_the_primary_one():
    other = Reading("printed", Corrected("heights rise"), simulate=rise(ONE))
    flat = Mutant("flat", of=("printed",), simulate=rise(ZERO))
    both = experiment(readings=(other,), mutants=(flat,), space=LEAST)
    found, _ = referee(both, seconds=AMPLE)
    assert [one.text for one in found.recommendations] == [
        "“rises” has no null: nothing shows that it can fail."
    ]


def test_what_half_of_a_size_does_not_show_is_a_minor_finding():
    found, _ = referee(experiment(by=lambda x: float(x.width >= 8)), seconds=AMPLE)
    (one,) = found.recommendations
    assert one.weight is Weight.MINOR and "at width = 4" in one.text


@pytest.mark.parametrize(("by", "weight"), [(0.0, Weight.MINOR), thorough(-1.0, Weight.MAJOR)])
def test_another_seed_that_does_not_show_it_is_an_objection(monkeypatch, by, weight):
    whole = referee_module.reproduce

    def unlucky(theorem, *, seed, **options):
        found = experiment(by=lambda x: by, space=LEAST) if seed else theorem
        return whole(found, seed=seed, **options)

    monkeypatch.setattr(referee_module, "reproduce", unlucky)
    (one,) = referee(experiment(space=LEAST), seconds=AMPLE)[0].recommendations
    assert one.weight is weight and "at seed 1" in one.text


def test_the_runs_beside_the_report_are_those_of_the_experiment_as_it_is(shown):
    found, own, kept = shown
    assert dict(own.report.sizes) == {"width": 8} and own.report.seed == 0
    assert own.report.readings[0].verdict is found.trials[0].verdicts["rises"]
    assert len(list(kept.iterdir())) == 3  # half of a width changes nothing: the same runs


@pytest.mark.thorough
def test_the_contrary_at_half_of_a_size_is_minor_and_what_is_major_comes_first():
    up = experiment(by=lambda x: 1.0 if x.width == 8 else -1.0)
    (one,) = referee(up, seconds=AMPLE)[0].recommendations
    assert one.weight is Weight.MINOR and "contrary at width = 4" in one.text
    noise = on_average("noise", lambda r: rises(r)[0], lambda r: r.sim.height[:, 2])
    falls = on_average("falls", lambda r: rises(r)[1], lambda r: rises(r)[0])
    both = experiment(claims=(noise, falls))
    weights = [one.weight for one in referee(both, seconds=AMPLE)[0].recommendations]
    assert weights == [Weight.MAJOR, Weight.MINOR]


@pytest.mark.parametrize(
    ("seconds", "left_out"),
    [thorough(40, ()), (35, ("width = 4",)), thorough(29, ("seed 1", "width = 4"))],
)
def test_a_trial_is_begun_while_there_is_time_for_as_many_runs(monkeypatch, seconds, left_out):
    """By a clock on which every trial takes ten seconds."""
    whole, clock = referee_module.reproduce, count(0, 10)
    now = [next(clock)]

    def slow(*theorem, **options):
        found = whole(*theorem, **options)
        now.append(next(clock))
        lasting = {
            n: d.assign(seconds=0 * d.seconds + 10 / d.run.size) for n, d in found.data.items()
        }
        return replace(found, data=lasting)

    monkeypatch.setattr(referee_module, "reproduce", slow)
    monkeypatch.setattr(referee_module, "time", SimpleNamespace(monotonic=lambda: now[-1]))
    assert referee(experiment(), seconds=seconds)[0].left_out == left_out


@pytest.mark.thorough
def test_half_of_a_size_is_not_below_the_least_one():
    found, _ = referee(experiment(space=Space(width=Size(8, low=6))), seconds=AMPLE)
    assert found.trials[-1].name == "width = 6"
    found, _ = referee(experiment(space=Space(width=Size(8, low=8))), seconds=AMPLE)
    assert found.trials[-1].change is Change.SEED


def test_half_of_a_size_that_the_hypotheses_exclude_is_not_tried():
    wide = {"width > 5": lambda x: jnp.asarray(x.width - 5.5)}
    space = Space(width=Size(8, low=2), depth=Size(4, low=2))
    found, _ = referee(experiment(space=space, hypotheses=wide, mutants=()), seconds=AMPLE)
    assert [t.name for t in found.trials if t.change is Change.SIZE] == ["depth = 2"]


@pytest.mark.parametrize("seed", [thorough(0), thorough(1), (1 << 63) - 1])
def test_another_seed_is_another_one_that_a_generator_takes(seed):
    found, _ = referee(experiment(space=LEAST, mutants=()), seconds=AMPLE, seed=seed)
    (other,) = [trial.name for trial in found.trials if trial.change is Change.SEED]
    assert 0 <= int(other.removeprefix("seed ")) < 1 << 63 and other != f"seed {seed}"


def test_what_there_is_no_time_for_is_left_out_and_said():
    found, own = referee(experiment(), seconds=1e-9)
    assert len(found.trials) == 1 and len(found.left_out) == 3
    assert found.decision == "no objection found in 1 trial"
    console = Console(record=True, width=80)
    render(found, own, console)
    assert "left out for want of time: width = 4" in console.export_text()


def test_the_table_of_trials_says_of_each_what_it_showed():
    found, own = referee(experiment(by=lambda x: 1.0 if x.width == 8 else -1.0), seconds=AMPLE)
    console = Console(record=True, width=120)
    render(found, own, console)
    rows = [" ".join(line.split()) for line in console.export_text().splitlines()]
    assert "flat a null not shown" in rows
    assert "seed 1 another seed shown" in rows
    assert "width = 4 half of a size contrary" in rows


def test_a_report_survives_json_and_names_everything_in_html(shown_by_its_null):
    found, own = shown_by_its_null
    assert ExperimentReview.from_json(json.loads(json.dumps(found.as_json()))) == found
    text = page(found, own)
    for trial in found.trials[1:]:
        assert f"<td>{trial.name}</td>" in text
    assert "“flat”" in text and "http" not in text


def test_a_theorem_and_seconds_that_are_none_are_refused():
    claim = at_most("bound", lambda r: r.sim, lambda r: 2.0)
    theorem = Theorem(space=Space(), simulate=lambda x, key: 1.0, claims=(claim,), id="tests/one")
    with pytest.raises(UsageError, match="tests/one is no experiment"):
        referee(theorem)
    with pytest.raises(UsageError, match="positive"):
        referee(experiment(), seconds=0)
