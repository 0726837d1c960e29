"""The pages that are made of statements, as Markdown sources by their paths from the root."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from theorysim.citation import Citation
from theorysim.claims.kinds import Claim
from theorysim.claims.verdict import SEVERITY, Verdict
from theorysim.engine.registry.coverage import Passage, coverage_of
from theorysim.engine.registry.ledger import is_inference
from theorysim.engine.registry.records import own_entries
from theorysim.site.addresses import ERRATA, GALLERY, INDEX, errata_of, page_of_paper
from theorysim.site.documents import Picture, notes, pictures
from theorysim.site.experiments import Rerun
from theorysim.site.figures import Figure
from theorysim.site.rendering import render
from theorysim.site.statements import Statement
from theorysim.site.widgets import Widget


@dataclass(frozen=True)
class Paper:
    """A paper with its statements and experiments, and what became of its places in print."""

    slug: str
    citation: Citation
    statements: Sequence[Statement]
    experiments: Sequence[Rerun]
    passages: Sequence[Passage]

    @property
    def page(self) -> str:
        """Its page."""
        return page_of_paper(self.slug)

    @property
    def errata_page(self) -> str:
        """The page with its errata."""
        return errata_of(self.slug)

    @property
    def name(self) -> str:
        """The slug as a heading: "Linear teachers"."""
        return self.slug.replace("-", " ").capitalize()

    @cached_property
    def by_name(self) -> dict[str, Statement | Rerun]:
        """Its statements and experiments by their names, as its passages call them."""
        return {each.entry.name: each for each in (*self.statements, *self.experiments)}

    @cached_property
    def refuted(self) -> int:
        """In how many statements a printed reading is refuted that is more than an inference."""
        names = ([reading.name for reading in each.refuted] for each in self.statements)
        return sum(not all(map(is_inference, refuted)) for refuted in names)

    @cached_property
    def verdicts(self) -> dict[Verdict, int]:
        """How many printed readings came out as what."""
        counted = Counter(p.verdict for s in self.statements for p in s.said.printed)
        return {verdict: counted[verdict] for verdict in SEVERITY[::-1] if counted[verdict]}


def papers_of(statements: Sequence[Statement], experiments: Sequence[Rerun] = ()) -> list[Paper]:
    """The papers of these statements, in order, with their experiments."""
    slugs = dict.fromkeys(statement.entry.paper for statement in statements)
    groups = {slug: [s for s in statements if s.entry.paper == slug] for slug in slugs}
    every = own_entries()
    return [
        Paper(
            slug,
            group[0].citation,
            group,
            [e for e in experiments if e.entry.paper == slug],
            coverage_of(every.of(slug)),
        )
        for slug, group in groups.items()
    ]


def names_of(statements: Sequence[Statement | Rerun]) -> dict[str, str]:
    """The ids of statements and experiments by all names that only one of them answers to."""
    answers = [(name, s.id) for s in statements for name in s.entry.names()]
    bare = [(name.partition("/")[2], id) for name, id in answers]
    counted = Counter(name for name, _ in bare)
    return dict(answers) | {name: id for name, id in bare if counted[name] == 1}


def pages(
    statements: Sequence[Statement],
    experiments: Sequence[Rerun],
    figures: Mapping[str, Figure],
    widgets: Mapping[str, Widget],
) -> Iterator[tuple[str, str]]:
    """Each page with its source."""
    papers = papers_of(statements, experiments)
    names = names_of([*statements, *experiments])
    claims = {statement.id: claims_of(statement) for statement in statements}
    yield ERRATA, render("errata_index.md", ERRATA, papers=papers)
    scenes = [(s, figures[s.id]) for s in statements if s.id in figures]
    yield INDEX, render("index.md", INDEX, **_overview(papers), scenes=_one_each(scenes))
    yield GALLERY, render("gallery.md", GALLERY, scenes=scenes, pictures=_shown(papers))
    for paper in papers:
        told = notes(paper.slug, paper.page, names)
        yield paper.page, render("paper.md", paper.page, paper=paper, notes=told)
        yield (
            paper.errata_page,
            render("errata.md", paper.errata_page, paper=paper, claims=claims),
        )
        for statement in paper.statements:
            yield (
                statement.page,
                render(
                    "statement.md",
                    statement.page,
                    s=statement,
                    paper=paper,
                    claims=claims[statement.id],
                    assumptions=assumptions_of(statement),
                    figure=figures.get(statement.id),
                    widget=widgets.get(statement.id),
                    instance_file=lambda line, s=statement: instance_file(s, line),
                ),
            )
        for one in paper.experiments:
            yield one.page, render("experiment.md", one.page, e=one, paper=paper)


def claims_of(statement: Statement) -> dict[str, dict[str, Claim]]:
    """The claims of a statement by reading and name."""
    return {
        reading.name: {claim.name: claim for claim in reading.claims}
        for reading in statement.theorem.all_readings()
    }


@dataclass(frozen=True)
class Assumed:
    """Assumptions of one name: where each reading takes it from, and what it asks for."""

    name: str
    sources: Sequence[str]
    hypotheses: Sequence[str]


def assumptions_of(statement: Statement) -> list[Assumed]:
    """What the readings assume: each shared assumption once, then their further hypotheses."""
    readings = statement.theorem.all_readings()
    shared = list(dict.fromkeys(a for reading in readings for a in reading.assumes))
    groups = {
        name: [a for a in shared if a.name == name]
        for name in dict.fromkeys(a.name for a in shared)
    }
    found = [
        Assumed(
            name,
            _each_once(str(a.source) for a in group),
            _each_once(h for a in group for h in a.hypotheses),
        )
        for name, group in groups.items()
    ]
    known = {h for group in found for h in group.hypotheses}
    own = _each_once(h for reading in readings for h in reading.hypotheses if h not in known)
    return [*found, Assumed("Hypotheses", (), own)] if own else found


def _each_once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _shown(papers: Sequence[Paper]) -> list[Picture]:
    """The pictures of all documents that are pages of the site."""
    there = {paper.page for paper in papers}
    return [p for p in pictures() if not p.page.startswith("papers/") or p.page in there]


def _one_each(scenes: Sequence[tuple[Statement, Figure]]) -> list[tuple[Statement, Figure]]:
    """The last scene of every paper: its main theorems come last."""
    return list(
        {statement.entry.paper: (statement, figure) for statement, figure in scenes}.values()
    )


def instance_file(statement: Statement, line: Mapping[str, Any]) -> str:
    """Where the instance of a line of the ledger stands."""
    name = statement.id.replace("/", "-")
    return f"data/counterexamples/{name}-{statement.errata.index(line) + 1}.json"


def instances(statements: Sequence[Statement]) -> Iterator[tuple[str, str]]:
    """Each counterexample as a file that `theorysim verify --instance` reads."""
    for statement in statements:
        for line in statement.errata:
            if line["instance"]:
                yield instance_file(statement, line), json.dumps(line["instance"]) + "\n"


def _overview(papers: Sequence[Paper]) -> dict[str, Any]:
    certified = [
        line
        for paper in papers
        for statement in paper.statements
        for line in statement.errata
        if line["certificate"] == "certified"
    ]
    return {
        "papers": papers,
        "many": sum(len(paper.statements) for paper in papers),
        "rerun": sum(len(paper.experiments) for paper in papers),
        "refuted": sum(paper.refuted for paper in papers),
        "certified": len(certified),
    }
