"""Building the site: pages into a folder of sources, and MkDocs makes HTML of them."""

from __future__ import annotations

import json
import logging
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from theorysim.engine.registry.records import RECORDS
from theorysim.errors import UsageError
from theorysim.site.addresses import (
    ERRATA,
    GALLERY,
    INDEX,
    page_of,
    page_of_tutorial,
    source_of_page,
)
from theorysim.site.documents import copy_documents
from theorysim.site.experiments import Rerun, gather_experiments
from theorysim.site.figures import draw_figures
from theorysim.site.pages import Paper, instances, names_of, pages, papers_of
from theorysim.site.reference import references
from theorysim.site.statements import Statement, gather
from theorysim.site.tutorials import write_tutorials
from theorysim.site.widgets import widget_of

HERE = Path(__file__).parent
# A folder that has this file was written by us, and may be written anew.
MARK = ".theorysim-site"
LESSONS = ("tour", "check_my_theorem", "sweep_a_phase_diagram")
OF_PAPERS = ("linear_teachers", "linearization", "low_rank", "overtraining", "transferability")
GUIDE = (
    "new_theorem",
    "your_own_theorem",
    "verdicts",
    "review",
    "certify",
    "experiments",
    "advise",
    "sweeps",
    "many_machines",
)
RECORDED = (
    *("coverage", "experiments", "stability", "hypotheses", "constants", "attacks"),
    *("known_truths", "mutants", "verdict_rates", "changes", "advise", "advise_landmarks"),
    *("benchmarks", "latency", "latency_profile"),
)
# What MkDocs writes for servers at a known address, which this site has not.
FOR_SERVERS = ("404.html", "sitemap.xml", "sitemap.xml.gz")


def build(out: Path, only: str = "") -> int:
    """Write the site of the statements whose ids contain the text; how many there are.

    Raises:
        UsageError: where the extra is not installed, a record is missing or stale, or the folder
            holds something else.
    """
    _check_installed()
    _check_folder(out)
    statements, experiments = gather(only), gather_experiments(only)
    with tempfile.TemporaryDirectory() as folder:
        source, built = Path(folder, "docs"), Path(folder, "site")
        write_sources(statements, experiments, source)
        papers = papers_of(statements, experiments)
        _make_html(configuration(papers, source, built))
        for name in FOR_SERVERS:
            (built / name).unlink(missing_ok=True)
        (built / MARK).touch()
        _replace(out, built)
    return len(statements)


def write_sources(
    statements: Sequence[Statement], experiments: Sequence[Rerun], folder: Path
) -> None:
    """Write everything that MkDocs makes the site of."""
    names = names_of([*statements, *experiments])
    copy_documents(folder, names)
    write_tutorials(folder, names)
    shutil.copytree(HERE / "assets", folder / "assets")
    scenes = [(s.id, s.scene) for s in statements if s.scene]
    figures = draw_figures(scenes, folder)
    widgets = {id: widget for id, scene in scenes if (widget := widget_of(id, scene))}
    for page, text in pages(statements, experiments, figures, widgets):
        _write(folder / source_of_page(page), text)
    for name, text in references().items():
        _write(folder / "reference" / f"{name}.md", text)
    for file, text in instances(statements):
        _write(folder / file, text)
    for name in ("verdicts.jsonl", "errata.jsonl"):
        _write(folder / "data" / name, (RECORDS / name).read_text("utf-8"))
    for id, widget in widgets.items():
        for name, text in widget.files.items():
            _write((folder / page_of(id)).with_name(name), text)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def configuration(papers: Sequence[Paper], source: Path, built: Path) -> dict[str, Any]:
    """What MkDocs is told. Nothing of it loads anything from elsewhere."""
    return {
        "site_name": "theorysim",
        "site_description": "Theorems about learning dynamics, run: true as printed, or not?",
        "docs_dir": str(source),
        "site_dir": str(built),
        "use_directory_urls": False,
        "theme": {
            "name": "material",
            "language": "en",
            "font": False,
            "custom_dir": str(HERE / "overrides"),
            "icon": {"logo": "material/sigma"},
            "palette": [
                _palette("default", "light", "weather-night", "Dark colours"),
                _palette("slate", "dark", "weather-sunny", "Light colours"),
            ],
            "features": [
                *("navigation.tabs", "navigation.indexes", "navigation.prune", "navigation.top"),
                *("search.highlight", "content.code.copy", "toc.follow"),
            ],
        },
        "extra": {"polyfills": ["assets/iframe-worker.js"], "generator": False},
        "extra_css": ["assets/site.css", "assets/explore.css"],
        "extra_javascript": ["assets/site.js", "assets/explore.js"],
        "markdown_extensions": [
            *("attr_list", "admonition", "tables", "pymdownx.superfences"),
            {"toc": {"permalink": False, "toc_depth": 3}},
            {"pymdownx.highlight": {"use_pygments": True}},
        ],
        "plugins": ["search", "offline", {"mkdocstrings": {"handlers": {"python": _HANDLER}}}],
        "nav": navigation(papers),
        "validation": {"omitted_files": "ignore"},
    }


