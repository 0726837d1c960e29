"""Finding theorems: ids come from file paths, and nothing is imported before it is asked for.

Statements live in `theorysim/theorems/<paper>/<statement>.py`, in packages that are announced
through the entry-point group `theorysim.theorems`, and in single files that a user names. Listing
them reads their headers without running them, so that it needs no JAX.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from theorysim.engine.registry.entries import Catalogue, Entry
from theorysim.engine.registry.faults import GROUP, LOCAL_MODULE, blame
from theorysim.engine.registry.headers import (
    MAIN,
    Header,
    RegistryError,
    read_citation,
    read_headers,
)
from theorysim.engine.registry.kept_headers import headers_of
from theorysim.engine.registry.neighbours import code_of, importable, run_source
from theorysim.engine.registry.origins import remember
from theorysim.environment import expect_code_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from theorysim.citation import Citation
    from theorysim.claims.theorem import Theorem

OWN = Path(__file__).parents[2] / "theorems"
LOCAL = "local"
PICK = "::"  # between a file and one of several statements in it, as pytest writes it
EQUATIONS = ("eq", "equation")
KINDS = {"eq": "equation", "def": "definition"}
SUGGESTIONS = 4

Files = Iterable[str | Path]


class UnknownTheorem(RegistryError):
    """No statement has this id; the nearest ids are suggested."""


class AmbiguousTheorem(RegistryError):
    """Several papers have a statement of this name; the candidates are listed."""


def statement_name(stem: str) -> str:
    """The name that a file name stands for: `theorem_4_2_rates` is theorem-4.2-rates.

    Numbers (digits or single letters) join with a dot, those of equations and everything else
    with a dash: `lemma_a_28` is lemma-a.28, `eq_16_17` is eq-16-17.
    """
    tokens = stem.lower().split("_")
    dot = "-" if tokens[0] in EQUATIONS else "."
    both_numbers = (_is_number(a) and _is_number(b) for a, b in pairwise(tokens))
    joints = [dot if both else "-" for both in both_numbers]
    return tokens[0] + "".join(joint + token for joint, token in zip(joints, tokens[1:]))


def catalogue(extra: Files = ()) -> Catalogue:
    """All statements, in natural order of paper and name.

    A file that cannot be read is listed with its `problem` and hides no other.

    Args:
        extra: single files; their statements get the ids `local/<name>`.
            What a file calls `theorem` is named after the file, what it calls anything else after
            both: `heavy_ball` of rates.py is `local/rates-heavy-ball`.

    Raises:
        RegistryError: for a file or package that is not there, and for an id that two
            statements claim.
    """
    found = [*_in_package(OWN, "theorysim.theorems", ""), *_in_packs(), *in_files(extra)]
    _refuse_duplicates(found)
    return Catalogue(tuple(sorted(found, key=_natural_order)))


def find(query: str, extra: Files = ()) -> Entry:
    """The statement of that id, of that name or alias where only one paper has it, or of that file.

    A file that states several is asked for one of them: `rates.py::heavy_ball`; without a name, for
    its `theorem`.

    Raises:
        UnknownTheorem: with the nearest ids.
        AmbiguousTheorem: with the candidates.
        RegistryError: for a file that is not there, or of which no one statement is asked for.
    """
    if (file := file_of(query)) is not None:
        return _in_file(file, query.partition(PICK)[2], extra)
    every = catalogue(extra)
    wanted = "-".join(query.lower().split())
    matches = [entry for entry in every if wanted in _answers_to(entry)]
    if not matches:
        raise UnknownTheorem(f"no theorem {query!r}; {_suggestion(wanted, every)}")
    if len(matches) > 1:
        candidates = ", ".join(entry.id for entry in matches)
        raise AmbiguousTheorem(f"several papers have a {query!r}: choose one of {candidates}")
    return matches[0]


def file_of(query: str) -> Path | None:
    """The file that a query such as `rates.py` or `rates.py::heavy_ball` names; None for an id."""
    file = query.partition(PICK)[0]
    return Path(file) if file.endswith(".py") else None


def load(entry: Entry) -> Theorem:
    """The theorem of an entry, with its id and title; imports its module.

    Raises:
        RegistryError: naming file and line, where the module is broken and is not one of ours.
    """
    if entry.problem:
        raise RegistryError(entry.problem)
    return _load(entry, tuple((file, file.stat().st_mtime_ns) for file in code_of(entry)))


def theorem(query: str, extra: Files = ()) -> Theorem:
    """The theorem of an id, a name or an alias.

    Raises:
        UnknownTheorem: with the nearest ids.
        AmbiguousTheorem: with the candidates.
    """
    return load(find(query, extra))


def citation(entry: Entry) -> Citation | None:
    """The paper of an entry; None where no `_paper.py` beside it says which."""
    path = entry.path.with_name("_paper.py")
    return read_citation(path) if entry.module and path.is_file() else None


def _is_number(token: str) -> bool:
    return token.isdigit() or len(token) == 1


def _natural_order(entry: Entry) -> tuple:
    tokens = re.split(r"[-.]", entry.name)
    return entry.paper, [(0, int(t), "") if t.isdigit() else (1, 0, t) for t in tokens]


def _answers_to(entry: Entry) -> set[str]:
    names = entry.names()
    return {*names, *(name.removeprefix(f"{entry.paper}/") for name in names)}


def _suggestion(wanted: str, every: Catalogue) -> str:
    ids = {name: entry.id for entry in every for name in _answers_to(entry)}
    near = difflib.get_close_matches(wanted, ids, SUGGESTIONS)
    if not near:
        return "`theorysim list` shows all ids"
    return "did you mean " + ", ".join(dict.fromkeys(ids[name] for name in near)) + "?"


def _refuse_duplicates(found: list[Entry]) -> None:
    owners: dict[str, Entry] = {}
    for entry in found:
        for name in set(entry.names()):
            other = owners.setdefault(name, entry)
            if other is not entry:
                places = " and ".join(each.place(str(each.path)) for each in (other, entry))
                raise RegistryError(f"{name} is claimed by both {places}: rename one of them")


def _in_package(folder: Path, package: str, paper: str) -> Iterator[Entry]:
    """Statements of a package: those in its folder belong to `paper`, others to their folder's."""
    modules = [(path, paper, f"{package}.{path.stem}") for path in _modules(folder)]
    for inner in sorted(folder.iterdir()):
        if inner.is_dir() and not inner.name.startswith(("_", ".")):
            slug, name = inner.name.replace("_", "-"), f"{package}.{inner.name}"
            modules += [(path, slug, f"{name}.{path.stem}") for path in _modules(inner)]
    read = headers_of([path for path, *_ in modules])
    for (path, slug, module), headers in zip(modules, read):
        for header in headers:
            yield _entry(path, slug, module, header)


