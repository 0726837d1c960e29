"""What tests of the engine share."""

import pytest
from drawn import is_drawn

from theorysim.engine.confirm import many_bits, measured_again, other_roundings


@pytest.fixture(params=[True, False], ids=["costly", "cheap"])
def costly(request, monkeypatch):
    """Whether other roundings are held to be costly to compile, of every program."""
    monkeypatch.setattr(other_roundings, "FEW_OPERATIONS", 0 if request.param else 10**6)
    return request.param


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of a test that is run both ways a default run takes one, by its name."""
    for item in items:
        case = item.callspec.id.split("-") if hasattr(item, "callspec") else []
        (way,) = {"costly", "cheap"} & set(case) or {None}
        if way is not None:
            others = "-".join(part for part in case if part != way)
            if is_drawn(item.originalname + others, 6) != (way == "costly"):
                item.add_marker(pytest.mark.thorough)


@pytest.fixture
def without_bits(monkeypatch):
    """No program is affordable in ball arithmetic: what confirms is Monte Carlo arithmetic."""
    none = many_bits.Effort((212,), 0)
    for effort in ("FIRST", "MORE", "LAST"):
        monkeypatch.setattr(many_bits, effort, none)
    monkeypatch.setattr(measured_again, "WITNESS", none)