_HANDLER = {
    "paths": [str(HERE.parents[1])],
    "options": {
        "docstring_style": "google",
        "docstring_options": {"warnings": False},  # one line may tell of several parameters
        "heading_level": 2,
        "show_root_heading": True,
        "show_root_full_path": False,
        "show_source": True,
        "members_order": "source",
        "separate_signature": True,
        "show_signature_annotations": True,
        "signature_crossrefs": True,
        "inherited_members": False,
        "show_if_no_docstring": False,
        "filters": ["!^_"],
    },
}


def _palette(scheme: str, mode: str, icon: str, name: str) -> dict[str, Any]:
    return {
        "media": f"(prefers-color-scheme: {mode})",
        "scheme": scheme,
        "primary": "custom",
        "accent": "custom",
        "toggle": {"icon": f"material/{icon}", "name": name},
    }


def navigation(papers: Sequence[Paper]) -> list[dict[str, Any]]:
    """The tree of pages."""
    return [
        {"Home": source_of_page(INDEX)},
        {
            "Papers": [
                {
                    paper.name: [
                        {"All statements": source_of_page(paper.page)},
                        *({s.label: source_of_page(s.page)} for s in paper.statements),
                        *({e.label: source_of_page(e.page)} for e in paper.experiments),
                    ]
                }
                for paper in papers
            ]
        },
        {
            "Errata": [
                {"All papers": source_of_page(ERRATA)},
                *({paper.name: source_of_page(paper.errata_page)} for paper in papers),
            ]
        },
        {"Gallery": source_of_page(GALLERY)},
        {"Tutorials": [source_of_page(page_of_tutorial(n)) for n in (*LESSONS, *OF_PAPERS)]},
        {"Guide": [f"guide/{name}.md" for name in GUIDE]},
        {"Records": [f"records/{name}.md" for name in RECORDED]},
        {
            "Reference": [
                "reference/api.md",
                "reference/claims.md",
                "reference/versions.md",
                "reference/migration.md",
            ]
        },
    ]


class _Complaints(logging.Handler):
    """What MkDocs warns of: a link into nowhere, a reference that it cannot resolve."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the message."""
        self.found.append(record.getMessage())


def _make_html(settings: Mapping[str, Any]) -> None:
    """Run MkDocs.

    Raises:
        RuntimeError: with what it warned of: the pages are ours, and none is to be broken.
    """
    from mkdocs.commands.build import build as make
    from mkdocs.config import load_config

    file = Path(settings["docs_dir"]).with_name("mkdocs.yml")
    file.write_text(json.dumps(settings))  # JSON is YAML
    log, complaints = logging.getLogger("mkdocs"), _Complaints()
    log.addHandler(complaints)
    try:
        config = load_config(str(file))
        config.plugins.on_startup(command="build", dirty=False)
        make(config)
        config.plugins.on_shutdown()
    finally:
        log.removeHandler(complaints)
    if complaints.found:
        raise RuntimeError("\n".join(["MkDocs warns:", *complaints.found]))


def _check_installed() -> None:
    try:
        import material  # noqa: F401
        import mkdocs  # noqa: F401
        import mkdocstrings_handlers.python  # noqa: F401
        import nbconvert  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"{error.name} is not installed: the site needs `pip install 'theorysim[site]'`"
        ) from None


def _replace(out: Path, built: Path) -> None:
    """Empty the folder and fill it: it may be the current one or a link, and so stays itself."""
    out.mkdir(parents=True, exist_ok=True)
    for old in out.iterdir():
        if old.is_dir() and not old.is_symlink():
            shutil.rmtree(old)
        else:
            old.unlink()
    shutil.copytree(built, out, dirs_exist_ok=True)


def _check_folder(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise UsageError(f"cannot write {out}: it is a file")
    there = next(place for place in (out, *out.absolute().parents) if place.exists())
    if not (there.is_dir() and os.access(there, os.W_OK)):
        raise UsageError(f"cannot write {out}: {there} is not a writable folder")
    if out.is_dir() and any(out.iterdir()) and not (out / MARK).exists():
        raise UsageError(f"{out} holds files that are not of this site: name an empty folder")
