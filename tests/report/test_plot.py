"""Pictures: what is drawn of a verification, and what is refused before it."""

import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest

import theorysim
from theorysim.claims import (
    Corrected,
    Gaussian,
    Printed,
    Reading,
    Real,
    Size,
    Space,
    Theorem,
    at_least,
    at_most,
    equal,
    increasing,
    scales_as,
)
from theorysim.errors import UsageError
from theorysim.report import plot, scene_plot, sheet, sweep_plot
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider


def texts(picture) -> str:
    return "\n".join(text.get_text() for text in picture.findobj(matplotlib.text.Text))


def red(picture) -> list:
    return [
        line for line in picture.findobj(matplotlib.lines.Line2D) if line.get_color() == sheet.RED
    ]


@pytest.mark.parametrize("name", ["x.nosuch", "x", "folder.png/x"])
def test_an_unknown_ending_is_refused(name):
    with pytest.raises(UsageError, match=r"one of \.png"):
        plot.check_picture(name)


def test_every_format_is_one_of_matplotlib():
    from matplotlib.backend_bases import FigureCanvasBase

    assert set(sheet.FORMATS) <= FigureCanvasBase.get_supported_filetypes().keys()


def parabola(values) -> list[Panel]:
    x = np.arange(5.0)
    line = Series("line", Role.PREDICTION, x, values["a"] * x**2)
    points = Series("points", Role.SIMULATION, x, values["a"] * x**2 + 0.01)
    bound = Series("bound", Role.BOUND, x, 0 * x)
    return [Panel("x", "y", [line, points, bound])]


SCENE = Scene(
    "A parabola",
    "It opens the wider, the smaller a is.",
    parabola,
    {"a": Slider("opening a", 0.0, 3.0, 1.0)},
    ("a", (1.0, 2.0, 3.0)),
)


def test_members_of_a_family_have_a_colour_that_line_and_points_share():
    picture = scene_plot.figure(SCENE)
    lines = {}
    for line in picture.axes[0].lines:
        if len(line.get_xdata()):
            lines.setdefault(line.get_linestyle(), []).append(line)
    colours = [matplotlib.colors.to_hex(line.get_color()) for line in lines["-"]]
    assert colours == [matplotlib.colors.to_hex(line.get_color()) for line in lines["None"]]
    assert len(set(colours)) == 3 and len(lines["--"]) == 1  # the bound is the same for all
    for said in ("opening a", "1", "2", "3", "A parabola", "It opens the wider"):
        assert said in texts(picture)


def test_a_scene_without_a_family_shows_its_defaults():
    alone = Scene(SCENE.title, SCENE.caption, parabola, SCENE.sliders)
    line, points, *_ = scene_plot.figure(alone).axes[0].lines
    np.testing.assert_array_equal(line.get_ydata(), np.arange(5.0) ** 2)
    assert line.get_color() == points.get_color()


def statement() -> Theorem:
    """Five claims of which the print has one wrong: the square of a path is at most the path."""
    right = (
        at_least("not negative", lambda r: r.sim**2, lambda r: 0.0),
        at_most("one number", lambda r: jnp_sum(r.sim**2), lambda r: jnp_sum(r.sim**2) + 1),
        equal("same", lambda r: r.sim, lambda r: r.theory),
        increasing("grows", lambda r: cumulated(r.sim**2)),
        scales_as("power", lambda r: r.x.scale**2, over={"scale": (1, 2, 4)}, exponent=2),
    )
    wrong = at_most("below", lambda r: r.sim**2, lambda r: r.sim)
    return Theorem(
        space=Space(n=Size(5), v=Gaussian("n"), scale=Real(1, 4)),
        simulate=lambda x, key: x.v,
        predict=lambda x: x.v,
        claims=(wrong, *right),
        source=Printed("Theorem 1", "v^2 <= v"),
        printed="print",
        readings=(Reading("corrected", Corrected("without it"), claims=right, primary=True),),
        mutants=(),
    )


def jnp_sum(values):
    return values.sum()


def cumulated(values):
    return values.cumsum()


@pytest.fixture(scope="module")
def report():
    return theorysim.verify(statement(), instances=12)


def test_the_violated_claim_of_the_print_comes_first_and_in_red(report):
    picture = plot.figure(report)
    shown = [axis for axis in picture.axes if axis.get_visible()]
    first = [text.get_text() for text in shown[0].texts]
    assert first[-1] == "below" and "print: violated" in first
    assert len(shown) == 6 and red(picture) and "violated: print" in texts(picture)
    assert [line for line in shown[0].lines if line.get_color() == sheet.RED]
    assert not [line for axis in shown[1:] for line in axis.lines if line.get_color() == sheet.RED]


