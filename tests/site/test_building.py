"""What keeps a site from being built, and the small parts that pages are made of."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from theorysim.citation import Citation
from theorysim.engine.registry import records
from theorysim.engine.registry.coverage import Passage
from theorysim.errors import UsageError
from theorysim.site.documents import documents, with_links
from theorysim.site.pages import Paper
from theorysim.site.rendering import render
from theorysim.site.values import number, quantity, written

pytest.importorskip("mkdocs", reason="the extra `site` is not installed")


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    from theorysim.site.build import build

    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError, match="name an empty folder"):
        build(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_a_place_that_cannot_be_a_folder_is_refused_before_the_work(tmp_path):
    from theorysim.site.build import build

    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "pages"):
        with pytest.raises(UsageError, match=r"cannot write .*file"):
            build(out)


def test_a_site_replaces_an_older_one_in_its_folder(tmp_path, monkeypatch):
    """The current folder cannot be removed, and a link is to stay one."""
    from theorysim.site.build import _replace

    built, real, link = tmp_path / "built", tmp_path / "real", tmp_path / "link"
    for folder in (built / "data", real / "old"):
        folder.mkdir(parents=True)
    (built / "index.html").write_text("new")
    (real / "index.html").write_text("old")
    link.symlink_to(real)
    _replace(link, built)
    assert link.is_symlink() and not (real / "old").exists() and (real / "data").is_dir()
    monkeypatch.chdir(real)
    (real / "index.html").write_text("old")
    _replace(Path(), built)
    assert (real / "index.html").read_text() == "new"


def test_the_command_says_in_one_line_what_is_wrong(tmp_path, capsys, monkeypatch):
    from theorysim.cli import main

    monkeypatch.setattr(
        "sys.argv", ["theorysim", "site", "--out", str(tmp_path / "out"), "--only", "?"]
    )
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith("theorysim: no statement has '?' in its id")


def test_an_unknown_statement_is_named(tmp_path):
    from theorysim.site.build import build

    with pytest.raises(UsageError, match="no statement has 'nosuch' in its id"):
        build(tmp_path / "out", only="nosuch")


def test_a_stale_or_missing_record_is_named_with_the_remedy(monkeypatch):
    (entry,) = [e for e in records.own_statements() if e.id == "linear-teachers/equation-7"]
    known = {entry.id: {"source": "of other code"}}
    for recorded in ({}, known):
        monkeypatch.setattr(records, "verdicts", lambda recorded=recorded: recorded)
        with pytest.raises(UsageError, match=r"equation-7 .*python -m validation.catalogue"):
            records.fresh_verdicts([entry])


@pytest.mark.parametrize(
    ("value", "text"),
    [(3.0, "3"), (-0.5, "−0.5"), (1234567.0, "1.235e+06"), (-0.0, "0"), (None, "–"), (np.nan, "–")],
)
def test_numbers(value, text):
    assert number(value) == text


def test_powers_of_ten():
    assert quantity(1.5e-14) == "1.5·10<sup>−14</sup>"
    assert quantity(2e20) == "2·10<sup>20</sup>"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.eye(3), "the identity, 3 × 3"),
        (np.zeros(16), "all 16 entries"),
        (np.arange(100.0), "100 numbers from 0 to 99"),
        ([1.0, 2.0], "<mn>1</mn><mo>,</mo><mn>2</mn>"),
        ([[1.0, 2.0], [3.0, 4.0]], "<mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr>"),
    ],
)
def test_values_are_written_as_by_hand(value, words):
    assert words in written(value)


@pytest.mark.parametrize("folder", ["guide", "records"])
def test_every_document_is_in_the_navigation(folder):
    from theorysim.site.build import GUIDE, RECORDED

    named = {"guide": GUIDE, "records": RECORDED}[folder]
    assert sorted(named) == sorted(path.stem for path in (documents() / folder).glob("*.md"))


def test_documents_link_statements_and_stay_within_the_site():
    names = {"one/lemma-1": "one/lemma-1", "lemma-1": "one/lemma-1"}

    def linked(text: str) -> str:
        return with_links(text, "records/attacks.html", names)

    assert linked("by `lemma-1`") == "by [`lemma-1`](../statements/one/lemma-1.md)"
    assert linked("| one/lemma-1 | 3 |") == "| [one/lemma-1](../statements/one/lemma-1.md) | 3 |"
    assert linked("`lemma-2`") == "`lemma-2`"
    assert linked("[code](../../theorysim/a.py)") == "code"
    assert linked("[guide](../guide/verdicts.md#x)") == "[guide](../guide/verdicts.md#x)"
    assert linked("[web](https://a.org)") == "[web](https://a.org)"
    assert linked("```\n`lemma-1`\n```") == "```\n`lemma-1`\n```"


def test_a_paper_says_what_became_of_every_place_in_print():
    """Statements that are in the site are linked; a site of a few statements has not all."""
    nowhere = SimpleNamespace(printed=(), corrected=(), findings=())
    lemma = SimpleNamespace(
        page="statements/one/lemma-1.html",
        label="Lemma 1",
        said=nowhere,
        entry=SimpleNamespace(name="lemma-1", title="A lemma."),
        refuted=(),
    )
    passages = (
        Passage("Section 2", "it falls if a < b", ("lemma-1", "lemma-2")),
        Passage("p. 9", "it may rise", (), "vague"),
    )
    paper = Paper("one", Citation("A title", "Who", 2025, "Where"), [lemma], [], passages)
    text = render("paper.md", paper.page, paper=paper, notes="")
    assert '<th scope="row">Section 2<span>it falls if a &lt; b</span></th>' in text
    links = '<a href="../statements/one/lemma-1.html">Lemma 1</a>; <code>lemma-2</code>'
    assert links in text
    assert "<small>none: vague</small>" in text
    bare = replace(paper, passages=())
    assert "Place by place" not in render("paper.md", bare.page, paper=bare, notes="")
