"""The pages in a browser without network, opened from disk, as a reader opens them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from drawn import thorough

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.xdist_group("site"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]

THEOREM = "statements/overtraining/theorem-4.7.html"
PAGES = (
    "index.html",
    "papers/overtraining.html",
    THEOREM,
    "statements/linear-teachers/equation-7.html",
    "errata.html",
    "errata/overtraining.html",
    "gallery.html",
    "guide/verdicts.html",
    "records/attacks.html",
    "reference/api.html",
)
every = pytest.mark.parametrize("page", PAGES)
PHONE = 390
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]


@pytest.fixture(scope="module")
def browser() -> Iterator:
    with sync_api.sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def visit(browser, site: Path) -> Iterator:
    """Open a page at a width in a scheme; at the end, nothing may have failed or complained."""
    complaints, contexts = [], []

    def opened(page: str, width: int = 1280, scheme: str = "light"):
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme, offline=True)
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("requestfailed", lambda request: complaints.append(request.url))
        tab.goto((site / page).as_uri())
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@every
def test_pages_load_and_fit_a_phone(visit, page):
    tab = visit(page, width=PHONE)
    assert tab.locator("h1").is_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE


def test_formulas_are_laid_out(visit):
    """Every visible formula has an extent, and a numerator stands above its denominator."""
    tab = visit(THEOREM)
    boxes = tab.evaluate(
        """[...document.querySelectorAll("math")].filter(m => m.checkVisibility())
           .map(m => m.getBoundingClientRect()).map(b => [b.width, b.height])"""
    )
    assert len(boxes) > 20
    assert all(width > 3 and height > 5 for width, height in boxes)
    above, below = tab.evaluate(
        """[...document.querySelector("mfrac").children].map(c => c.getBoundingClientRect().y)"""
    )
    assert above + 5 < below


def test_search_works_from_disk(visit):
    tab = visit("index.html")
    tab.get_by_label("Search").first.click()
    tab.keyboard.type("overtraining")
    result = tab.locator(".md-search-result__link").first
    result.wait_for(timeout=15_000)
    names = tab.locator(".md-search-result__article h1").all_inner_texts()
    assert any("Theorem 4.7" in name or "Overtrained" in name for name in names), names


def test_a_command_has_a_button_that_copies_it(visit):
    tab = visit(THEOREM)
    button = tab.locator("pre button.md-code__button[data-md-type=copy]").last
    button.scroll_into_view_if_needed()
    assert button.is_visible()


SEEN = ("index.html", THEOREM, "errata/overtraining.html")
judged = [pytest.param(p, marks=[] if p in SEEN else pytest.mark.thorough) for p in PAGES]


@pytest.mark.parametrize("page", judged)
@pytest.mark.parametrize("scheme", ["light", thorough("dark")])
def test_pages_are_accessible(visit, page, scheme):
    """No violation of the rules of WCAG 2, levels A and AA, that axe-core can see."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core")
    tab = visit(page, scheme=scheme)
    tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    options = {"preload": False, "runOnly": {"type": "tag", "values": WCAG}}
    found = axe.Axe().run(tab, options=options).response["violations"]
    told = [(v["id"], v["nodes"][0]["target"], v["nodes"][0]["failureSummary"]) for v in found]
    assert told == []
