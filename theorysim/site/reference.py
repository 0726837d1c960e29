"""The reference of what theorysim offers, as directives that mkdocstrings turns into pages."""

from __future__ import annotations

import inspect
from importlib import import_module
from types import ModuleType


def references() -> dict[str, str]:
    """By file, the public names of the package and of the language, each where it is defined."""
    return {
        "api": _page("What theorysim offers", import_module("theorysim")),
        "claims": _page("The language of theorems", import_module("theorysim.claims")),
    }


def _page(title: str, module: ModuleType) -> str:
    directives = [f"::: {_home(module, name)}\n" for name in _public(module)]
    return "\n".join([f"# {title}\n", f"`import {module.__name__}`\n", *directives])


def _public(module: ModuleType) -> list[str]:
    """The names that a module offers, without modules."""
    names = getattr(module, "__all__", vars(module))
    return [n for n in names if n[0] != "_" and not inspect.ismodule(vars(module).get(n))]


def _home(module: ModuleType, name: str) -> str:
    """Where a name is defined; an alias that has no home of its own stays where it is."""
    member = getattr(module, name)
    home = getattr(member, "__module__", "")
    defined = getattr(member, "__qualname__", "") == name and home.startswith("theorysim")
    return f"{home}.{name}" if defined else f"{module.__name__}.{name}"
