"""Imports run one way, the slow ones wait until they are used, and importing changes nothing."""

import ast
import graphlib
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from drawn import thorough

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "theorysim").rglob("*.py"))

# What each part of theorysim may import of theorysim; the parts not named here sit on top.
ALLOWED = {
    "citation": set(),
    "counts": {"errors"},
    "environment": set(),
    "errors": set(),
    "files": set(),
    "store": {"environment", "files"},
    "loaded": set(),
    "fused": set(),
    "lapack": set(),
    "executables": {"fused"},
    "kept": {"compiled", "executables", "lapack", "loaded", "store", "versions"},
    "versions": set(),
    "tabular": set(),
    "compiled": set(),
    "precision": set(),
    "progress": set(),
    "memory": {"errors"},
    "threads": {"environment"},
    "chunks": {"kept", "memory", "threads"},
    "jaxprs": {"jaxprs", "errors"},
    "enclosures": {"enclosures", "jaxprs", "progress", "errors"},
    "sweeps": {
        *("sweeps", "jaxprs", "compiled", "counts", "memory", "progress", "threads", "versions"),
        "errors",
    },
    "data": {"data", "errors"},
    "numerics": {"numerics"},
    "systems": {"systems", "numerics"},
    "advise": {"advise", "systems", "numerics", "data", "memory", "progress", "tabular", "errors"},
    "claims": {"claims", "numerics", "citation", "errors"},
    "theorems": {"theorems", "systems", "numerics", "claims", "data"},
    "engine": {
        *("engine", "claims", "data", "enclosures", "sweeps", "jaxprs", "numerics"),
        *(
            "chunks",
            "citation",
            "compiled",
            "counts",
            "environment",  # a worker of a cluster prepares its process
            "files",
            "kept",
            "loaded",
            "memory",
            "precision",
            "progress",
            "store",
            "threads",
            "versions",
            "tabular",
            "errors",
        ),
    },
    "authoring": {"authoring", "files", "errors"},
    "scenes": {"scenes", "systems", "numerics", "theorems", "claims", "engine"},
    "report": {"report", "scenes", "engine", "sweeps", "claims", "advise", "errors"},
    "explore": {"explore", "report", "scenes", "engine", "claims", "errors"},
    "site": {
        *("site", "report", "scenes", "engine", "claims"),
        *("citation", "environment", "errors"),
    },
}
TOP = {"__init__", "__main__", "cli", "pytest_plugin", "testing"}
OUTSIDE = {"validation", "tests", "benchmarks", "notebooks"}
# Who may import these when it is itself imported, and not only when it is used.
EAGER = {
    "typer": {"cli"},
    "rich": {"report"},
    "matplotlib": {"report"},
    "mkdocs": set(),
    "distributed": set(),
    "hypothesis": {"testing", "pytest_plugin"},
    "pytest": {"testing", "pytest_plugin"},
}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def part_of(module: str) -> str:
    return [*module.split("."), "__init__"][1]


def imported(node: ast.AST, package: str) -> list[str]:
    """Full names of what an import statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*(above if node.level else []), *([node.module] if node.module else [])])
        return [f"{base}.{alias.name}" for alias in node.names]
    return []


def every_import(tree: ast.AST, package: str) -> list[str]:
    """What a module imports anywhere, also in functions and for type checkers only."""
    return [name for node in ast.walk(tree) for name in imported(node, package)]


def eager_nodes(tree: ast.AST):
    """What runs when the module is imported: all but functions and blocks for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node = ast.Module(node.orelse, [])
        yield node
        yield from eager_nodes(node)


def faults(module: str, source: str, is_package: bool = False) -> list[str]:
    """The imports of a module of theorysim that break the rules."""
    tree = ast.parse(source)
    package = module if is_package else module.rpartition(".")[0]
    part = part_of(module)
    found = []
    for name in every_import(tree, package):
        root = name.split(".")[0]
        if root in OUTSIDE:
            found.append(f"{module} imports {name}")
        if root != "theorysim" or part in TOP:
            continue
        if part_of(name) not in ALLOWED[part]:
            found.append(f"{module} imports {name}")
        paper = module.split(".")[2:3]
        if part == part_of(name) == "theorems" and name.split(".")[2:3] != paper:
            found.append(f"{module} imports {name}, of another paper")
    for name in (name for node in eager_nodes(tree) for name in imported(node, package)):
        root = name.split(".")[0]
        if part not in EAGER.get(root, {part}):
            found.append(f"{module} imports {name} before it is used")
    return found


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_imports_run_one_way(path):
    assert part_of(module_name(path)) in {*ALLOWED, *TOP}
    assert faults(module_name(path), path.read_text(), path.name == "__init__.py") == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("theorysim.numerics.flow", "from theorysim.systems import deep_linear"),
        ("theorysim.numerics.flow", "from ..systems import deep_linear"),
        ("theorysim.systems.deep_linear", "import theorysim.claims.space"),
        ("theorysim.claims.space", "def f():\n    from theorysim.systems import deep_linear"),
        ("theorysim.theorems.one.lemma_1", "from theorysim.engine.registry.index import find"),
        ("theorysim.theorems.one.lemma_1", "from theorysim.theorems.two.lemma_1 import theorem"),
        ("theorysim.theorems.one.lemma_1", "from ..two import lemma_1"),
        ("theorysim.enclosures.boxes", "from theorysim.claims.space import Space"),
        ("theorysim.sweeps.sweep", "def f():\n    from theorysim.engine import registry"),
        ("theorysim.engine.verify.verify", "from theorysim.theorems.one import lemma_1"),
        ("theorysim.engine.verify.verify", "from theorysim import cli"),
        ("theorysim.cli", "import validation.oracles"),
        ("theorysim.cli", "try:\n    import rich.console\nexcept ImportError:\n    pass"),
        ("theorysim.engine.verify.verify", "class A:\n    from hypothesis import given"),
    ],
)
def test_planted_imports_are_caught(module, source):
    assert faults(module, source)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("theorysim.theorems.one.lemma_1", "from theorysim.theorems.one import _losses"),
        ("theorysim.theorems.one.lemma_1", "from ._losses import loss"),
        ("theorysim.cli", "def f():\n    import rich.console"),
        ("theorysim.cli", "if TYPE_CHECKING:\n    import rich.console"),
        ("theorysim.report.plot", "import matplotlib"),
    ],
)
def test_honest_imports_pass(module, source):
    assert faults(module, source) == []


