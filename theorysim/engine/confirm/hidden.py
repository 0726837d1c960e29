"""Whether double precision hides a violation from the instance that decided that a claim holds.

1 - logistic(x) is 0 from x = 38 on, and below every bound, however wrong. Where the program is
short, ball arithmetic with many more bits must not contradict what holds clearly in double.
"""

from __future__ import annotations

import numpy as np

from theorysim.claims.evidence import Measurement, tabulate
from theorysim.claims.instance import Instance
from theorysim.engine.confirm.confirm import suspect_at
from theorysim.engine.confirm.many_bits import Effort, look_with_many_bits
from theorysim.engine.confirm.suspect import Answer, Case

EFFORT = Effort((212,), 100_000)


def contradiction(
    case: Case, measurement: Measurement, instances: Instance, keys: np.ndarray, row: int
) -> str:
    """How the claim is seen to be violated at a row where it holds in double; else empty.

    Only where it holds beyond its error: sides that are equal in double precision say nothing.
    """
    points = tabulate(measurement)
    with np.errstate(invalid="ignore"):
        clear = points.applies & (case.claim.slack(points.lhs, points.rhs) > points.error)
    if not clear[row].any():
        return ""
    room = np.where(clear, case.claim.relative_room(points), np.inf)
    finding = look_with_many_bits(case, suspect_at(row, points, room, instances, keys), EFFORT)
    return finding.means if finding.answer is Answer.VIOLATED else ""
