"""Sliders in a browser, moved by keyboard: what is drawn is what the kernel gives."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import theorysim.site
from theorysim.scenes.catalogue import scene_of
from theorysim.scenes.scene import Role
from theorysim.site.grids import precompute
from theorysim.site.widgets import make

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.xdist_group("site"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]
ASSETS = Path(theorysim.site.__file__).parent / "assets"
IDS = ("overtraining/theorem-4.7", "overtraining/lemma-a.28", "linear-teachers/theorem-4.1")
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>scene</title>
<meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="{assets}/site.css"><link rel="stylesheet" href="{assets}/explore.css">
<body data-md-color-scheme="default"><main class="md-typeset">{html}</main>
<script src="{assets}/explore.js"></script>"""


@pytest.fixture(scope="module")
def browser() -> Iterator:
    with sync_api.sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def visit(browser) -> Iterator:
    """Open a file without network; at the end nothing may have failed or complained."""
    complaints, contexts = [], []

    def opened(path: Path, width: int = 1000):
        contexts.append(browser.new_context(viewport={"width": width, "height": 800}, offline=True))
        tab = contexts[-1].new_page()
        tab.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("requestfailed", lambda request: complaints.append(request.url))
        tab.goto(path.as_uri())
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="module", params=IDS)
def page(request, tmp_path_factory):
    """A page with one widget: its file, scene and grid."""
    scene, folder = scene_of(request.param), tmp_path_factory.mktemp("page")
    grid = precompute(scene)
    widget = make(request.param, grid)
    for name, text in widget.files.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "page.html").write_text(
        PAGE.format(assets=ASSETS.as_uri(), html=widget.html), "utf-8"
    )
    return folder / "page.html", scene, grid


def press(tab, slider: int, *keys: str) -> None:
    tab.locator(".sliders input").nth(slider).focus()
    for key in keys:
        tab.keyboard.press(key)
    tab.wait_for_timeout(100)  # what is drawn follows with the next frame


def scale(svg, axis: str, log: bool):
    """From pixels to numbers, as a reader does it: by two ticks."""
    ticks = svg.locator(f"[data-{axis}]")
    ends = [ticks.first, ticks.last]
    shift = 4 if axis == "y" else 0  # letters stand below their line
    places = [float(tick.get_attribute(axis)) - shift for tick in ends]
    numbers = [float(tick.get_attribute(f"data-{axis}")) for tick in ends]
    of = np.log if log else np.asarray
    slope = (of(numbers[1]) - of(numbers[0])) / (places[1] - places[0])
    return lambda number: places[0] + (of(number) - of(numbers[0])) / slope


def drawn(svg, series: int) -> np.ndarray:
    """Pixels of the points of a series: the corners of a line, or the places of its signs."""
    found = svg.locator(f"[data-series='{series}']")
    signs = found.locator("path")
    texts = (
        [sign.get_attribute("transform") for sign in signs.all()]
        if found.evaluate("e => e.tagName") == "g"
        else re.split("[ML]", found.get_attribute("d"))[1:]
    )
    numbers = [[float(n) for n in re.findall(r"[-\d.]+", text)] for text in texts]
    return np.array(numbers).reshape(-1, 2)


def check(tab, panels) -> int:
    """Every drawn point is within a pixel of its place; how many there are."""
    many = 0
    for svg, panel in zip(tab.locator(".panel > svg").all(), panels):
        x, y = scale(svg, "x", panel.log_x), scale(svg, "y", panel.log_y)
        for number, series in enumerate(panel.series):
            kept = np.isfinite(series.y) & ((series.y > 0) | (not panel.log_y))
            wanted = np.stack([x(series.x[kept]), y(series.y[kept])], axis=1)
            found = drawn(svg, number)
            assert found.shape == wanted.shape, (panel.title, series.label)
            np.testing.assert_allclose(found, wanted, atol=1.0, err_msg=series.label)
            many += len(found)
    return many


def test_moved_to_a_computed_value_curves_are_those_of_the_kernel(visit, page):
    path, scene, _ = page
    tab = visit(path)
    values = scene.defaults()
    assert check(tab, scene.panels(values)) > 10
    for number, (name, slider) in enumerate(scene.sliders.items()):
        for key, end in (("Home", slider.low), ("End", slider.high)):
            press(tab, number, key)
            values[name] = end
            check(tab, scene.panels(values))
    tab.get_by_role("button").click()
    tab.wait_for_timeout(100)
    check(tab, scene.panels(scene.defaults()))


def test_one_key_moves_by_one_computed_value_where_there_is_none_between(visit, page):
    path, scene, grid = page
    tab = visit(path)
    values = scene.defaults()
    for number, (name, track) in enumerate(grid.tracks.items()):
        if not track.between:
            press(tab, number, "Home", "ArrowRight", "ArrowRight")
            values[name] = float(track.values[2])
            check(tab, scene.panels(values))


def test_between_computed_values_the_page_draws_what_was_measured(visit, page):
    """The script interpolates as the code does whose error was measured."""
    path, scene, grid = page
    tab = visit(path)
    values = scene.defaults()
    for number, (name, track) in enumerate(grid.tracks.items()):
        if track.between:
            press(tab, number, "Home", *["ArrowRight"] * 7)
            share = float(tab.locator(".sliders input").nth(number).input_value())
            low, high = track.values[[0, -1]]
            values[name] = (
                low * (high / low) ** share if track.slider.log else low + share * (high - low)
            )
    expected = grid.drawn(values)
    for svg, panel, points in zip(tab.locator(".panel > svg").all(), grid.panels, expected):
        x, y = scale(svg, "x", panel.log_x), scale(svg, "y", panel.log_y)
        for number, (series, (xs, ys)) in enumerate(zip(panel.series, points)):
            kept = np.isfinite(ys)
            wanted = np.stack([x(xs[kept]), y(ys[kept])], axis=1)
            np.testing.assert_allclose(drawn(svg, number), wanted, atol=1.0, err_msg=series.label)


def test_what_is_drawn_is_said(visit, page):
    path, scene, _ = page
    tab = visit(path)
    press(tab, 0, "End")
    name, slider = next(iter(scene.sliders.items()))
    told = tab.locator(".sliders input").first.get_attribute("aria-valuetext")
    assert float(told) == pytest.approx(slider.high, rel=1e-2)
    assert tab.locator("output").first.inner_text() == told
    tab.wait_for_function("document.querySelector('[aria-live]').textContent")
    said = tab.locator("[aria-live]").text_content()
    panel = scene.panels({**scene.defaults(), name: slider.high})[0]
    line = next(s for s in panel.series if s.role is Role.SIMULATION)
    assert panel.y_label in said and line.label in said


def test_a_widget_fits_a_phone(visit, page):
    tab = visit(page[0], width=390)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert all(box.bounding_box()["width"] > 250 for box in tab.locator(".panel > svg").all())


def test_a_statement_is_moved_in_its_page(visit, site):
    tab = visit(site / "statements/overtraining/theorem-4.7.html")
    scene = scene_of("overtraining/theorem-4.7")
    press(tab, 0, "End")
    assert check(tab, scene.panels({**scene.defaults(), "lam": scene.sliders["lam"].high})) > 10
