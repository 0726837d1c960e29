"""How many draws are worth their time: decided on counted operations, never on measured time.

Equal seeds give equal reports on every machine, so the number of draws follows from the traced
programs and from the constants below alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from theorysim.engine.measure.batch import measurement_cost
from theorysim.engine.measure.draw import drawing_cost
from theorysim.engine.measure.setup import Setup

# What the draws of a verification may cost, beside seconds of imports and compilation.
SECONDS = 0.15
# Measured: 2.5e9 to 9e9 counted operations a second and core on statements of five papers.
OPERATIONS_PER_SECOND = 3e9
# What storing and judging costs per byte of the measurement; measured: 1 to 30.
JUDGING = 20

# No more draws than this, and no more bytes of instances and measurements held at once.
MOST_DRAWS = 10**6
BYTES_HELD = 1 << 28


def affordable_draws(setup: Setup, measured: Iterable[Setup]) -> int:
    """How many candidates can be drawn, and all of them measured and judged, in SECONDS.

    Args:
        setup: all readings; their candidates are drawn together.
        measured: the readings that are measured together, group by group.
    """
    measured = list(measured)
    if not measured:
        return 0
    drawing = drawing_cost(setup)
    cost, held = drawing.operations, drawing.held
    for group in measured:
        measuring = measurement_cost(group)
        cost += measuring.operations + JUDGING * measuring.held
        held += measuring.held
    affordable = min(SECONDS * OPERATIONS_PER_SECOND / cost, BYTES_HELD / held)
    return min(int(affordable), MOST_DRAWS)
