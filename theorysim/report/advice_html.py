"""An answer about a user's model as one HTML file that loads nothing: its picture is inside."""

from __future__ import annotations

import base64
import io

from theorysim.advise.answer import MARKS, Advice, cell

DOTS_PER_INCH = 150


def page(advice: Advice) -> str:
    """The whole page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("theorysim.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("advice.html").render(
        advice=advice, cell=cell, marks=MARKS, image=_image(advice)
    )


def _image(advice: Advice) -> str:
    """The picture as an address that holds it."""
    page = io.BytesIO()
    drawn = advice.figure()
    drawn.suptitle("")  # the page says it
    drawn.savefig(page, format="png", dpi=DOTS_PER_INCH)
    return f"data:image/png;base64,{base64.b64encode(page.getvalue()).decode()}"
