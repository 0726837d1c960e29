"""The picture of an experiment that has none of its own."""

from dataclasses import replace

import numpy as np
import xarray
from scipy import stats

from theorysim.report.experiment_plot import figure
from theorysim.scenes.plain import LINES, VIEWS, plain_picture


def data_of(**shapes):
    """Results that count up, with these axes beside that of the runs."""
    sizes = {"run": 5, "place": 3, "kind": 2, "many": LINES + 1}
    return xarray.Dataset(
        {
            name: (
                axes,
                np.arange(float(np.prod([sizes[a] for a in axes]))).reshape(
                    [sizes[a] for a in axes]
                ),
            )
            for name, axes in shapes.items()
        }
    )


def test_results_with_one_axis_or_two_have_a_view_along_the_last():
    data = data_of(seconds=["run"], one=["run", "place"], two=["run", "kind", "place"])
    data = data.assign_coords(kind=["oak", "ash"], place=[1.0, 2.0, 4.0])
    picture = plain_picture("heights", data, "run")
    assert [(view.title, view.along, view.lines) for view in picture.views] == [
        ("one", "place", ""),
        ("two", "place", "kind"),
    ]
    axes = figure(picture, data).axes
    np.testing.assert_allclose(axes[0].lines[0].get_xdata(), [1, 2, 4])
    np.testing.assert_allclose(axes[0].lines[0].get_ydata(), data.one.mean("run"))
    assert [line.get_label() for line in axes[1].lines] == ["oak", "ash"]


def test_words_along_the_axis_are_its_ticks():
    data = data_of(height=["run", "kind"]).assign_coords(kind=["oak", "ash"])
    (axis,) = figure(plain_picture("heights", data, "run"), data).axes
    assert [tick.get_text() for tick in axis.get_xticklabels()] == ["oak", "ash"]


def test_what_cannot_be_seen_at_once_is_left_out():
    assert (
        plain_picture("x", data_of(one=["run"], all=["run", "kind", "many", "place"]), "run")
        is None
    )
    lines = data_of(lines=["run", "many", "place"])
    assert plain_picture("x", lines, "run") is None
    assert plain_picture("x", lines.isel(many=slice(LINES)), "run") is not None
    picture = plain_picture("x", data_of(**{f"y{k}": ["run", "place"] for k in range(9)}), "run")
    assert len(picture.views) == VIEWS


def test_a_line_is_the_mean_of_its_runs_in_a_band_of_two_standard_errors():
    sizes = {"run": 7, "kind": 2, "place": 3}
    values = np.random.default_rng(0).exponential(size=tuple(sizes.values()))
    data = xarray.Dataset({"height": (tuple(sizes), values)}, {"kind": ["oak", "ash"]})
    picture = plain_picture("heights", data, "run")
    (view,) = picture.views
    beside = replace(view, beside=lambda d: -d.height)
    (axis,) = figure(replace(picture, views=[beside]), data).axes
    measured, predicted = axis.lines[:2], axis.lines[2:]
    assert [line.get_label() for line in measured] == ["oak", "ash"]
    for k, (line, dashed, band) in enumerate(
        zip(measured, predicted, axis.collections, strict=True)
    ):
        mean, error = values[:, k].mean(0), 2 * stats.sem(values[:, k])
        np.testing.assert_allclose(line.get_ydata(), mean)
        np.testing.assert_allclose(dashed.get_ydata(), -mean)
        corners = band.get_paths()[0].vertices
        for place in range(3):
            heights = corners[corners[:, 0] == place, 1]
            ends = [mean[place] - error[place], mean[place] + error[place]]
            np.testing.assert_allclose([heights.min(), heights.max()], ends)
