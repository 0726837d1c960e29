"""The reference of what theorysim offers, made of signatures and docstrings.

    python -m validation.reference

writes docs/reference/api.md; a test compares it with what would be written.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "api.md"
WIDTH = 88

HEAD = """# What theorysim offers

Generated from signatures and docstrings by `python -m validation.reference`. What of it is public,
and what a version number promises, is said in [versions.md](versions.md).
"""

# The modules whose names are public, each with what it is for.
MODULES = {
    "theorysim": "Listing, checking and using theorems. Importing it loads no JAX.",
    "theorysim.claims": "The language in which theorems are written.",
    "theorysim.advise": "Decisions on a user's own model.",
}


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(line for name in MODULES for line in _module(name))])


def _module(name: str) -> Iterator[str]:
    module = importlib.import_module(name)
    members = {each: getattr(module, each) for each in _public(module)}
    yield f"## {name}\n\n{MODULES[name]}\n"
    yield "| name | |\n| --- | --- |"
    for each, member in members.items():
        yield f"| `{each}` | {_summary(member)} |"
    yield ""
    for each, member in members.items():
        yield from _member(f"{name}.{each}", member)


def _public(module: Any) -> list[str]:
    """The names that a module re-exports, in its own order."""
    names = getattr(module, "__all__", vars(module))
    return [
        name for name in names if not (name[0] == "_" or inspect.ismodule(vars(module).get(name)))
    ]


def _summary(member: Any) -> str:
    """The first sentence or line of the docstring."""
    paragraph = _docstring(member).partition("\n\n")[0]
    return re.sub(r"\s+", " ", paragraph).replace("|", "\\|")


def _docstring(member: Any) -> str:
    return inspect.cleandoc(member.__doc__ or "")


def _member(name: str, member: Any) -> Iterator[str]:
    place = Path(inspect.getfile(inspect.unwrap(member))).relative_to(ROOT)
    yield f"### {name}\n"
    yield f"```python\n{_declaration(member)}\n```\n"
    yield f"{_as_markdown(_docstring(member))}\n"
    if inspect.isclass(member):
        parts = list(_parts(member))
        if parts:
            yield "\n".join(["**Properties and methods:**\n", *parts, ""])
    yield f"[source](../../{place.as_posix()})\n"


def _declaration(member: Any) -> str:
    """How a function is called or a class is made."""
    name = member.__name__
    if not inspect.isclass(member):
        return f"def {_call(name, member)}"
    if issubclass(member, enum.Enum):
        return "\n".join(
            [f"class {name}", *(f"    {each.name} = {each.value!r}" for each in member)]
        )
    if issubclass(member, BaseException):
        return f"class {name}({member.__base__.__name__})"
    return f"class {_call(name, member)}"


class _Text:
    """What a signature prints as it stands."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _call(name: str, function: Any) -> str:
    """The signature, with one parameter per line where it is long."""
    signature = inspect.signature(function)
    arguments = list(_arguments(signature))
    result = "" if inspect.isclass(function) else f" -> {signature.return_annotation}"
    line = f"{name}({', '.join(arguments)}){result}"
    if len(line) <= WIDTH or not arguments:
        return line
    return f"{name}(\n    " + ",\n    ".join(arguments) + f",\n){result}"


def _arguments(signature: inspect.Signature) -> Iterator[str]:
    starred = False
    for parameter in signature.parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            yield "*"
        starred = starred or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        yield str(_readable(parameter))


def _readable(parameter: inspect.Parameter) -> inspect.Parameter:
    """The annotation without quotes, and a function by its name: its address changes."""
    annotation, default = parameter.annotation, parameter.default
    if isinstance(annotation, str):
        parameter = parameter.replace(annotation=_Text(annotation))
    if inspect.isfunction(default):
        parameter = parameter.replace(default=_Text(default.__name__))
    return parameter


def _parts(kind: type) -> Iterator[str]:
    """The documented properties and methods of a class, one line each."""
    if issubclass(kind, enum.Enum | BaseException):
        return
    for name, part in vars(kind).items():
        if name.startswith("_") or not getattr(part, "__doc__", None):
            continue
        if isinstance(part, property):
            yield f"- `{name}`: {_summary(part)}"
        elif inspect.isfunction(part):
            signature = inspect.signature(part)
            call = f"{name}({', '.join(_arguments(signature))}) -> {signature.return_annotation}"
            yield f"- `{call}`: {_summary(part)}"


def _as_markdown(text: str) -> str:
    """A docstring with its sections as lists."""
    lines, within = [], False
    for line in text.splitlines():
        if line in ("Args:", "Attributes:", "Raises:", "Returns:"):
            within = True
            lines.append(f"**{line}**\n")
        elif not within or not line.strip():
            lines.append(line)
        elif re.match(r" {4}\S", line):
            name, colon, rest = line.strip().partition(": ")
            named = colon and re.fullmatch(r"[\w*, ]+", name)
            lines.append(f"- `{name}`: {rest}" if named else f"- {line.strip()}")
        elif line.startswith(" "):
            lines.append(f"  {line.strip()}")
        else:
            within = False
            lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
