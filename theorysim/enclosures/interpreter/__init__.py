"""An interpreter that runs programs of JAX in an arithmetic of enclosures."""

from theorysim.enclosures.interpreter.arrays import object_array as object_array
from theorysim.enclosures.interpreter.interpreter import IntegerOverflow as IntegerOverflow
from theorysim.enclosures.interpreter.interpreter import Interpreter as Interpreter
from theorysim.enclosures.interpreter.interpreter import UnknownPrimitive as UnknownPrimitive
from theorysim.enclosures.interpreter.rules import RULES as RULES
