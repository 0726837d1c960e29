"""The written documents of the repository as pages: guide, papers, records, reference."""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from theorysim.errors import UsageError
from theorysim.site.addresses import TUTORIALS, link, page_of, page_of_paper, source_of_page

PACKAGE = Path(__file__).parents[1]
FOLDERS = ("guide", "records", "reference", "pictures")

LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
PICTURE = re.compile(r"!\[(?P<caption>[^\]]*)\]\((?P<target>[^)\s]+)\)")
NOTEBOOK = re.compile(r"^notebooks/(?P<name>\w+)\.ipynb$")
# Where documents name a statement: in code, or as a cell of a table.
NAME = re.compile(r"`(?P<code>[a-z][a-z0-9./-]*)`|(?<=\| )(?P<cell>[a-z-]+/[a-z0-9.-]+)(?= \|)")


@dataclass(frozen=True)
class Picture:
    """A picture of a document: its file, its caption, and the page that it stands on."""

    file: str
    caption: str
    page: str
    title: str


def documents() -> Path:
    """The folder of the documents: beside the package in a checkout, inside it where installed.

    Raises:
        UsageError: where neither is there.
    """
    for folder in (PACKAGE / "docs", PACKAGE.parent / "docs"):
        if (folder / "guide").is_dir():
            return folder
    raise UsageError("the documents are not beside the package: install theorysim anew")


def copy_documents(to: Path, names: Mapping[str, str]) -> None:
    """Write the documents below `to`; `names` are the ids of statements by what they are called."""
    for folder in FOLDERS:
        shutil.copytree(documents() / folder, to / folder)
    for path in sorted(to.rglob("*.md")):
        page = path.relative_to(to).with_suffix(".html").as_posix()
        path.write_text(with_links(path.read_text("utf-8"), page, names), "utf-8")


def notes(slug: str, page: str, names: Mapping[str, str]) -> str:
    """What the statements of a paper turned out to be, without the title; empty where unwritten."""
    path = documents() / "papers" / f"{slug.replace('-', '_')}.md"
    text = path.read_text("utf-8") if path.is_file() else ""
    own = {id.partition("/")[2]: id for id in names.values() if id.startswith(f"{slug}/")}
    return with_links(re.sub(r"\A# .*\n", "", text), page, {**names, **own})


def with_links(text: str, page: str, names: Mapping[str, str]) -> str:
    """A document whose links stay within the site, and which links the statements that it names."""

    def inner(found: re.Match) -> str:
        target = _in_site(page, found["target"], names)
        return found["text"] if target is None else f"[{found['text']}]({target})"

    def named(found: re.Match) -> str:
        name = found["code"] or found["cell"]
        if name not in names:
            return found[0]
        return f"[{found[0]}]({link(page, source_of_page(page_of(names[name])))})"

    pieces = re.split(r"(^```.*?^```)", text, flags=re.DOTALL | re.MULTILINE)
    pieces[::2] = [NAME.sub(named, LINK.sub(inner, piece)) for piece in pieces[::2]]
    return "".join(pieces)


def _in_site(page: str, target: str, names: Mapping[str, str]) -> str | None:
    """A link in the source of a page as the page has it; None where it leads out of the site.

    Sources lie in docs/, but for those of tutorials, which are the notebooks beside it.
    """
    if "://" in target or target.startswith("#"):
        return target
    folder = "notebooks" if page.startswith(f"{TUTORIALS}/") else f"docs/{posixpath.dirname(page)}"
    path, mark, part = target.partition("#")
    there = posixpath.normpath(posixpath.join(folder, path))
    there = NOTEBOOK.sub(rf"docs/{TUTORIALS}/\g<name>.md", there)
    root, _, file = there.partition("/")
    papers = {source_of_page(page_of_paper(id.partition("/")[0])) for id in names.values()}
    known = file.partition("/")[0] in {*FOLDERS, TUTORIALS} or file in {"index.md", *papers}
    return link(page, file) + mark + part if root == "docs" and known else None


def _path(page: str, target: str) -> str:
    """The path from the root that a relative link of a page leads to."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), target.partition("#")[0]))


def pictures() -> Iterator[Picture]:
    """The pictures of all documents."""
    root = documents()
    for path in sorted(root.rglob("*.md")):
        text = path.read_text("utf-8")
        page = path.relative_to(root).with_suffix(".html").as_posix()
        title = text.partition("\n")[0].removeprefix("# ")
        for found in PICTURE.finditer(text):
            yield Picture(_path(page, found["target"]), found["caption"], page, title)
