"""`jax.jit` for the programs on which verdicts hang, with what jaxlib 0.10.2 gets wrong turned off.

All options are of the CPU's compiler: the others are not given them.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
from jax.stages import Wrapped

# Reductions that XLA hands to its library of kernels (from some hundred rows on) drop NaN: the
# largest of many undefined errors comes out as -inf, the smallest undefined margin as inf. Without
# the library they keep it.
KEEPING_NAN = {"xla_cpu_experimental_ynn_fusion_type": ""}

# Kernels of the newer emitters compute a value anew for each of its uses: a chain of 160 operations
# in Monte Carlo arithmetic, each of whose values is used some ten times, never came to its end. The
# older ones take 2 ms for it, and a third less to compile.
EMITTERS = "xla_cpu_use_fusion_emitters"

# The older emitters write a value anew for each of its uses, too, within what is fused: a program
# in Monte Carlo arithmetic took all memory to compile. `optimization_barrier` is to end a fusion,
# but the CPU's compiler drops it before it fuses, in the first of these passes. The second one
# makes one kernel of a short loop, and knows no barriers there.
KEEPING_BARRIERS = ("cse_barrier_expander", "small-while-loop-hoisting")

# Programs on which verdicts hang are loops of small kernels, or are run in parts side by side, as
# tiles of sweeps are. What this pass cuts into tasks costs more to hand to other threads (seven
# million system calls in a verification of 20 s) than they save: without it verifications by long
# loops take .6 to .9 of their time, on 2 processors. So it is with products of matrices, which are
# cut elsewhere, and with whole kernels: in the order that lets many run side by side, each is
# handed to another thread. In that which needs least memory verifications by long loops take .5 to
# .8 of their time.
CUTTING = ("cpu-parallel-task-assigner",)
ON_ONE_THREAD = {
    "xla_cpu_multi_thread_eigen": False,
    "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
}


def jit(function: Callable, computing_once: bool = True) -> Wrapped:
    """The function, compiled with these options; not to be called inside of another.

    Without `computing_once` by the newer emitters: for programs without Monte Carlo arithmetic,
    whose loops over many numbers take less than half of the time (2000 steps of descent 370 ns a
    number, and 910 by the older ones).
    """
    options = KEEPING_NAN | ON_ONE_THREAD | {EMITTERS: not computing_once}
    options |= {"xla_disable_hlo_passes": ",".join(KEEPING_BARRIERS + CUTTING)}
    return jax.jit(function, compiler_options=options if jax.default_backend() == "cpu" else None)
