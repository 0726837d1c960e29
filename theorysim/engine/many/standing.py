"""What a process computes with: versions and code, to be the same on every machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from theorysim.engine.many.task import Code
from theorysim.engine.registry import Entry, catalogue
from theorysim.engine.registry.index import OWN, in_files
from theorysim.engine.registry.ledger import LEDGER
from theorysim.engine.registry.neighbours import code_of
from theorysim.errors import UsageError
from theorysim.jaxprs.fingerprint import digest
from theorysim.versions import versions

PACKAGE = Path(__file__).parents[2]
CODE = "code"


def standing(code: Code) -> Mapping[str, str]:
    """Versions, and SHA-256 of this package, of packs, and of the files and packages of the code.

    What such a file imports from outside of its folder is not seen.

    Raises:
        UsageError: for a file or a package that is not there.
    """
    return {**versions(), CODE: digest(_tokens(code))}


def difference(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """What distinguishes two processes, in words; empty if nothing does."""
    for name, version in here.items():
        if (other := there.get(name)) != version:
            if name == CODE:
                return "other code of theorysim, a pack, a file of theorems or a campaign"
            return f"{name} {other} there, {version} here"
    return ""


def _tokens(code: Code) -> Iterable[bytes]:
    """Names and contents; where a machine keeps its files does not count."""
    yield _loaded(code.packages)
    yield LEDGER.read_bytes()  # what it knows is measured anew by `verify`
    for entry in in_files(code.files):
        for path in code_of(entry):
            yield from (path.name.encode(), path.read_bytes())


@cache
def _loaded(packages: tuple[str, ...]) -> bytes:
    """Of this package, of packs and these packages: read once, as a process loads modules once."""
    strangers = [entry for entry in catalogue() if not entry.path.is_relative_to(OWN)]
    packs = dict.fromkeys(_pack(entry) for entry in strangers)
    folders = (PACKAGE, *map(_place, packages), *packs)
    return digest(chain.from_iterable(map(_contents, folders))).encode()


def _contents(folder: Path) -> Iterable[bytes]:
    for path in sorted(folder.rglob("*.py")):
        yield from (path.relative_to(folder).as_posix().encode(), path.read_bytes())


def _place(package: str) -> Path:
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise UsageError(f"no package {package} is there: name its place in PYTHONPATH")
    return Path(found.submodule_search_locations[0])


def _pack(entry: Entry) -> Path:
    """The folder of the outermost package that holds a statement."""
    return entry.path.parents[entry.module.count(".") - 1]