def _modules(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("*.py")) if not path.name.startswith("_")]


def _in_packs() -> Iterator[Entry]:
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        yield from _in_package(_package_folder(point), point.value, point.name)


def _package_folder(point: EntryPoint) -> Path:
    """The folder of an announced package, found without importing it or its parents."""
    top, *inner = point.value.split(".")
    spec = importlib.util.find_spec(top)
    places = (spec.submodule_search_locations or ()) if spec is not None else ()
    for folder in (Path(place, *inner) for place in places):
        if folder.is_dir():
            return folder
    owner = point.dist.name if point.dist is not None else "a distribution"
    raise RegistryError(
        f"{owner} announces theorems in {point.value!r}, which is not a package: "
        f"fix its entry point in the group {GROUP}, or uninstall it"
    )


def in_files(extra: Files) -> Iterator[Entry]:
    """The statements of single files, as they stand there now."""
    for path in map(Path, extra):
        if path.suffix == ".py" and not path.exists():
            raise RegistryError(f"{path} is not there: expected a file with a theorem")
        if not path.is_file() or path.suffix != ".py":
            raise RegistryError(f"{path} is not a Python file: expected a file with a theorem")
        for header in read_headers(path.resolve()):
            yield _entry(path.resolve(), LOCAL, "", header)


def _in_file(path: Path, attribute: str, extra: Files) -> Entry:
    """A statement of a single file; the catalogue refuses what claims the same id.

    Where no attribute is asked for, it is the one of the usual name, or the only one.
    """
    others = [each for each in extra if Path(each).resolve() != path.resolve()]
    found = [e for e in catalogue([*others, path]) if e.path == path.resolve()]
    stated = {e.attribute: e for e in found if e.paper == found[0].paper}
    only = next(iter(stated)) if len(stated) == 1 else MAIN
    if (wanted := attribute or only) in stated:
        return stated[wanted]
    if len(stated) == 1 and stated[only].problem:  # perhaps the file cannot be read at all
        return stated[only]
    what = f"has no statement {attribute!r}" if attribute else f"states {len(stated)} theorems"
    names = ", ".join(f"{path}{PICK}{name}" for name in stated)
    raise RegistryError(f"{path} {what}: name one, {names}")


def _entry(path: Path, paper: str, module: str, header: Header) -> Entry:
    """A statement of a file, or the one that it should have had, with its problem."""
    own = "" if header.attribute == MAIN else f"_{header.attribute}"
    name = statement_name(path.stem + own)
    word = re.split(r"[-.]", name)[0]
    return Entry(
        id=f"{paper}/{name}",
        paper=paper,
        kind="experiment" if header.is_experiment else KINDS.get(word, word),
        title=header.title,
        aliases=header.aliases,
        readings=header.readings,
        path=path,
        module=module,
        problem=header.problem,
        attribute=header.attribute,
    )


@cache
def _load(entry: Entry, modified: tuple[tuple[Path, int], ...]) -> Theorem:
    """One object per state of its files, because compiled programs are kept per theorem.

    Modules run in double precision, as theorems do: arrays that they hold are of the same kind.
    """
    del modified
    import jax

    from theorysim.claims.theorem import Theorem

    if not entry.path.is_relative_to(OWN):
        expect_code_of(entry.path)
    try:
        with jax.enable_x64(True):
            module = importlib.import_module(entry.module) if entry.module else _run_file(entry)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # `exit()` in a file must not end the command with its code
        if entry.path.is_relative_to(OWN):
            raise
        raise RegistryError(blame(error, entry.path)) from error
    found = getattr(module, entry.attribute, None)
    if not isinstance(found, Theorem):
        raise RegistryError(
            f"{entry.path}: expected `{entry.attribute}` to be a Theorem, but it is {found!r}"
        )
    theorem = found.with_id(entry.id, entry.title)
    remember(theorem, entry.path)
    return theorem


def _run_file(entry: Entry) -> ModuleType:
    """The module of a user's own file, which may import its neighbours while it runs."""
    path, *neighbours = code_of(entry)
    name = LOCAL_MODULE + path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise ImportError(f"no loader for {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up while it runs
    with importable(neighbours):
        run_source(module, path)
    return module
