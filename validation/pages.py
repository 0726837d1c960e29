"""Every page that is made of records, written anew: what a change of code or records leaves stale.

python -m validation.pages runs no statement. README's screens do: `python -m validation.readme`.
"""

from __future__ import annotations

import json

from benchmarks import page as benchmarks
from theorysim.engine.registry.records import lines_of
from validation import (
    advise,
    attacks,
    coverage,
    experiments,
    hypotheses,
    mutants,
    papers,
    reference,
    stability,
    write_whole,
)


def main() -> None:
    """Writes them all."""
    for campaign in (attacks, mutants):
        write_whole(campaign.TABLE, campaign.table(lines_of(campaign.RECORD)))
    for campaign in (experiments, stability):
        write_whole(campaign.PAGE, campaign.page(lines_of(campaign.RECORD)))
    hypotheses.write_pages()
    write_whole(advise.PAGE, advise.page(json.loads(advise.RECORD.read_text("utf-8"))))
    benchmarks.write()
    for module in (coverage, reference):
        write_whole(module.PAGE, module.page())
    for page in papers.PAGES:
        write_whole(page, papers.with_measured(page.read_text("utf-8"), papers.slug(page)))


if __name__ == "__main__":
    main()
