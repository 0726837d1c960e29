"""Numbers of the pages on papers are those of the record, and a stale one is seen."""

import pytest

from theorysim.errors import UsageError
from validation import papers
from validation.papers import MARKED, measured, slug, with_measured

RECORD = {
    "theorem": "one/lemma-1",
    "readings": [
        {
            "name": "as printed",
            "verdict": "violated",
            "drawn": 12345,
            "note": "wrong",
            "claims": [
                {
                    "name": 'the "rate", n -> 0',
                    "lhs": -1.00065,
                    "tightness": None,
                    "note": "over n 4, 8: 0.1, 0.2; over d 2: 1; measured n^(-0.972 +- 0.154)",
                }
            ],
        }
    ],
}
CLAIM = """lemma-1 "as printed" 'the "rate", n -> 0'"""


@pytest.fixture
def record(monkeypatch):
    monkeypatch.setattr(papers, "verdicts", lambda: {"one/lemma-1": RECORD, "two/lemma-1": {}})


@pytest.mark.parametrize("page", papers.PAGES, ids=slug)
def test_numbers_are_up_to_date(page):
    text = page.read_text()
    assert with_measured(text, slug(page)) == text, "run python -m validation.papers"


@pytest.mark.parametrize("page", papers.PAGES, ids=slug)
def test_every_marker_is_understood(page):
    """A marker without an end, or around other markup, would be passed over."""
    text = page.read_text()
    assert len(MARKED.findall(text)) == text.count("<!-- measured") == text.count("<!-- end")


def test_a_stale_number_is_replaced_and_nothing_else(record):
    text = f"falls as n^(<!-- measured: {CLAIM} lhs 4 -->-1.1<!-- end -->), 1.1 times"
    new = with_measured(text, "one")
    assert new == text.replace("-1.1<", "-1.001<")
    assert with_measured(new, "one") == new
    wrapped = text.replace("lemma-1 ", "lemma-1\n  ")
    assert with_measured(wrapped, "one") == wrapped.replace("-1.1<", "-1.001<")


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["lemma-1", "as printed", "verdict"], "violated"),
        (["lemma-1", "as printed", "drawn"], "12,345"),
        (["lemma-1", "as printed", 'the "rate", n -> 0', "lhs"], "-1"),
        (["lemma-1", "as printed", 'the "rate", n -> 0', "lhs", "5"], "-1.0007"),
        (["lemma-1", "as printed", 'the "rate", n -> 0', "power"], "-0.97 ± 0.16"),
        (["lemma-1", "as printed", 'the "rate", n -> 0', "over n"], "0.1, 0.2"),
    ],
)
def test_quantities_as_they_are_written(record, names, told):
    assert measured("one", names) == told


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ('lemma-2 "as printed" verdict', r"no 'lemma-2'; it has \['lemma-1'\]"),
        ("lemma-1 appendix verdict", r"no 'appendix'; it has \['as printed'\]"),
        ('lemma-1 "as printed" rates lhs', "no 'rates'"),
        ('lemma-1 "as printed" note', r"no 'note'; it has \['verdict', 'drawn'\]"),
        ('lemma-1 "as printed', "No closing quotation"),
        ("lemma-1 verdict", "expected statement, reading"),
        (f"{CLAIM} tightness", "has no number"),
    ],
)
def test_what_the_record_does_not_have_is_refused(record, marker, message):
    with pytest.raises(UsageError, match=f"one: <!-- measured: .*{message}"):
        with_measured(f"<!-- measured: {marker} -->1<!-- end -->", "one")
