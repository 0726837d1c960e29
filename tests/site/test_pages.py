"""What was generated, as HTML: links lead somewhere, nothing comes from elsewhere, ids differ."""

import json
import posixpath
import re
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

from theorysim.engine import registry
from theorysim.engine.registry.ledger import errata
from theorysim.engine.registry.records import verdicts
from theorysim.site.addresses import errata_of, label, link, page_of, page_of_paper

pytestmark = pytest.mark.xdist_group("site")  # it is built once per worker

LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
RELATIONS = {"stylesheet", "icon", "preload", "prefetch", "preconnect"}


class Page(HTMLParser):
    """Tags with their attributes, and headings in order."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def ids(self) -> list[str]:
        return [a["id"] for _, a in self.tags if a.get("id")]

    def headings(self) -> list[int]:
        return [int(tag[1]) for tag, _ in self.tags if re.fullmatch("h[1-6]", tag)]


@cache
def read(path: Path) -> Page:
    return Page(path.read_text("utf-8"))


@cache
def places(path: Path) -> set[str]:
    """Where links of a page may lead to."""
    return {*read(path).ids(), "__top"}


def pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def test_every_link_leads_somewhere(site):
    broken = []
    for path in pages(site):
        for tag, attributes in read(path).tags:
            target = attributes.get("href") if tag in ("a", "link") else attributes.get("src")
            parts = urlsplit(target or "")
            if not target or parts.scheme:
                continue
            there = path.parent / unquote(parts.path) if parts.path else path
            there = there / "index.html" if there.is_dir() else there
            named = unquote(parts.fragment)
            if not there.is_file() or (
                named and there.suffix == ".html" and named not in places(there)
            ):
                broken.append((path.relative_to(site).as_posix(), target))
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(site):
    for path in pages(site):
        for tag, attributes in read(path).tags:
            if tag == "link" and not RELATIONS & set(attributes.get("rel", "").split()):
                continue
            address = attributes.get(LOADS.get(tag, ""), "")
            assert not re.match(r"(https?:)?//", address), (path, address)
    for path in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", path.read_text("utf-8")), path


def test_ids_are_unique(site):
    for path in pages(site):
        twice = [id for id, many in Counter(read(path).ids()).items() if many > 1]
        assert twice == [], path


def test_headings_are_in_order_and_everything_has_a_name(site):
    for path in pages(site):
        page = read(path)
        levels = page.headings()
        assert levels[0] == 1 and levels.count(1) == 1, path
        assert all(after <= before + 1 for before, after in pairwise(levels)), path
        assert dict(page.tags)["html"]["lang"] == "en"
        assert all("alt" in a for tag, a in page.tags if tag == "img"), path


def test_a_statement_says_what_its_record_says(site):
    record = verdicts()["overtraining/theorem-4.7"]
    text = (site / page_of("overtraining/theorem-4.7")).read_text("utf-8")
    answer = text.partition('class="answer"')[2].partition('id="the-statement"')[0]
    found = Counter(re.findall(r'class="verdict (\w+)"', answer))
    assert found == Counter(reading["verdict"] for reading in record["readings"])
    assert "<math" in text and "theorysim verify overtraining/theorem-4.7" in text
    assert "@misc{overtraining," in text


def test_a_counterexample_can_be_replayed(site):
    """The file beside a page is the instance of the ledger, and the page has its numbers."""
    (line,) = [line for line in errata() if line["theorem"] == "linear-teachers/equation-7"]
    text = (site / page_of(line["theorem"])).read_text("utf-8")
    (file,) = re.findall(r'href="([^"]*counterexamples/[^"]*)" download', text)
    path = posixpath.normpath(posixpath.join("statements/linear-teachers", file))
    assert json.loads((site / path).read_text()) == line["instance"]
    assert f"Measured {line['lhs']:.3g}, must be equal to {line['rhs']:.3g}" in text
    assert line["instance"]["values"]["frame"] == np.eye(5).tolist()
    assert "the identity, 5 × 5" in text
    assert f"--reading &#39;{line['reading']}&#39;" in text


def test_errata_and_papers_link_their_statements(site):
    for paper in ("overtraining", "linear-teachers"):
        for page in (page_of_paper(paper), errata_of(paper)):
            text = (site / page).read_text("utf-8")
            assert f"statements/{paper}/" in text, page


def test_pages_of_a_paper_say_what_it_was_read_from(site):
    told = [
        (site / page).read_text("utf-8")
        for page in (page_of_paper("linear-teachers"), errata_of("linear-teachers"), "index.html")
    ]
    assert all("the supplement with the proofs was not at hand" in text for text in told)
    assert "Read from" not in (site / page_of_paper("overtraining")).read_text("utf-8")


def test_statements_of_a_paper_stand_in_the_order_of_print(site):
    text = (site / page_of_paper("overtraining")).read_text("utf-8")
    table = text.partition('aria-label="Statements of the paper"')[2].partition("</table>")[0]
    rows = re.findall(r'<th scope="row"><a href="[^"]*/([^"/]*)\.html"', table)
    assert rows == ["theorem-4.7", "lemma-a.28"]


def test_every_statement_has_an_address_and_a_name():
    entries = registry.catalogue()
    assert len({page_of(entry.id) for entry in entries}) == len(entries)
    for paper in entries.papers():
        names = [label(entry.name) for entry in entries.of(paper)]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("theorem-4.7", "Theorem 4.7"),
        ("lemma-a.28-proof", "Lemma A.28, proof"),
        ("eq-16-17", "Equations 16–17"),
        ("theorem-4.2-choice-of-m", "Theorem 4.2, choice of m"),
        ("geometric-series", "Geometric series"),
        ("ntk-two-stage", "NTK two stage"),
    ],
)
def test_what_statements_are_called(name, called):
    assert label(name) == called


def test_links_between_pages():
    assert link("statements/a/b.html", "index.html") == "../../index.html"
    assert link("index.html", "errata/a.html") == "errata/a.html"


def test_an_experiment_has_a_page_with_its_picture_and_what_it_shows(site):
    from theorysim.claims import Verdict
    from theorysim.engine.registry.records import experiments
    from theorysim.engine.reproduce.reproduce import OURS, WORDS

    id = "overtraining/figure-5"
    text = (site / page_of(id)).read_text("utf-8")
    claims = experiments()[id]["claims"]
    for claim in claims:
        word = WORDS[Verdict(claim["verdict"])]
        name = claim["name"] + OURS * (not claim["printed"])
        assert re.search(rf"{word}</span><span><b>{re.escape(name)}</b>", text), name
    nulls = {(null, verdict) for claim in claims for null, verdict in claim["nulls"].items()}
    showing = {null for null, verdict in nulls if verdict == "holds"}
    assert showing and showing < {null for null, _ in nulls}
    assert all((null in text) == (null in showing) for null, _ in nulls)
    images = [a["src"] for tag, a in read(site / page_of(id)).tags if tag == "img"]
    assert any("records/experiments/overtraining-figure-5.png" in image for image in images)
    paper = (site / page_of_paper("overtraining")).read_text("utf-8")
    assert link(page_of_paper("overtraining"), page_of(id)) in paper
