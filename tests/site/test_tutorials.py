"""The notebooks as pages of the site: nothing of them is lost, and their links lead to pages."""

import json
import re
from html import unescape
from pathlib import Path

import pytest

from theorysim.site.build import LESSONS, OF_PAPERS
from theorysim.site.documents import with_links

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
each = pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)


def page_of(site: Path, notebook: Path) -> str:
    return (site / "tutorials" / f"{notebook.stem}.html").read_text("utf-8")


def outputs(notebook: Path) -> list[dict]:
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    return [output for cell in cells for output in cell.get("outputs", ())]


def test_every_notebook_is_in_the_navigation():
    assert sorted((*LESSONS, *OF_PAPERS)) == [path.stem for path in NOTEBOOKS]


@each
def test_every_picture_is_shown_and_described(site, notebook):
    drawn = ["image/png" in output.get("data", ()) for output in outputs(notebook)]
    shown = re.findall(r'<img alt="Figure: ([^"]+)" src="([^"]+)"', page_of(site, notebook))
    assert len(shown) == sum(drawn) > 0
    for _, file in shown:
        assert (site / "tutorials" / file).read_bytes().startswith(b"\x89PNG")


@each
def test_what_was_printed_is_on_the_page(site, notebook):
    words = unescape(re.sub(r"<[^>]+>", "", page_of(site, notebook)))
    printed = [line for output in outputs(notebook) for line in output.get("text", ())]
    assert printed
    assert [line for line in printed if line.strip() not in words] == []


@each
def test_formulas_are_formulas_and_commands_are_left_out(site, notebook):
    page = page_of(site, notebook)
    prose = re.sub(r"<(pre|script|head).*?</\1>", "", page, flags=re.DOTALL)
    assert "$" not in prose
    assert "%matplotlib" not in page
    assert page.count("<math") == page.count("</math>")


def test_links_between_notebooks_and_documents_lead_to_pages():
    names = {"lemma-1": "one/lemma-1"}

    def from_tour(text: str) -> str:
        return with_links(text, "tutorials/tour.html", names)

    assert from_tour("[next](sweep.ipynb)") == "[next](sweep.md)"
    assert from_tour("[guide](../docs/guide/verdicts.md#x)") == "[guide](../guide/verdicts.md#x)"
    assert from_tour("[paper](../docs/papers/one.md)") == "[paper](../papers/one.md)"
    assert from_tour("[paper](../docs/papers/two.md)") == "paper"  # not of this site
    assert from_tour("[code](../theorysim/a.py)") == "code"
    from_guide = with_links("[tour](../../notebooks/tour.ipynb)", "guide/review.html", names)
    assert from_guide == "[tour](../tutorials/tour.md)"
