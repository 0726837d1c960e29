"""What the file of a statement says about itself, read without running it and so without JAX."""

from __future__ import annotations

import ast
import inspect
from dataclasses import MISSING, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from theorysim.citation import Citation
from theorysim.errors import UsageError

# The default of `Theorem.printed`, which cannot be asked without importing JAX.
PRINTED = "as printed"

# The class of empirical statements.
EXPERIMENT = "Experiment"

# What a file calls the statement that has the id and the docstring of the file.
MAIN = "theorem"


class RegistryError(UsageError):
    """A theorem that cannot be found or read; the message says what to change."""


@dataclass(frozen=True)
class ReadingName:
    """The name of a reading, and whether its verdict is the statement's."""

    name: str
    primary: bool


@dataclass(frozen=True)
class Header:
    """What a file says of one of its statements.

    Attributes:
        attribute: the name that it is assigned to.
        title: first line of its docstring.
        aliases: other names.
        readings: the readings, the printed one first.
        is_experiment: whether it is an empirical statement.
        problem: why it cannot be read, naming the line; "" where it can.
    """

    attribute: str
    title: str = ""
    aliases: tuple[str, ...] = ()
    readings: tuple[ReadingName, ...] = ()
    is_experiment: bool = False
    problem: str = ""


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
        pairs = [(pair, node) for node in self.tree.body if (pair := _assignment(node))]
        self.assignments = [pair for pair, _ in pairs]
        self.assigned = dict(self.assignments)
        self.lines = {name: node for (name, _), node in pairs}

    def fault(self, node: ast.AST | None, text: str) -> RegistryError:
        return RegistryError(f"{self.path}:{getattr(node, 'lineno', 1)}: {text}")

    def call(self, name: str, *functions: str) -> ast.Call:
        """The call of `name = function(...)`, with one of these functions."""
        value = self.assigned.get(name)
        if isinstance(value, ast.Call) and any(_calls(value, each) for each in functions):
            return value
        raise self.fault(value, f"expected `{name} = {functions[0]}(...)` at the top level")

    def stated(self) -> tuple[str, ...]:
        """What the statements are assigned to; private names are nobody's statements."""
        names = [n for n, value in self.assignments if n == MAIN or _is_statement(value)]
        return tuple(dict.fromkeys(n for n in names if not n.startswith("_")))

    def docstring(self, name: str) -> str:
        """The docstring of a statement, unindented; "" where it has none.

        That of the module belongs to `theorem`, to any other the string right below it.
        """
        if name == MAIN or name not in self.lines:
            return ast.get_docstring(self.tree) or ""
        below = self.tree.body[self.tree.body.index(self.lines[name]) + 1 :]
        value = below[0].value if below and isinstance(below[0], ast.Expr) else None
        text = value.value if isinstance(value, ast.Constant) else None
        return inspect.cleandoc(text) if isinstance(text, str) else ""

    def refuse_repeated(self, name: str) -> None:
        """Refuse a name to which several statements are assigned: the last would hide the rest."""
        lines = [v.lineno for n, v in self.assignments if n == name and _is_statement(v)]
        if len(lines) > 1:
            where = " and ".join(map(str, lines))
            text = f"`{name}` is stated in lines {where}: give each statement a name of its own"
            raise self.fault(self.lines[name], text)

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


def docstring(path: Path, attribute: str = MAIN) -> str:
    """The docstring of a statement of a file, unindented; "" where it has none."""
    return _Source(path).docstring(attribute)


def read_headers(path: Path) -> tuple[Header, ...]:
    """What a file says of each `name = Theorem(...)`, or Experiment, at its top level, in order.

    A file that states nothing, or cannot be read, has one header, of `theorem`, with its problem:
    file and line, where something is missing or is not a literal. A changed file is read anew.
    """
    return _headers(path, state_of(path))


def state_of(path: Path) -> tuple[int, ...]:
    """What changes with a file; nothing where it cannot be looked at."""
    try:
        state = path.stat()
    except OSError:
        return ()
    return state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino


@lru_cache(maxsize=4096)
def _headers(path: Path, state: tuple[int, ...]) -> tuple[Header, ...]:
    """The headers of a file in this state."""
    del state
    try:
        source = _Source(path)
    except RegistryError as error:
        return (Header(MAIN, problem=str(error)),)
    return tuple(_header_or_problem(source, name) for name in source.stated() or (MAIN,))


def _header_or_problem(source: _Source, name: str) -> Header:
    try:
        return _header(source, name)
    except RegistryError as error:
        return Header(name, problem=str(error))


def _header(source: _Source, attribute: str) -> Header:
    """What the source says of the statement that is assigned to this name."""
    title = source.docstring(attribute).partition("\n")[0]
    if not title and attribute != MAIN:
        text = (
            f"expected a string right below `{attribute} = ...` whose first line is its title; "
            f"only `{MAIN}` has the docstring of the file"
        )
        raise source.fault(source.lines[attribute], text)
    if not title:
        raise source.fault(None, "expected a docstring whose first line is the title")
    source.refuse_repeated(attribute)
    call = source.call(attribute, "Theorem", EXPERIMENT)
    keywords = _keywords(call)
    aliases = [source.literal(item, str, "alias") for item in source.items(keywords.get("aliases"))]
    printed = keywords.get("printed")
    name = PRINTED if printed is None else source.literal(printed, str, "printed")
    readings = [_reading(source, item) for item in source.items(keywords.get("readings"))]
    primary = not any(reading.primary for reading in readings)
    own = ReadingName(name, primary)
    every = (own, *readings)
    return Header(attribute, title, tuple(aliases), every, _calls(call, EXPERIMENT))


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


def _is_statement(node: ast.expr) -> bool:
    return _calls(node, "Theorem") or _calls(node, EXPERIMENT)


def _assignment(node: ast.stmt) -> tuple[str, ast.expr] | None:
    """The name and the value of an assignment to one; None where it is something else."""
    if isinstance(node, ast.Assign):
        target, value = node.targets[0], node.value
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        target, value = node.target, node.value
    else:
        return None
    return (target.id, value) if isinstance(target, ast.Name) else None


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
