"""Files that a user's own file imports from its folder: `import helpers` is helpers.py beside it.

Which they are is read, not run. They can be imported while the file runs, and only then: nothing
is added to `sys.path`, and another file's neighbours of the same names are other modules.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from theorysim.engine.registry.entries import Entry
from theorysim.engine.registry.faults import LOCAL_MODULE

# No file of a folder takes the place of these.
RESERVED = {*sys.stdlib_module_names, "theorysim"}


def code_of(entry: Entry) -> tuple[Path, ...]:
    """The file of a statement, and, of a user's own file, the neighbours that it imports."""
    return (entry.path,) if entry.module else with_neighbours(entry.path)


def with_neighbours(path: Path) -> tuple[Path, ...]:
    """A file, and the files of its folder that it imports, directly or through one of them.

    Args:
        path: the file, absolute.
    """
    found, waiting = [path], [path]
    while waiting:
        for name in _imported(waiting.pop()):
            near = path.with_name(f"{name}.py")
            if name not in RESERVED and near not in found and near.is_file():
                found.append(near)
                waiting.append(near)
    return tuple(found)


@contextmanager
def importable(files: Iterable[Path]) -> Generator[None]:
    """Let these files, and no other modules of their names, be imported for a while."""
    finder = _Finder({file.stem: file for file in files})
    aside = {name: sys.modules.pop(name) for name in finder.files if name in sys.modules}
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in finder.files:
            sys.modules.pop(name, None)
        sys.modules.update(aside)


def run_source(module: ModuleType, path: Path) -> None:
    """Run a module from its source: cached bytecode can be stale within the same second."""
    exec(compile(path.read_bytes(), path, "exec"), module.__dict__)


class _Finder(MetaPathFinder):
    """Finds some files by the names of their modules."""

    def __init__(self, files: dict[str, Path]):
        self.files = files

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        file = self.files.get(fullname)
        if file is None:
            return None
        return spec_from_file_location(fullname, file, loader=_Neighbour(file))


class _Neighbour(Loader):
    """Runs a neighbour under a name of its own, by which its classes find it later on."""

    def __init__(self, file: Path):
        self.file = file

    def exec_module(self, module: ModuleType) -> None:
        module.__name__ = f"{LOCAL_MODULE}{self.file.with_suffix('')}"
        sys.modules[module.__name__] = module
        run_source(module, self.file)


def _imported(file: Path) -> Iterator[str]:
    """First parts of the names of the modules that a file imports; none where it is not Python."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return  # running it says what is wrong
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
