"""Writing what an author starts from; nothing is ever overwritten."""

from __future__ import annotations

import re
from pathlib import Path

from theorysim.authoring.rendering import render
from theorysim.authoring.statements import Statement
from theorysim.errors import UsageError
from theorysim.files import write_whole

# The first statement of a pack.
FIRST = "theorem_1.py"
# What a pack has, by the template and the place of each file.
PACK = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "gitignore": ".gitignore",
    "__init__.py": "src/{module}/__init__.py",
    "theorems.py": "src/{module}/theorems/__init__.py",
    "_paper.py": "src/{module}/theorems/_paper.py",
    "conftest.py": "tests/conftest.py",
    "test_theorems.py": "tests/test_theorems.py",
    "theorems.yml": ".github/workflows/theorems.yml",
}


def write_statement(path: Path, statement: Statement) -> None:
    """Write a file with one theorem.

    Raises:
        UsageError: for a name that is no module's, a file that is there, and a folder that is not.
    """
    _check_name(path)
    if path.exists():
        raise UsageError(f"{path} is there already: choose another name, or move it away")
    _write(path, statement.text(path.name))


def write_pack(folder: Path, statement: Statement, file: str = FIRST) -> list[Path]:
    """Write an installable package with a first theorem; returns its files.

    Raises:
        UsageError: for a name that no package can have, and a folder that is there.
    """
    _check_name(Path(file))
    name = folder.name
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise UsageError(
            f"{name!r} cannot name a pack: expected small letters, digits and single dashes, such "
            "as my-rates"
        )
    if folder.exists():
        raise UsageError(f"{folder} is there already: choose another name, or move it away")
    module = name.replace("-", "_")
    written = []
    for template, place in PACK.items():
        path = folder / place.format(module=module)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = render(f"pack/{template}.jinja", name=name, module=module)
        _write(path, text)
        written.append(path)
    first = folder / "src" / module / "theorems" / file
    write_statement(first, statement)
    return [*written, first]


def _check_name(path: Path) -> None:
    if path.suffix != ".py" or not path.stem.isidentifier() or path.stem.startswith("_"):
        raise UsageError(
            f"{path.name} cannot be a theorem's file: expected letters, digits and underscores, "
            "such as my_rate.py"
        )


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
