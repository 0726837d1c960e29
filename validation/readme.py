"""The generated parts of README.md: the first screen and what became of each paper's statements.

    python -m validation.readme

rewrites what stands between the markers, from recorded results; a test compares it with what would
be written.
"""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

from rich.console import Console

from theorysim.engine import registry
from theorysim.engine.registry.ledger import errata, is_inference
from theorysim.engine.registry.notation import notation_of
from theorysim.engine.registry.records import verdicts
from theorysim.engine.verify.recorded import from_record
from theorysim.report.answer import answer
from theorysim.report.terminal import render_answer
from validation.catalogue import catalogue

README = Path(__file__).resolve().parent.parent / "README.md"
END = "<!-- end -->"
SHOWN = "theorem-4.7"
COLUMNS = 80


def screen() -> str:
    """What `theorysim verify` said of one statement when it was recorded."""
    entry = registry.find(SHOWN)
    report = from_record(verdicts()[entry.id], registry.load(entry))
    console = Console(file=io.StringIO(), width=COLUMNS, color_system=None)
    with console.capture() as captured:
        render_answer(answer(report, notation_of(entry)), console)
    lines = [line.rstrip() for line in captured.get().rstrip().splitlines()]
    return "\n".join(["```", f"$ theorysim verify {SHOWN}", *lines, "```"])


def papers() -> str:
    """A table with one row per paper of this repository."""
    lines = [
        "| paper | statements | printed readings refuted | primary readings that hold |",
        "| --- | ---: | ---: | ---: |",
    ]
    refuted_ids = {line["theorem"] for line in errata() if not is_inference(line["reading"])}
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


def with_generated(text: str) -> str:
    """The README with its generated parts up to date."""
    for name, part in (("screen", screen()), ("papers", papers())):
        head, rest = text.split(f"<!-- {name}: generated -->")
        text = f"{head}<!-- {name}: generated -->\n{part}\n{END}{rest.split(END, 1)[1]}"
    return text


if __name__ == "__main__":
    README.write_text(with_generated(README.read_text("utf-8")), "utf-8")
