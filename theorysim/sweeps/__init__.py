"""Pure functions evaluated over a grid, tile by tile, into memory or a store."""

from theorysim.sweeps.outputs import DIVERGED as DIVERGED
from theorysim.sweeps.processes import ProcessLost as ProcessLost
from theorysim.sweeps.store import StoreError as StoreError
from theorysim.sweeps.store import open_store as open_store
from theorysim.sweeps.sweep import SweepOptions as SweepOptions
from theorysim.sweeps.sweep import sweep as sweep
