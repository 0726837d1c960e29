"""Relations between formulas of JAX decided by ball and interval arithmetic.

arithmetic/ has the numbers, interpreter/ runs programs in them, `decide` settles a relation at one
instance and `branch_and_bound` over a box.
"""

from theorysim.errors import UsageError

try:
    import flint  # noqa: F401
except ImportError as missing:
    raise UsageError("certificates need python-flint: pip install python-flint") from missing

from theorysim.enclosures.boxes import Coordinate as Coordinate
from theorysim.enclosures.boxes import Problem as Problem
from theorysim.enclosures.branch_and_bound import MAX_BOXES as MAX_BOXES
from theorysim.enclosures.branch_and_bound import BoxOutcome as BoxOutcome
from theorysim.enclosures.branch_and_bound import certify_box as certify_box
from theorysim.enclosures.branch_and_bound import certify_problems as certify_problems
from theorysim.enclosures.decision import MAX_PRECISION as MAX_PRECISION
from theorysim.enclosures.decision import PRECISION as PRECISION
from theorysim.enclosures.decision import Decision as Decision
from theorysim.enclosures.decision import Outcome as Outcome
from theorysim.enclosures.decision import decide as decide
from theorysim.enclosures.relation import Formula as Formula
from theorysim.enclosures.relation import RelationValues as RelationValues
from theorysim.enclosures.relation import trace as trace
