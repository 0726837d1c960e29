"""Contracts of every experiment, at the least sizes that its space admits."""

from functools import cache

import numpy as np
import pytest
from drawn import marks_of

from theorysim.claims.kinds.average import LEAST_KEYS
from theorysim.data import own
from theorysim.engine import registry
from theorysim.engine.registry.records import own_experiments
from theorysim.engine.reproduce.reproduce import reproduce
from theorysim.report.experiment_plot import figure
from theorysim.scenes.catalogue import picture_of

IDS = [entry.id for entry in own_experiments()]
# Their programs take up to half a minute to compile, those of this one a few seconds.
QUICKEST = "linear-teachers/figure-1-trained"
RUN = [pytest.param(id, marks=marks_of(id == QUICKEST)) for id in IDS]


load = cache(registry.theorem)


@pytest.fixture
def asked(monkeypatch):
    """The names of data for which an experiment looks."""
    names = []
    monkeypatch.setattr(own, "file_of", lambda name: names.append(name))
    return names


@pytest.mark.parametrize("id", RUN)
def test_it_runs_and_has_a_picture_of_its_runs(id, asked):
    theorem = load(id)
    least = {name: size.low for name, size in theorem.space.sizes.items()}
    found = reproduce(id, settings=least, runs=LEAST_KEYS, together=LEAST_KEYS // 2)
    assert set(asked) == set(theorem.data)
    for reading in found.report.readings:
        for claim in reading.claims:
            assert np.isfinite([claim.lhs, claim.rhs, claim.slack]).all(), claim.name
    (data,) = found.data.values()
    picture = picture_of(id)
    assert picture is not None
    drawn = figure(picture, data)
    assert len(drawn.axes) == len(picture.views)
    for axis in drawn.axes:
        assert axis.lines and all(np.isfinite(line.get_ydata()).all() for line in axis.lines)


@pytest.mark.parametrize("id", IDS)
def test_every_claim_has_a_null_of_the_simulation_or_of_the_claim(id):
    theorem = load(id)
    primary = theorem.primary()
    nulls = theorem.mutants_of(primary)
    for claim in primary.claims:
        assert any(null.touches(primary, claim) for null in nulls), claim.name


@pytest.mark.parametrize("id", IDS)
def test_what_the_sizes_of_the_paper_cost_can_be_told(id):
    theorem = load(id)
    assert (theorem.work is not None) == bool(theorem.paper_sizes)
