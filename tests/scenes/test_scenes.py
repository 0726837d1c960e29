"""Scenes keep their promises: sliders change numbers and no shapes; points agree with lines."""

from pathlib import Path

import numpy as np
import pytest
from drawn import is_drawn, marks_of
from pictures import only, scene, series

import theorysim.scenes
from theorysim.engine import registry
from theorysim.scenes.catalogue import picture_of, scene_of
from theorysim.scenes.scene import Role, Scene

FOLDER = Path(theorysim.scenes.__file__).parent
FILES = sorted(path for path in FOLDER.glob("*/*.py") if not path.name.startswith("_"))


def file_of(id: str) -> Path:
    paper, _, name = id.partition("/")
    stem = name.replace("-", "_").replace(".", "_")
    return FOLDER / paper.replace("-", "_") / f"{stem}.py"


DRAWN = [entry for entry in registry.catalogue() if file_of(entry.id).is_file()]
IDS = [entry.id for entry in DRAWN if not entry.is_experiment]


def test_every_scene_is_of_a_statement():
    assert sorted(file_of(entry.id) for entry in DRAWN) == FILES and IDS


def test_experiments_have_pictures_of_data_and_statements_have_scenes():
    for entry in DRAWN:
        assert (picture_of(entry.id) is not None) == entry.is_experiment
        assert (scene_of(entry.id) is None) == entry.is_experiment


def test_what_has_no_scene_has_none():
    assert scene_of("overtraining/no-such") is None
    assert scene_of("nobody/theorem-1") is None


def signature(panels) -> list:
    return [
        (
            panel.x_label,
            panel.y_label,
            [(s.label, s.role, s.x.shape, s.y.shape) for s in panel.series],
        )
        for panel in panels
    ]


def ends(chosen: Scene) -> list[dict[str, float]]:
    """The defaults, all sliders low, all high, and each by itself at both ends."""
    defaults, sliders = chosen.defaults(), chosen.sliders
    alone = [{**defaults, name: end} for name, s in sliders.items() for end in (s.low, s.high)]
    low = {name: slider.low for name, slider in sliders.items()}
    high = {name: slider.high for name, slider in sliders.items()}
    return [defaults, low, high, *alone]


@pytest.mark.parametrize(
    "id", [pytest.param(id, marks=marks_of(is_drawn(id, share=1))) for id in IDS]
)
def test_sliders_change_no_shape_and_leave_finite_numbers(id):
    chosen = scene(id)
    expected = signature(chosen.panels(chosen.defaults()))
    for values in ends(chosen):
        panels = chosen.panels(values)
        assert signature(panels) == expected, values
        for each in (each for panel in panels for each in panel.series):
            assert isinstance(each.x, np.ndarray) and each.x.ndim == 1
            assert np.isfinite(each.x).all() and np.isfinite(each.y).any(), (values, each.label)
            assert not np.isinf(each.y).any(), (values, each.label)


@pytest.mark.parametrize("id", IDS)
def test_sliders_and_family_are_in_range(id):
    chosen = scene(id)
    for slider in chosen.sliders.values():
        assert slider.low <= slider.default <= slider.high
        assert len(slider.grid()) == slider.steps and (slider.low > 0 or not slider.log)
    if chosen.family:
        name, values = chosen.family
        assert all(chosen.sliders[name].low <= v <= chosen.sliders[name].high for v in values)


# The largest distance of points from lines at the defaults, as a share of the line's range. Means
# over thousands of draws are as far off as their number says, descent as far as its steps do.
AGREES = {
    "overtraining/theorem-4.1": 0.03,
    "overtraining/theorem-4.4": 0.01,
    "overtraining/theorem-4.6": 1e-6,
    "overtraining/theorem-4.7": 1e-6,
    "overtraining/definition-4.2": 1e-6,
    "overtraining/lemma-a.11": 1e-6,
    "overtraining/proposition-4.3": 0.02,
    "overtraining/eq-1": 0.01,
    "linear-teachers/theorem-4.1": 1e-9,
    "linear-teachers/theorem-5.2": 0.01,
    "linear-teachers/theorem-5.3": 0.01,
    "linear-teachers/equation-7": 0.01,
    "linear-teachers/theorem-6.1": 0.02,
    "linearization/theorem-1": 1e-12,
    "low-rank/equation-5-6": 1e-9,
    "low-rank/lemma-7": 0.053,  # three standard deviations of a share among 4000
    "low-rank/theorem-4": 0.15,
    "transferability/remark-scratch-bound": 0.01,
}


@pytest.mark.parametrize(
    "id", [pytest.param(id, marks=marks_of(is_drawn(id, share=1))) for id in AGREES]
)
def test_points_agree_with_lines(id):
    chosen = scene(id)
    for panel in chosen.panels(chosen.defaults()):
        lines, points = series(panel, Role.PREDICTION), series(panel, Role.SIMULATION)
        assert len(lines) == len(points)
        for line, point in zip(lines, points):
            at = [int(np.argmin(np.abs(line.x - x))) for x in point.x]
            near = np.abs(line.x[at] - point.x) <= 1e-12 + 1e-9 * np.abs(point.x)
            assert near.any()
            distance = np.abs(line.y[at] - point.y)[near]
            assert np.nanmax(distance) <= AGREES[id] * (np.nanmax(line.y) - np.nanmin(line.y)), (
                panel.title,
                line.label,
            )


@pytest.mark.parametrize("lam", [0.0, 3.0, 8.0])
def test_the_ring_of_overtraining_is_where_descent_is_least(lam):
    chosen = scene("overtraining/theorem-4.7")
    panel = chosen.panels({**chosen.defaults(), "lam": lam})[0]
    points, ring = only(panel, Role.SIMULATION), only(panel, Role.MARK)
    assert ring.x[0] == points.x[np.argmin(points.y)]


