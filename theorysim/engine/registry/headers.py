"""What the file of a statement says about itself, read without running it and so without JAX."""

from __future__ import annotations

import ast
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from theorysim.citation import Citation
from theorysim.errors import UsageError

# The default of `Theorem.printed`, which cannot be asked without importing JAX.
PRINTED = "as printed"

# The class of empirical statements.
EXPERIMENT = "Experiment"


class RegistryError(UsageError):
    """A theorem that cannot be found or read; the message says what to change."""


@dataclass(frozen=True)
class ReadingName:
    """The name of a reading, and whether its verdict is the statement's."""

    name: str
    primary: bool


@dataclass(frozen=True)
class Header:
    """The title, aliases and readings of a statement, the printed reading first; what it is."""

    title: str
    aliases: tuple[str, ...]
    readings: tuple[ReadingName, ...]
    is_experiment: bool = False


class _Source:
    """A parsed module whose literals can be asked for; failures name file and line."""

    def __init__(self, path: Path):
        self.path = path
        try:
            self.tree = ast.parse(path.read_bytes())
        except OSError as error:
            raise RegistryError(f"cannot read {path}: {error.strerror}") from None
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or 1
            raise RegistryError(f"{path}:{line}: {getattr(error, 'msg', error)}") from None
        self.assigned = {
            node.targets[0].id: node.value
            for node in self.tree.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }

    def fault(self, node: ast.AST | None, text: str) -> RegistryError:
        return RegistryError(f"{self.path}:{getattr(node, 'lineno', 1)}: {text}")

    def call(self, name: str, *functions: str) -> ast.Call:
        """The call of `name = function(...)`, with one of these functions."""
        value = self.assigned.get(name)
        if isinstance(value, ast.Call) and any(_calls(value, each) for each in functions):
            return value
        raise self.fault(value, f"expected `{name} = {functions[0]}(...)` at the top level")

    def refuse_several(self, function: str) -> None:
        """Refuse a module that assigns the results of several calls of a function."""
        calls = [
            f"`{ast.unparse(node.targets[0])}` (line {node.lineno})"
            for node in self.tree.body
            if isinstance(node, ast.Assign) and _calls(node.value, function)
        ]
        if len(calls) > 1:
            text = f"a file states one {function}, but {' and '.join(calls)} are here: "
            raise self.fault(None, f"{text}give each a file of its own")

    def resolve(self, node: ast.expr) -> ast.expr:
        """What a name stands for, where it is assigned in this module."""
        return self.assigned.get(node.id, node) if isinstance(node, ast.Name) else node

    def literal(self, node: ast.expr, kind: type | tuple[type, ...], what: str) -> Any:
        try:
            value = ast.literal_eval(self.resolve(node))
        except ValueError:
            value = None
        if not isinstance(value, kind):
            raise self.fault(node, f"{what}: expected a literal: files are read, not run")
        return value

    def items(self, node: ast.expr | None) -> list[ast.expr]:
        """The elements of a literal tuple or list."""
        if node is None:
            return []
        value = self.resolve(node)
        if not isinstance(value, ast.Tuple | ast.List):
            lacks = "a comma is missing in `(...,)`: " * isinstance(value, ast.Call)
            raise self.fault(node, f"{lacks}expected a literal tuple: files are read, not run")
        return [self.resolve(item) for item in value.elts]


def docstring(path: Path) -> str:
    """The docstring of a module, unindented; "" where it has none."""
    return ast.get_docstring(_Source(path).tree) or ""


def read_header(path: Path) -> Header:
    """What `theorem = Theorem(...)` and the docstring of a file say.

    Raises:
        RegistryError: naming file and line, where something is missing or is not a literal.
    """
    source = _Source(path)
    title = (ast.get_docstring(source.tree) or "").partition("\n")[0]
    if not title:
        raise source.fault(None, "expected a docstring whose first line is the title")
    source.refuse_several("Theorem")
    call = source.call("theorem", "Theorem", EXPERIMENT)
    keywords = _keywords(call)
    aliases = [source.literal(item, str, "alias") for item in source.items(keywords.get("aliases"))]
    printed = keywords.get("printed")
    name = PRINTED if printed is None else source.literal(printed, str, "printed")
    readings = [_reading(source, item) for item in source.items(keywords.get("readings"))]
    primary = not any(reading.primary for reading in readings)
    own = ReadingName(name, primary)
    return Header(title, tuple(aliases), (own, *readings), _calls(call, EXPERIMENT))


def read_citation(path: Path) -> Citation:
    """What `citation = Citation(title=..., authors=..., year=..., venue=...)` of a file says.

    Raises:
        RegistryError: naming file and line, where something is missing or is not a literal.
    """
    source = _Source(path)
    call = source.call("citation", "Citation")
    keywords = _keywords(call)
    kinds = {field.name: int if field.name == "year" else str for field in fields(Citation)}
    needed = {field.name for field in fields(Citation) if field.default is MISSING}
    if missing := needed - set(keywords):
        raise source.fault(call, f"the citation lacks {', '.join(sorted(missing))}")
    if unknown := set(keywords) - set(kinds):
        raise source.fault(call, f"a citation has no {', '.join(sorted(unknown))}")
    return Citation(
        **{name: source.literal(value, kinds[name], name) for name, value in keywords.items()}
    )


def _calls(node: ast.expr, function: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == function


def _keywords(call: ast.Call) -> dict[str, ast.expr]:
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def _reading(source: _Source, node: ast.expr) -> ReadingName:
    """The name in `Reading(name, ..., primary=...)`, or in `corrected(change, name=...)`."""
    if not isinstance(node, ast.Call):
        raise source.fault(node, "expected `Reading(...)`: files are read, not run")
    keywords = _keywords(node)
    if ast.unparse(node.func).split(".")[-1] == "corrected":
        given = keywords.get("name", ast.Constant("corrected"))
        return ReadingName(source.literal(given, str, "name of a reading"), primary=True)
    name = node.args[0] if node.args else keywords.get("name", node)
    primary = keywords.get("primary")
    return ReadingName(
        source.literal(name, str, "name of a reading"),
        primary is not None and source.literal(primary, bool, "primary"),
    )
