"""Whether a statement that integrates an ODE says so: else nobody measures the error."""

from __future__ import annotations

import ast

import jax

from theorysim.claims.theorem import Theorem
from theorysim.engine.check.step import Subject
from theorysim.engine.measure.errors import compiled, replace_tolerance_scale, simulation_keys
from theorysim.jaxprs.dependence import used_inputs

# Modules that integrate.
INTEGRATORS = {"flow", "diffrax", "odeint"}


def uses_tolerance_scale(theorem: Theorem) -> bool:
    """Whether a simulation or a prediction of a statement depends on `x.tolerance_scale`."""
    sizes = theorem.space.default_sizes()
    x = replace_tolerance_scale(theorem.space.sample(jax.random.key(0), sizes), 1.0)
    key = simulation_keys(jax.random.key(0), 1)[0]
    for reading in theorem.all_readings():
        for function, arguments in ((reading.predict, (x,)), (reading.simulate, (x, key))):
            program = jax.make_jaxpr(compiled(function))(*arguments)
            leaves = jax.tree_util.tree_leaves_with_path(arguments)
            for (path, _), used in zip(leaves, used_inputs(program), strict=True):
                if used and "tolerance_scale" in jax.tree_util.keystr(path):
                    return True
    return False


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


UNDECLARED = (
    "it integrates with x.tolerance_scale, which is no number unless the theorem says so: set "
    "Theorem(integrates=True)"
)
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
