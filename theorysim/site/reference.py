"""The reference of what theorysim offers, as directives that mkdocstrings turns into pages."""

from __future__ import annotations

import inspect

import theorysim
from theorysim import claims


def reference() -> str:
    """Public names of the package and of the language, each where it is defined."""
    parts = ["# What theorysim offers", ""]
    for module in (theorysim, claims):
        summary = (module.__doc__ or "").partition("\n\n")[0]
        parts += [f"## {module.__name__}", "", summary, ""]
        parts += [f"::: {_home(module, name)}\n" for name in _public(module)]
    return "\n".join(parts)


def _public(module: object) -> list[str]:
    """The names that a module offers, without modules."""
    names = getattr(module, "__all__", vars(module))
    return [n for n in names if n[0] != "_" and not inspect.ismodule(vars(module).get(n))]


def _home(module: object, name: str) -> str:
    """Where a name is defined; an alias that has no home of its own stays where it is."""
    member = getattr(module, name)
    home = getattr(member, "__module__", "")
    defined = getattr(member, "__qualname__", "") == name and home.startswith("theorysim")
    return f"{home}.{name}" if defined else f"{getattr(module, '__name__', '')}.{name}"
