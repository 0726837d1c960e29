"""The rules of all operations of JAX that an interpreter does not leave to its arithmetic."""

from __future__ import annotations

from collections.abc import Mapping

from theorysim.enclosures.interpreter.control import CONTROL
from theorysim.enclosures.interpreter.elementwise import ELEMENTWISE
from theorysim.enclosures.interpreter.interpreter import Rule
from theorysim.enclosures.interpreter.moves import MOVES
from theorysim.enclosures.interpreter.reductions import REDUCTIONS

RULES: Mapping[str, Rule] = {**MOVES, **REDUCTIONS, **ELEMENTWISE, **CONTROL}
