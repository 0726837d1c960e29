"""What tests of the engine share."""

import pytest

from theorysim.engine.confirm import many_bits, measured_again, other_roundings


@pytest.fixture(params=[True, False], ids=["costly", "cheap"])
def costly(request, monkeypatch):
    """Whether other roundings are held to be costly to compile, of every program."""
    monkeypatch.setattr(other_roundings, "FEW_OPERATIONS", 0 if request.param else 10**6)
    return request.param


@pytest.fixture
def without_bits(monkeypatch):
    """No program is affordable in ball arithmetic: what confirms is Monte Carlo arithmetic."""
    none = many_bits.Effort((212,), 0)
    for effort in ("FIRST", "MORE", "LAST"):
        monkeypatch.setattr(many_bits, effort, none)
    monkeypatch.setattr(measured_again, "WITNESS", none)
