"""Experiments of known truth: what is shown, what is not, and runs that are kept."""

import os
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float

import theorysim.engine.reproduce.runs as runs_module
from theorysim.claims import Experiment, Mutant, Real, Size, Space, Verdict, on_average
from theorysim.engine import registry
from theorysim.engine.certify.certify import certify
from theorysim.engine.falsify.falsify import falsify
from theorysim.engine.reproduce.cost import paper_hours
from theorysim.engine.reproduce.dataset import read
from theorysim.engine.reproduce.reproduce import reproduce
from theorysim.engine.verify.verify import verify
from theorysim.errors import UsageError


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


def test_finished_runs_are_found_again_and_more_are_added(tmp_path, monkeypatch):
    first = reproduce(experiment(), kept=tmp_path, runs=6)
    made = []
    program = runs_module._program

    def counted(simulate):
        return lambda *arguments: made.append(1) or program(simulate)(*arguments)

    monkeypatch.setattr(runs_module, "_program", counted)
    monkeypatch.setattr(
        runs_module.Runs,
        "results",
        lambda self, data: Heights(data.base.values, data.height.values),
    )
    again = reproduce(experiment(), kept=tmp_path, runs=6)
    assert not made
    (one,), (other,) = first.data.values(), again.data.values()
    assert one.identical(other)
    reproduce(experiment(falls()), kept=tmp_path, runs=8)  # another claim on the same simulation
    assert len(made) == 2
    reproduce(experiment(), kept=tmp_path, runs=6, seed=1)
    assert len(made) == 8


def test_a_damaged_run_is_made_again(tmp_path):
    whole = reproduce(experiment(), kept=tmp_path)
    (folder,) = tmp_path.iterdir()
    (folder / "2.zarr" / "zarr.json").write_text("{")
    assert read(folder / "2.zarr") is None
    again = reproduce(experiment(), kept=tmp_path)
    (one,), (other,) = whole.data.values(), again.data.values()
    np.testing.assert_array_equal(one.height, other.height)


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


FILE = """\"\"\"Numbers of a user.\"\"\"
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims


class Found(NamedTuple):
    number: Float[Array, ""]


def simulate(x, key):
    return Found(jax.random.normal(key) + {shift})


theorem = claims.Experiment(
    space=claims.Space(n=claims.Size(2)),
    simulate=simulate,
    claims=(claims.on_average("positive", lambda r: 0 * r.sim.number, lambda r: r.sim.number),),
    mutants=(claims.Mutant("zero", simulate=lambda x, key: Found(jnp.zeros(()))),),
)
"""


def test_a_users_file_that_has_changed_is_run_anew(tmp_path):
    file, kept = tmp_path / "figure_1.py", tmp_path / "kept"
    outcomes = []
    for shift in ("9.0", "-9.0"):
        file.write_text(FILE.replace("{shift}", shift))
        os.utime(file, ns=(1, int(float(shift) + 10) * 10**9))
        outcomes += verdicts(reproduce(registry.theorem(str(file)), kept=kept))
    assert outcomes == [Verdict.HOLDS, Verdict.VIOLATED]


def test_simulations_that_were_made_in_functions_do_not_share_runs(tmp_path):
    def shifted(by):
        return lambda x, key: Heights(jnp.zeros(()), by * jnp.arange(x.places, dtype=float))

    for number, by in enumerate((1.0, -1.0)):
        one = experiment(simulate=shifted(by), id=f"tests/figure-{number}")
        expected = Verdict.HOLDS if by > 0 else Verdict.VIOLATED
        assert verdicts(reproduce(one, kept=tmp_path)) == [expected]