def test_a_pull_back_delays_the_ring():
    chosen = scene("overtraining/theorem-4.7")
    name, values = chosen.family
    rings = [only(chosen.panels({**chosen.defaults(), name: v})[0], Role.MARK).x[0] for v in values]
    assert rings == sorted(rings) and len(set(rings)) == len(rings)


def test_few_steps_of_descent_do_not_reach_the_limit():
    chosen = scene("overtraining/theorem-4.7")
    few = chosen.panels({**chosen.defaults(), "steps": 3.0})[1]
    line, points = only(few, Role.PREDICTION), only(few, Role.SIMULATION)
    assert np.abs(line.y - points.y).max() > 0.01 * np.ptp(line.y)


def test_both_definitions_of_the_inflection_point_are_found_on_the_points():
    chosen = scene("overtraining/definition-4.2")
    (panel,) = chosen.panels(chosen.defaults())
    rises = np.diff(only(panel, Role.SIMULATION).y) > 0
    first, last = series(panel, Role.MARK)
    assert first.x[0] == np.flatnonzero(rises)[0]
    assert last.x[0] == np.flatnonzero(~rises)[-1] + 1
    assert first.x[0] < last.x[0]
    (panel,) = chosen.panels({**chosen.defaults(), "early": 1.0})
    first, last = series(panel, Role.MARK)
    assert first.x[0] == last.x[0]


def test_the_printed_fixed_point_is_not_approached_and_the_corrected_one_is():
    chosen = scene("overtraining/lemma-a.28")
    printed, corrected = chosen.panels({**chosen.defaults(), "lam": 5.0})
    distance, bound = only(printed, Role.SIMULATION).y, only(printed, Role.BOUND).y
    assert distance[-1] > 2 * bound[-1]
    distance, bound = only(corrected, Role.SIMULATION).y, only(corrected, Role.BOUND).y
    known = np.isfinite(distance)
    assert np.all(distance[known] <= bound[known] * (1 + 1e-12))


def test_without_a_pull_back_a_feature_becomes_that_of_the_new_task():
    chosen = scene("overtraining/lemma-a.11")
    (panel,) = chosen.panels({"pre": 1.0, "ft": 3.0, "steps": 3000.0})
    points, printed = only(panel, Role.SIMULATION), only(panel, Role.BOUND)
    assert points.x[0] == 0 and abs(points.y[0] - 3) < 1e-9 and printed.y[0] == 1


def test_the_loss_under_noise_turns_one_stage_before_the_printed_one():
    chosen = scene("overtraining/proposition-4.3-inflection")
    (panel,) = chosen.panels(chosen.defaults())
    corrected, printed = only(panel, Role.PREDICTION).y, only(panel, Role.BOUND).y
    found = only(panel, Role.SIMULATION).y
    known = np.isfinite(printed)
    assert np.mean(found[known] == corrected[known]) > 0.9
    assert np.mean(found[known] == printed[known]) < 0.5


def test_descent_leaves_eq_5_to_first_order():
    chosen = scene("linear-teachers/theorem-5.2-descent")
    (panel,) = chosen.panels(chosen.defaults())
    points = only(panel, Role.SIMULATION)
    small = points.x < 0.1
    slope = np.polyfit(np.log(points.x[small]), np.log(points.y[small]), 1)[0]
    assert abs(slope - 1) < 0.05


@pytest.mark.thorough
def test_one_layer_keeps_the_source_and_depth_finds_the_target():
    chosen = scene("linear-teachers/theorem-5.2")
    (panel,) = chosen.panels(chosen.defaults())
    assert abs(only(panel, Role.SIMULATION).y[0] - 1) < 1e-9
    chosen = scene("linear-teachers/theorem-5.3")
    (panel,) = chosen.panels(chosen.defaults())
    line, one_layer = only(panel, Role.PREDICTION), only(panel, Role.BOUND)
    assert abs(line.y[0] - one_layer.y[0]) < 1e-9
    slope = np.diff(np.log(line.y[-2:])) / np.diff(np.log(line.x[-2:]))
    assert abs(slope[0] + 2) < 0.02


def test_the_bound_on_the_risk_holds_for_a_constant_of_5_and_breaks_for_a_small_one():
    chosen = scene("linear-teachers/theorem-4.2")
    (panel,) = chosen.panels({**chosen.defaults(), "constant": 5.0})
    risk, (bound, _) = only(panel, Role.SIMULATION).y, series(panel, Role.BOUND)
    assert np.all(risk < bound.y)
    (panel,) = chosen.panels({**chosen.defaults(), "constant": 0.05})
    assert np.any(risk > series(panel, Role.BOUND)[0].y)


def test_the_printed_risk_misses_the_mean_of_the_inputs():
    chosen = scene("linear-teachers/theorem-4.1")
    (panel,) = chosen.panels({"mean": 3.0, "turn": 90.0})
    end = only(panel, Role.SIMULATION).y[-1]
    printed, corrected = (each.y[-1] for each in series(panel, Role.BOUND))
    assert abs(end - corrected) < 0.01 * end < abs(end - printed)


@pytest.mark.thorough
def test_the_length_of_the_source_matters_to_one_layer_only():
    chosen = scene("linear-teachers/theorem-5.4")
    short, long = (chosen.panels({**chosen.defaults(), "length": n}) for n in (0.5, 2.0))
    deep, shallow = (
        np.abs(only(two[0], Role.BOUND).y / only(two[1], Role.BOUND).y - 1).max()
        for two in zip(short, long)
    )
    assert deep < 1e-12 < 0.1 < shallow
