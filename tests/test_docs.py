"""The pages: links lead somewhere, every page can be reached, what is generated is up to date."""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from theorysim import __version__
from theorysim.claims import Verdict
from theorysim.engine import registry
from theorysim.engine.reproduce.reproduce import reproduce
from validation import coverage, reference

ROOT = Path(__file__).parents[1]
INDEX = ROOT / "docs" / "index.md"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def links(path: Path) -> Iterator[Path]:
    """The files of the repository that a page links to."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(), flags=re.DOTALL)
    for target in LINK.findall(text):
        if "://" not in target:
            yield (path.parent / target).resolve()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    assert [str(target) for target in links(path) if not target.exists()] == []


def test_every_page_is_linked_from_the_index():
    reached = set(links(INDEX))
    missing = [p for p in PAGES if INDEX.parent in p.parents and p not in {INDEX, *reached}]
    assert missing == []


@pytest.mark.parametrize("script", [coverage, reference], ids=lambda script: script.__name__)
def test_generated_pages_are_up_to_date(script):
    assert script.PAGE.read_text() == script.page(), f"run python -m {script.__name__}"


def test_the_version_has_an_entry_in_the_changelog():
    release = __version__.partition(".dev")[0]
    assert f"## [{release}]" in (ROOT / "CHANGELOG.md").read_text()


def test_modules_of_the_migration_are_where_it_says():
    text = (ROOT / "docs" / "reference" / "migration.md").read_text()
    moved = re.findall(
        r"^\| `([\w.]+)` \| `([\w.]+)` \|$", text.split("## Modules")[1], re.MULTILINE
    )
    assert moved
    there = [module for _, module in moved if find_spec(module) is None]
    assert there == []


def test_the_experiment_of_the_guide_runs_as_it_is_printed(tmp_path):
    text = (ROOT / "docs" / "guide" / "experiments.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    file = tmp_path / "widths.py"
    file.write_text(code)
    theorem = registry.theorem(str(file))
    assert reproduce(theorem).report.verdict is Verdict.HOLDS
    null = reproduce(theorem, reading="all as wide").report
    assert null.verdict is not Verdict.HOLDS and null.is_experiment
