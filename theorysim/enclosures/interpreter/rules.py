"""The operations of JAX that an interpreter runs: all others are refused."""

from __future__ import annotations

from theorysim.enclosures.interpreter.control import CONTROL
from theorysim.enclosures.interpreter.elementwise import ELEMENTWISE
from theorysim.enclosures.interpreter.linear_algebra import LINEAR_ALGEBRA
from theorysim.enclosures.interpreter.moves import MOVES
from theorysim.enclosures.interpreter.reductions import REDUCTIONS
from theorysim.enclosures.interpreter.rulebook import Rulebook

RULES = Rulebook({**MOVES, **REDUCTIONS, **LINEAR_ALGEBRA, **ELEMENTWISE, **CONTROL})
