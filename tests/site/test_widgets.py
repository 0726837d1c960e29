"""Scenes in pages: what is precomputed is what the kernel gives, and what is between is as said."""

import json
import re

import numpy as np
import pytest
from drawn import one_in

from theorysim.engine import registry
from theorysim.scenes.catalogue import scene_of
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.site import widgets
from theorysim.site.grids import TOLERANCE, precompute
from theorysim.site.widgets import data, make, widget_of

pytestmark = pytest.mark.xdist_group("site")  # grids are computed once per worker

QUICK = ("overtraining/theorem-4.7", "overtraining/lemma-a.28", "linear-teachers/theorem-4.1")


def closed_form(values) -> list[Panel]:
    """A curve that bends, a mark at its largest point, and points that stay."""
    x = np.linspace(0.0, 1.0, 9)
    y = np.exp(values["rate"] * x) * np.cos(values["turn"] * x)
    top = np.argmax(y)
    return [
        Panel(
            "x",
            "y",
            [
                Series("curve", Role.PREDICTION, x, y),
                Series("largest", Role.MARK, x[[top]], y[[top]]),
                Series("nothing", Role.BOUND, x, np.zeros(9)),
            ],
        )
    ]


SLIDERS = {
    "rate": Slider("rate", 0.1, 3.0, 0.5, log=True, steps=5),
    "turn": Slider("turn", 0.0, 2.0, 1.0, steps=5),
}
BENT = Scene("bent", "", closed_form, SLIDERS)


@pytest.fixture(scope="module", params=["bent", *one_in(3, QUICK)])
def scene(request) -> Scene:
    return BENT if request.param == "bent" else scene_of(request.param)


@pytest.fixture(scope="module")
def grid(scene, grid_of):
    return grid_of(scene)


@pytest.fixture
def bent(grid_of):
    return grid_of(BENT)


def shown(y: np.ndarray, log: bool) -> np.ndarray:
    """NaN where a logarithmic axis shows nothing."""
    return np.where(y > 0, y, np.nan) if log else y


def test_at_its_values_a_page_has_what_the_kernel_gives(scene, grid):
    rng = np.random.default_rng(1)
    for values in [scene.defaults(), *rng.choice(grid.nodes, 20)]:
        for panel, drawn in zip(scene.panels(values), grid.drawn(values)):
            for series, (x, y) in zip(panel.series, drawn):
                np.testing.assert_allclose(x, series.x, rtol=5.1e-5)
                np.testing.assert_allclose(
                    shown(y, panel.log_y), shown(series.y, panel.log_y), rtol=5.1e-5
                )


def test_between_them_it_is_off_by_no_more_than_it_says(scene, grid):
    """At random places, other than those that were compared; lines as shares of their own range."""
    rng = np.random.default_rng(2)
    assert 0 <= grid.error <= TOLERANCE
    for _ in range(40):
        values = {
            name: float(rng.choice(track.values))
            if not track.between
            else float(np.exp(rng.uniform(*np.log(track.values[[0, -1]]))))
            if track.slider.log
            else rng.uniform(*track.values[[0, -1]])
            for name, track in grid.tracks.items()
        }
        for panel, start, drawn in zip(scene.panels(values), grid.panels, grid.drawn(values)):

            def scaled(y, log=panel.log_y):
                return np.log(shown(y, log)) if log else y

            both = np.concatenate([s.y for s in [*panel.series, *start.series]])
            extent = np.nanmax(scaled(both)) - np.nanmin(scaled(both))
            for series, (_, y) in zip(panel.series, drawn):
                if series.role is not Role.MARK:
                    missed = np.abs(scaled(y) - scaled(series.y)) / extent
                    assert np.all(missed[np.isfinite(missed)] <= 1.5 * TOLERANCE), values


def test_marks_stand_on_their_curve(bent):
    ((curve, mark, _),) = bent.drawn({"rate": 1.3, "turn": 0.7})
    assert mark[1][0] in curve[1]


def test_a_slider_over_jumps_stops_at_computed_values_only():
    def jumping(values) -> list[Panel]:
        y = np.array([0.0, 1.0, round(values["layers"])])
        return [Panel("x", "y", [Series("step", Role.PREDICTION, np.arange(3.0), y)])]

    slider = Slider("layers", 1.0, 6.0, 2.0, steps=6)
    grid = precompute(Scene("jumps", "", jumping, {"layers": slider}))
    assert not grid.tracks["layers"].between
    assert grid.tracks["layers"].values.tolist() == [1, 2, 3, 4, 5, 6]
    assert "from one of these values to the next: layers" in make("a/b", grid).html


def test_the_script_holds_the_grid(bent):
    (text,) = make("a/b-1", bent).files.values()
    found = json.loads(text.partition("=")[2].partition("=")[2])
    assert found == data(bent)
    curve = found["panels"][0]["series"][0]
    rows = np.array(found["tables"][curve["y"]]["rows"])
    np.testing.assert_allclose(rows, [closed_form(v)[0].series[0].y for v in bent.nodes], 5.1e-5)
    assert len(found["tables"][curve["x"]]["rows"]) == 1


def test_numbers_that_are_not_drawn_are_null():
    def half(values) -> list[Panel]:
        y = np.array([np.nan, values["a"]])
        return [Panel("x", "y", [Series("half", Role.SIMULATION, np.arange(2.0), y)])]

    grid = precompute(Scene("half", "", half, {"a": Slider("a", 1.0, 2.0, 1.0)}))
    (text,) = make("a/b", grid).files.values()
    assert "[null,1]" in text and "NaN" not in text


def test_a_scene_is_computed_once(bent, monkeypatch, tmp_path):
    computed = []
    monkeypatch.setattr(widgets, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(widgets.grids, "precompute", lambda scene: computed.append(scene) or bent)
    found = [widget_of("linear-teachers/theorem-4.1", BENT) for _ in range(2)]
    assert found[0] == found[1] and len(computed) == 1


def test_what_has_nothing_to_move_has_no_widget():
    assert widget_of("a/b", Scene("still", "", closed_form)) is None


def test_every_scene_but_one_can_be_moved():
    scenes = {e.id: scene for e in registry.catalogue() if (scene := scene_of(e.id))}
    still = [id for id, scene in scenes.items() if not scene.sliders]
    assert still == ["low-rank/theorem-4"]  # its runs take seconds, too long for a grid of them


def test_controls_have_names(bent):
    html = make("a/b-1", bent).html
    assert re.findall(r'<label for="([^"]+)"', html) == re.findall(r'<input id="([^"]+)"', html)
    assert html.count("<output") == 2 and 'aria-live="polite"' in html
