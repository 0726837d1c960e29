"""What is timed, against which peer, in one run: `python -m benchmarks`, and `benchmarks.gpu`.

A benchmark is a module here with a function `rows(quick)` that yields rows; nothing else lists it.
Importing this prepares the environment, because every module here starts JAX.
"""

from theorysim.environment import prepare

prepare()
