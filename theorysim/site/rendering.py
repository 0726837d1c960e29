"""Templates, and what they can say: verdicts, formulas, prose with formulas, values, links."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from theorysim.claims.kinds import Claim
from theorysim.claims.verdict import Verdict
from theorysim.report import mathematics
from theorysim.report.answer import Place
from theorysim.report.terminal import MARKS
from theorysim.site import words
from theorysim.site.addresses import link
from theorysim.site.experiments import Shown
from theorysim.site.statements import Statement
from theorysim.site.values import quantity, written

# What each kind of claim says of its two sides.
KINDS = {
    "equal": "equal",
    "at_most": "at most",
    "at_least": "at least",
    "increasing": "increasing",
    "decreasing": "decreasing",
    "tends_to": "a limit",
    "scales_as": "a power law",
    "exists_constant": "up to a constant",
    "with_probability": "with a probability",
    "exists": "exists",
}

# A paragraph that is one formula.
ALONE = re.compile(r"^\$(?P<formula>[^$]+)\$(?P<stop>[.,;:]?)$", re.MULTILINE)


def render(template: str, page: str, **values: Any) -> str:
    """The Markdown source of a page."""
    found = _environment().get_template(template)
    return found.render(page=page, link=lambda target: link(page, target), **values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("theorysim.site"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        badge=badge,
        math=math,
        prose=prose,
        inline=inline,
        number=quantity,
        written=written,
        json=lambda value: Markup(json.dumps(value)),
        kind=KINDS.__getitem__,
        quote=shlex.quote,
    )
    environment.globals.update(
        {
            name: getattr(words, name)
            for name in ("sides", "warrant", "withstood", "killed", "shares", "spoken", "count")
        },
        formula=formula,
        hypothesis=hypothesis,
        badges=badges,
        shown=shown,
    )
    return environment


def badge(verdict: Verdict | str) -> Markup:
    """A verdict in its colour, with a mark for those who do not see it."""
    word = Verdict(verdict)
    mark = f'<span aria-hidden="true">{MARKS[word]}</span>'
    return Markup(f'<span class="verdict {word}">{mark} {word}</span>')


def shown(claim: Shown) -> Markup:
    """What runs say of a claim about a figure, in the colour of its verdict."""
    mark = f'<span aria-hidden="true">{MARKS[claim.verdict]}</span>'
    return Markup(f'<span class="verdict {claim.verdict}">{mark} {claim.word}</span>')


def badges(places: Iterable[Place]) -> Markup:
    """The verdicts on some places, each once and with how often where it is not once."""
    found = (badge(v) + (f" × {many}" if many > 1 else "") for v, many in words.tally(places))
    return Markup(" ").join(found)


def math(latex: str) -> Markup:
    """A formula without dollars."""
    return Markup(mathematics.mathml(latex))


def prose(text: str) -> Markup:
    """Paragraphs with formulas between dollars; one that is nothing else is displayed."""
    shown = ALONE.sub(r"$$\g<formula>\g<stop>$$", text)
    return Markup(mathematics.html(shown)) if text.strip() else Markup("")


def inline(text: str) -> Markup:
    """A phrase with formulas between dollars, within a sentence."""
    return Markup(mathematics.html(text).removeprefix("<p>").removesuffix("</p>"))


def formula(statement: Statement, claim: Claim) -> Markup:
    """The formula of a claim: in the notation of its paper where that is written down."""
    latex = statement.notation.claims.get(claim.name)
    if latex:
        return math(latex)
    return Markup(f"<code>{escape(claim.statement)}</code>") if claim.statement else Markup("")


def hypothesis(statement: Statement, name: str) -> Markup:
    """The formula of a hypothesis; empty where none is written down."""
    latex = statement.notation.hypotheses.get(name)
    return math(latex) if latex else Markup("")
