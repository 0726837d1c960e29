"""The notebooks as pages: their text with formulas, their code, what it printed and drew."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from theorysim.errors import UsageError
from theorysim.report.mathematics import MATHEMATICS, mathml, text
from theorysim.site.addresses import TUTORIALS, page_of_tutorial, source_of_page
from theorysim.site.documents import documents, with_links

if TYPE_CHECKING:
    from nbformat import NotebookNode

HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
# A command to the notebook, which says nothing to a reader.
MAGIC = re.compile(r"^%.*\n", re.MULTILINE)
PICTURE = "image/png"
# Signs of a formula that Markdown would take for emphasis, code or a link.
MARKUP = {ord(sign): f"&#{ord(sign)};" for sign in "*_`[]\\"}


def notebooks() -> Path:
    """The folder of the notebooks: with the documents where installed, else beside them.

    Raises:
        UsageError: where neither is there.
    """
    for folder in (documents() / "notebooks", documents().parent / "notebooks"):
        if folder.is_dir():
            return folder
    raise UsageError("the notebooks are not beside the documents: install theorysim anew")


def write_tutorials(to: Path, names: Mapping[str, str]) -> None:
    """Write a page for each notebook below `to`; `names` are as in `copy_documents`."""
    import nbformat
    from nbconvert import MarkdownExporter

    (to / TUTORIALS).mkdir(parents=True)
    for path in sorted(notebooks().glob("*.ipynb")):
        page = page_of_tutorial(path.stem)
        notebook = nbformat.read(path, as_version=4)
        captions = list(_captions(notebook))
        for cell in notebook.cells:
            cell.source = _for_readers(cell)
        source, found = MarkdownExporter().from_notebook_node(notebook, {"unique_key": path.stem})
        for caption in captions:
            source = source.replace("![png]", f"![{caption}]", 1)
        (to / source_of_page(page)).write_text(with_links(source, page, names), "utf-8")
        for name, picture in found["outputs"].items():
            (to / TUTORIALS / name).write_bytes(picture)


def _captions(notebook: NotebookNode) -> Iterator[str]:
    """For each picture, for those who do not see it: the heading that it stands under."""
    heading = ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heading = [heading, *HEADING.findall(cell.source)][-1]
        for output in cell.get("outputs", ()):
            if PICTURE in output.get("data", ()):
                yield f"Figure: {text(heading)}"


def _for_readers(cell: NotebookNode) -> str:
    """The source of a cell as a page shows it."""
    if cell.cell_type == "markdown":
        return MATHEMATICS.sub(_formula, cell.source)
    return MAGIC.sub("", cell.source)


def _formula(found: re.Match[str]) -> str:
    """MathML that Markdown leaves alone: no block begins with it, no sign of it is markup."""
    element = mathml(found["display"] or found["inline"], display=bool(found["display"]))
    return f"<span>{element.translate(MARKUP)}</span>"
