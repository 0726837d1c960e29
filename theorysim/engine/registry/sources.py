"""The code that a statement rests on, as one hash: records of it are stale once it changes.

Files are read, not run. Only the rooms that say what is simulated and claimed count: how a verdict
is reached is the same for all statements. Nor do words count that are for readers only.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

from theorysim.engine.registry.entries import Entry
from theorysim.engine.registry.words import without_words

PACKAGE = Path(__file__).parents[2]
ROOMS = ("theorems", "systems", "numerics", "data")


def source_hash(entry: Entry) -> str:
    """SHA-256 over the files of ROOMS that the statement's module imports, directly or not.

    Without words: hours of campaigns say the same of a statement whose note was mended.
    """
    return code_hash(entry.module, ROOMS, without_words)


def code_hash(
    module: str, rooms: tuple[str, ...], kept: Callable[[bytes], bytes] = lambda file: file
) -> str:
    """SHA-256 over what is `kept` of the files of some rooms that a module imports, and its own."""
    names, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += _imports(name, rooms)
    digest = sha256()
    for name in sorted(names):
        digest.update(name.encode() + b"\0" + _digest(kept, _file(name).read_bytes()))
    return digest.hexdigest()


@cache
def _digest(kept: Callable[[bytes], bytes], file: bytes) -> bytes:
    return sha256(kept(file)).digest()


def _file(module: str) -> Path:
    """The file of a module of this package."""
    place = PACKAGE.joinpath(*module.split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


@cache
def _imports(module: str, rooms: tuple[str, ...]) -> tuple[str, ...]:
    """The modules of some rooms that a module imports, with the packages around them."""
    package = module if _file(module).name == "__init__.py" else module.rpartition(".")[0]
    tree = ast.parse(_file(module).read_bytes())
    names = [name for node in ast.walk(tree) for name in _named(node, package)]
    return tuple(dict.fromkeys(found for name in names for found in _modules(name, rooms)))


def _named(node: ast.AST, package: str) -> Iterator[str]:
    """Full names of what an import statement imports: modules, or names in modules."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = [*(above if node.level else []), *([node.module] if node.module else [])]
        yield from (".".join([*base, alias.name]) for alias in node.names)


def _modules(name: str, rooms: tuple[str, ...]) -> Iterator[str]:
    """The modules of some rooms along a dotted name: packages are run before what is inside."""
    parts = name.split(".")
    if parts[0] != PACKAGE.name or parts[1:2] == [] or parts[1] not in rooms:
        return
    for end in range(2, len(parts) + 1):
        module = ".".join(parts[:end])
        if _file(module).is_file():
            yield module
