"""Whether a statement that integrates an ODE says so: else nobody measures the error."""

from __future__ import annotations

import ast

from theorysim.engine.check.step import Subject
from theorysim.engine.measure.integrators import UNDECLARED, uses_tolerance_scale

# Modules that integrate.
INTEGRATORS = {"flow", "diffrax", "odeint"}


def undeclared_integrator(subject: Subject) -> str:
    """What to mend where a statement integrates without saying so; "" where it does not."""
    theorem, path = subject.theorem, subject.entry.path
    if theorem.integrates or not uses_tolerance_scale(theorem):
        return ""
    return f"{path}:{_line_of(path.read_text('utf-8'))}: {UNDECLARED}"


def unmeasured_integrator(subject: Subject) -> tuple[str, ...]:
    """A warning where a statement imports an integrator, whose error nobody measures."""
    path = subject.entry.path
    line = _integrator_without_scale(ast.parse(path.read_bytes()))
    return (f"{path}:{line}: {UNMEASURED}",) if line and not subject.theorem.integrates else ()


UNMEASURED = (
    "it imports an integrator, whose error nobody measures: pass tolerance_scale=x.tolerance_scale "
    "and set Theorem(integrates=True)"
)


def _line_of(text: str) -> int:
    lines = text.splitlines()
    return next((n for n, line in enumerate(lines, 1) if "tolerance_scale" in line), 1)


def _integrator_without_scale(tree: ast.AST) -> int:
    """The line that imports an integrator, of a module that names no tolerance_scale; else 0."""
    if any(isinstance(n, ast.Attribute) and n.attr == "tolerance_scale" for n in ast.walk(tree)):
        return 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {part for alias in node.names for part in alias.name.split(".")}
            names |= set((getattr(node, "module", "") or "").split("."))
            if names & INTEGRATORS:
                return node.lineno
    return 0
