"""The generated parts of README.md: the list of papers with what became of their statements.

    python -m validation.readme

rewrites what stands between the markers; a test compares it with what would be written.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from theorysim.engine import registry
from validation.catalogue import catalogue
from validation.errata import refutations

README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN, END = "<!-- papers: generated -->", "<!-- end -->"


def papers() -> str:
    """A table with one row per paper of this repository."""
    lines = [
        "| paper | statements | printed readings refuted | primary readings that hold |",
        "| --- | ---: | ---: | ---: |",
    ]
    refuted_ids = {id for id, _ in refutations()}
    known = [entry for entry in registry.catalogue() if entry.id in catalogue()]
    for slug in dict.fromkeys(entry.paper for entry in known):
        rows = [entry for entry in known if entry.paper == slug]
        citation = registry.citation(rows[0])
        assert citation is not None
        refuted = sum(row.id in refuted_ids for row in rows)
        primary = Counter(
            catalogue()[row.id][reading.name]
            for row in rows
            for reading in row.readings
            if reading.primary
        )
        title = f"`{slug}`: {citation.title} ({citation.year})"
        lines.append(f"| {title} | {len(rows)} | in {refuted} | {primary['holds']} |")
    return "\n".join(lines)


def with_papers(text: str) -> str:
    """The README with its list of papers up to date."""
    head, rest = text.split(BEGIN)
    return f"{head}{BEGIN}\n{papers()}\n{END}{rest.split(END, 1)[1]}"


if __name__ == "__main__":
    README.write_text(with_papers(README.read_text()))
