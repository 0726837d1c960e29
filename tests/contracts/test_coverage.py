"""Every statement has its place in print, and every place its statement or a reason."""

import re

import pytest

from theorysim.engine import registry
from theorysim.engine.registry.coverage import FILE, Passage, coverage_of, unnamed
from theorysim.engine.registry.headers import RegistryError
from theorysim.engine.registry.records import own_entries

OWN = own_entries()
WRITTEN = [slug for slug in OWN.papers() if (OWN.of(slug)[0].path.parent / FILE).is_file()]


@pytest.mark.parametrize("slug", WRITTEN)
def test_every_statement_stands_somewhere_in_print(slug):
    paper = OWN.of(slug)
    passages = coverage_of(paper)
    assert unnamed(paper, passages) == []
    assert all(passage.place.strip() and passage.says.strip() for passage in passages)


@pytest.mark.parametrize("slug", WRITTEN)
def test_no_place_is_told_twice(slug):
    told = [(passage.place, passage.says) for passage in coverage_of(OWN.of(slug))]
    assert len(told) == len(set(told))


def numbers(kind: str, places: list[str]) -> set[int]:
    """The numbers of figures or tables that places name: "Figures 11 to 16" are six."""
    told = " ".join(part for place in places for part in re.findall(rf"{kind}s? ([^:;(]*)", place))
    ranges = re.findall(r"(\d+)[a-z]?(?: to (\d+))?", told)
    return {n for first, last in ranges for n in range(int(first), int(last or first) + 1)}


@pytest.mark.parametrize("kind", ["Figure", "Table"])
@pytest.mark.parametrize("slug", WRITTEN)
def test_no_figure_and_no_table_is_passed_over(slug, kind):
    found = numbers(kind, [passage.place for passage in coverage_of(OWN.of(slug))])
    assert found == set(range(1, max(found, default=0) + 1))


def test_ranges_of_figures_are_counted():
    assert numbers("Figure", ["Appendix E, Figures 3 to 5", "Figure 7a; Table 2"]) == {3, 4, 5, 7}
    assert numbers("Table", ["Figure 7a; Table 2"]) == {2}


@pytest.fixture
def pack(tmp_path, monkeypatch):
    """Writes the coverage of a paper with the statements lemma-1 and lemma-2; its catalogue."""
    folder = tmp_path / "theorems" / "one"
    folder.mkdir(parents=True)
    for name in ("lemma_1", "lemma_2"):
        text = f'"""{name}."""\ntheorem = Theorem(claims=())\n'
        (folder / f"{name}.py").write_text(text)
    monkeypatch.setattr(registry.index, "OWN", folder.parent)

    def write(text: str):
        (folder / FILE).write_text(text)
        return registry.catalogue().of("one")

    return write


FIRST = '[[print]]\nplace = "Section 1, Lemma 1"\nsays = "it falls"\nstatements = ["lemma-1"]\n'


def test_places_come_in_the_order_of_print(pack):
    remark = '[[print]]\nplace = "p. 9"\nsays = "it may rise"\nstatements = []\nwhy_not = "vague"\n'
    paper = pack(FIRST + remark)
    passages = coverage_of(paper)
    assert passages == (
        Passage("Section 1, Lemma 1", "it falls", ("lemma-1",)),
        Passage("p. 9", "it may rise", (), "vague"),
    )
    assert unnamed(paper, passages) == ["lemma-2"]


def test_a_paper_without_the_file_has_none(pack, tmp_path):
    paper = pack("")
    (tmp_path / "theorems" / "one" / FILE).unlink()
    assert coverage_of(paper) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[print]\n", "line 1"),
        ("title = 1\n" + FIRST, r"entries \[\[print\]\] alone, but it has \['title', 'print'\]"),
        ("", r"entries \[\[print\]\] alone"),
        (FIRST + "whynot = ''\n", r"entry 1 \(Section 1, Lemma 1\): expected the keys .*'whynot'"),
        (FIRST.replace("says", "said"), r"entry 1 .*expected the keys"),
        (FIRST + FIRST.replace("lemma-1", "lemma-3"), r"entry 2 .* called 'lemma-3'"),
        (FIRST.replace('["lemma-1"]', '"lemma-1"'), r"entry 1 .*statements: expected a list"),
        (FIRST.replace('"lemma-1"', ""), "expected a statement, or why_not"),
    ],
)
def test_a_file_that_is_not_so_is_refused(pack, text, message):
    paper = pack(text)
    with pytest.raises(RegistryError, match=rf"one/{FILE}: .*{message}"):
        coverage_of(paper)