def test_red_points_are_those_that_violate(report):
    (claim,) = [c for c in report.reading("print").claims if c.name == "below"]
    axis = plot.figure(report).axes[0]
    (bad,) = [line for line in axis.lines if line.get_color() == sheet.RED]
    wrong = np.asarray(claim.path["lhs"]) > np.asarray(claim.path["rhs"])
    np.testing.assert_array_equal(bad.get_ydata(), np.asarray(claim.path["lhs"])[wrong])


def test_instances_of_which_a_claim_says_nothing_are_not_drawn():
    """All instances with a negative number would lie where the claim fails."""
    silent = at_least("sign", lambda r: r.sim, lambda r: 0.0, where=lambda r: r.sim)
    theorem = Theorem(
        space=Space(v=Gaussian()), simulate=lambda x, key: x.v, claims=(silent,), mutants=()
    )
    report = theorysim.verify(theorem, instances=40)
    (claim,) = report.readings[0].claims
    assert str(claim.verdict) == "holds" and 5 < len(claim.scatter["lhs"]) < 40
    drawn = np.concatenate([line.get_ydata() for line in plot.figure(report).axes[0].lines])
    assert np.all(drawn >= 0)


def test_axes_say_what_they_count_and_powers_what_was_fitted(report):
    said = texts(plot.figure(report))
    assert "index, 1 to n = 5" in said and "fitted power 2, claimed 2" in said
    assert "last axis" not in said


def test_claims_that_are_not_drawn_are_named(report):
    assert "Not drawn: 5 claims of other readings." in texts(plot.figure(report))


def test_drawing_leaves_no_state_behind(report, tmp_path):
    before, drawn = matplotlib.rcParams.copy(), "matplotlib.pyplot" in sys.modules
    plot.draw(report, tmp_path / "x.svg")
    assert ("matplotlib.pyplot" in sys.modules) is drawn
    assert matplotlib.rcParams.copy() == before
    assert Path(tmp_path / "x.svg").read_text().startswith("<?xml")


def sweep(a, b):
    """A claim of either sign and a tie, outside of the hypotheses for a < 0."""
    theorem = Theorem(
        space=Space(a=Real(-1, 3), b=Real(0, 3)),
        hypotheses={"a >= 0": lambda x: x.a},
        simulate=lambda x, key: x.a,
        predict=lambda x: x.b,
        claims=(
            at_most("order", lambda r: r.sim, lambda r: r.theory),
            at_most("tie", lambda r: (r.sim + 3) ** 2, lambda r: r.sim**2 + 6 * r.sim + 9),
        ),
        mutants=(),
    )
    return theorysim.sweep(theorem, {"a": a, "b": b})


def test_a_sweep_says_what_has_no_slack_and_why():
    said = texts(sweep_plot.figure(sweep(np.linspace(-1, 3, 9), np.linspace(0, 3, 7))))
    assert "49 of 63 instances meet the hypotheses" in said
    assert "outside the hypotheses" in said and "zero within rounding" in said


def test_a_tie_is_neither_red_nor_blue():
    picture = sweep_plot.figure(sweep(np.linspace(0, 3, 9), np.linspace(0, 3, 7)), ("tie.slack",))
    values = [
        mesh.get_array() for mesh in picture.axes[0].collections if mesh.get_array() is not None
    ]
    coloured = [v for v in values if np.ma.count(v) and np.any(v != 0)]
    assert not coloured


def test_a_sweep_that_meets_no_hypothesis_says_so():
    said = texts(sweep_plot.figure(sweep(np.linspace(-1, -0.5, 4), np.linspace(0, 3, 5))))
    assert "0 of 20 instances meet the hypotheses: nothing is compared" in said


@pytest.mark.parametrize("command", ["verify", "sweep"])
@pytest.mark.parametrize("file", ["x.nosuch", "missing/x.png", "."])
def test_a_picture_that_cannot_be_written_is_refused_before_the_run(
    command, file, monkeypatch, capsys
):
    from theorysim import cli
    from theorysim.engine import registry

    def never(*_):
        raise AssertionError("it ran")

    monkeypatch.setattr(registry, "load", never)
    monkeypatch.setattr(registry, "theorem", never)
    arguments = ["theorysim", command, "overtraining/theorem-4.7", "--plot", file]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as done:
        cli.main()
    assert (
        done.value.code == 2
        and f"cannot {'draw' if file == 'x.nosuch' else 'write'} {file}"
        in (capsys.readouterr().err)
    )
