"""What `import theorysim` offers: for type checkers, at run time and in `dir`, the same names."""

import ast
import sys
from pathlib import Path
from types import ModuleType

import pytest

import theorysim


def names_for_type_checkers() -> dict[str, str]:
    """The public names with the modules that they are imported from under TYPE_CHECKING."""
    tree = ast.parse(Path(theorysim.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    found = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            assert alias.asname == alias.name  # explicitly re-exported
            found[alias.name] = node.module
    return found


def test_type_checkers_and_programs_see_the_same_names():
    assert names_for_type_checkers() == theorysim._HOMES
    assert sorted(theorysim.__all__) == sorted(theorysim._HOMES)


@pytest.mark.parametrize("name", theorysim.__all__)
def test_a_public_name_is_there(name):
    assert callable(getattr(theorysim, name))
    assert getattr(theorysim, name) is getattr(sys.modules[theorysim._HOMES[name]], name)


def test_dir_shows_the_public_names_and_no_others():
    assert [name for name in dir(theorysim) if not name.startswith("_")] == theorysim.__all__
    assert {"__version__", "__doc__"} <= set(dir(theorysim))


def test_other_names_are_not_there():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = theorysim.nothing


def test_the_package_of_theorems_is_a_package():
    import theorysim.theorems as package

    assert type(package) is ModuleType
    assert not callable(package)
