"""Whether a statement integrates an ODE with tolerances that the engine can make coarser."""

from __future__ import annotations

import jax

from theorysim.claims.theorem import Theorem
from theorysim.engine.measure.errors import compiled, replace_tolerance_scale, simulation_keys
from theorysim.jaxprs.dependence import used_inputs

UNDECLARED = (
    "it integrates with x.tolerance_scale, which is no number unless the theorem says so: set "
    "Theorem(integrates=True)"
)


def uses_tolerance_scale(theorem: Theorem) -> bool:
    """Whether a simulation or a prediction of a statement depends on `x.tolerance_scale`."""
    sizes = theorem.space.default_sizes()
    x = replace_tolerance_scale(theorem.space.sample(jax.random.key(0), sizes), 1.0)
    key = simulation_keys(jax.random.key(0), 1)[0]
    for reading in theorem.all_readings():
        for function, arguments in ((reading.predict, (x,)), (reading.simulate, (x, key))):
            program = jax.make_jaxpr(compiled(function))(*arguments)
            leaves = jax.tree_util.tree_leaves_with_path(arguments)
            for (path, _), used in zip(leaves, used_inputs(program), strict=True):
                if used and "tolerance_scale" in jax.tree_util.keystr(path):
                    return True
    return False
