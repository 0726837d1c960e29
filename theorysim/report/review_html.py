"""A review as one HTML file that loads nothing: styles, pictures and formulas are inside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from theorysim.engine import registry
from theorysim.engine.registry import Entry
from theorysim.engine.registry.notation import Notation, notation_of
from theorysim.engine.review import words
from theorysim.engine.review.review import Review
from theorysim.report.mathematics import html, mathml
from theorysim.report.review_sections import because, could_be, in_words, sections

# Entries of an array that the table of an instance shows.
ENTRIES = 12


def page(review: Review, entry: Entry) -> str:
    """The whole page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("theorysim.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": words.number,
        "exact": words.exact,
        "values": values,
        "json": lambda data: json.dumps(data, indent=1),
    }
    paper = registry.citation(entry)
    return environment.get_template("review.html").render(
        review=review,
        notation=notation_of(entry) or Notation(),
        paper=paper,
        refuted={(one.reading, one.claim): one for one in review.adversary.refuted},
        handle=entry.handle,
        sections={section.title: section.lines for section in sections(review)},
        sides=words.sides,
        because=lambda one: because(review, one),
        could_be=could_be,
        formula=lambda latex: Markup(mathml(latex)),
        formulas=lambda text: Markup(html(text)),
        in_words=in_words,
    )


def values(instance: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names and values of an instance; long arrays are cut."""
    shown = [(name, str(size)) for name, size in instance["sizes"].items()]
    return shown + [(name, _value(value)) for name, value in instance["values"].items()]


def _value(value: Any) -> str:
    array = np.asarray(value)
    if not array.shape or array.dtype.kind not in "iuf":
        return str(value)
    flat = [words.exact(entry) for entry in array.ravel()[:ENTRIES]]
    rest = f", ... ({array.size} numbers)" if array.size > ENTRIES else ""
    shape = f"{' x '.join(map(str, array.shape))}: " if array.ndim > 1 else ""
    return f"{shape}{', '.join(flat)}{rest}"