def circle(sources: Mapping[str, str], packages: set[str]) -> list[str]:
    """Modules that import each other in a circle, the first one again at its end; else empty."""
    arrows = {}
    for module, source in sources.items():
        package = module if module in packages else module.rpartition(".")[0]
        names = every_import(ast.parse(source), package)
        modules = {name if name in sources else name.rpartition(".")[0] for name in names}
        arrows[module] = modules & sources.keys()
    try:
        graphlib.TopologicalSorter(arrows).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def test_no_modules_import_each_other_in_a_circle():
    sources = {module_name(path): path.read_text() for path in FILES}
    packages = {module_name(path) for path in FILES if path.name == "__init__.py"}
    assert circle(sources, packages) == []


@pytest.mark.parametrize(
    "back",
    [
        "from theorysim.arrays import filled",
        "from . import arrays",
        "def f():\n    import theorysim.arrays",
        "if TYPE_CHECKING:\n    from theorysim.arrays import filled",
    ],
)
def test_a_planted_circle_is_caught(back):
    sources = {
        "theorysim.arrays": "from theorysim.rules import RULES",
        "theorysim.rules": "from .machine import Machine",
        "theorysim.machine": back,
    }
    modules = circle(sources, {"theorysim"})
    assert modules[0] == modules[-1] and set(modules) == set(sources)
    assert circle({**sources, "theorysim.machine": "import jax"}, {"theorysim"}) == []


def test_a_package_and_its_module_are_a_circle_if_each_imports_the_other():
    sources = {
        "theorysim.sweeps": "from .run import fill",
        "theorysim.sweeps.run": "from theorysim.sweeps import sweep",
    }
    assert set(circle(sources, {"theorysim.sweeps"})) == set(sources)


SCRIPTS = sorted(path for folder in OUTSIDE for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_scripts_import_modules_that_are_there(path):
    """Benchmarks and campaigns are run by hand: no other test sees that a module was moved."""
    modules = {module_name(path) for path in FILES}
    names = every_import(ast.parse(path.read_text("utf-8")), "")
    known = [name for name in names if name.startswith("theorysim.")]
    assert [n for n in known if not {n, n.rpartition(".")[0]} & modules] == []


def run(program: str) -> str:
    """What a fresh process prints."""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


MODULES = [module_name(path) for path in FILES if path.name != "__main__.py"]
LOADED = "print(sorted({'jax', 'numpy', 'scipy', 'rich', 'matplotlib'} & set(sys.modules)))"
COMMAND = """
import sys
from theorysim.cli import main
sys.argv = ["theorysim", *{arguments}]
try:
    main()
except SystemExit:
    pass
"""


def test_importing_theorysim_loads_nothing_heavy():
    assert run(f"import sys, theorysim; {LOADED}") == "[]"


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        thorough(["list", "--json"]),
        thorough(["list", "--coverage"]),
        thorough(["--help"]),
        ["verify", "nosuch"],
        thorough(["show", "nosuch"]),
    ],
    ids=" ".join,
)
def test_what_needs_no_theorem_loads_nothing_heavy(arguments):
    assert run(COMMAND.format(arguments=arguments) + LOADED) == "[]"


# The modules of one paper's statements, beside all that are of none.
SOME = [name for name in MODULES if not name.startswith("theorysim.theorems.")]
SOME += [name for name in MODULES if name.startswith("theorysim.theorems.transferability.")]


@pytest.mark.parametrize("names", [SOME, thorough(MODULES)], ids=["one paper", "all"])
def test_importing_every_module_changes_no_global_state(names):
    program = """
import importlib, os, sys
import jax
from jax._src import xla_bridge
before = dict(jax.config.values), dict(os.environ)
for name in {names}:
    importlib.import_module(name)
assert before == (dict(jax.config.values), dict(os.environ))
print(xla_bridge.backends_are_initialized())
"""
    assert run(program.format(names=names)) == "False"  # nothing was computed either
