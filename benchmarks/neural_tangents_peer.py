"""The models of `architectures.py` by neural-tangents, which needs an older JAX: run it apart.

    python -m venv peer && peer/bin/pip install neural-tangents==0.6.5 'jax<0.5' 'jaxlib<0.5'
    peer/bin/python benchmarks/neural_tangents_peer.py [--quick] [NAME]

prints the best of several seconds for each of its implementations; its structured derivatives took
11 s for a transformer at the sizes of `--quick`, so name one model at a time. The process is
another one than ours, so both are set beside the Jacobian, which this runs, too: compare ratios.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import jax

from benchmarks import architectures

ROUNDS = 3


def seconds(function: Any, *arguments: Any) -> float:
    """The best of several runs, compilation apart."""
    compiled = jax.jit(function).lower(*arguments).compile()
    taken = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        jax.block_until_ready(compiled(*arguments))
        taken.append(time.perf_counter() - begin)
    return min(taken)


def main() -> None:
    """One line for each model and implementation."""
    from jax._src import source_info_util
    from jax.interpreters import ad

    # Its structured derivatives look for these where older JAX had them.
    ad.source_info_util = source_info_util  # pyright: ignore[reportAttributeAccessIssue]
    ad.config = jax.config  # pyright: ignore[reportAttributeAccessIssue]
    import neural_tangents as nt  # pyright: ignore[reportMissingImports]

    ways = nt.NtkImplementation
    quick, words = "--quick" in sys.argv, [word for word in sys.argv[1:] if word[:2] != "--"]
    for name, model, params, inputs in architectures.cases(quick):
        if not all(word in name for word in words):
            continue
        plain = seconds(partial(architectures.from_jacobian, model), params, inputs)
        print(f"{name}: Jacobian {plain:.4g} s", flush=True)
        for way in (ways.JACOBIAN_CONTRACTION, ways.STRUCTURED_DERIVATIVES):

            def batched(params: Any, x: Any, model: Any = model) -> Any:
                return jax.vmap(partial(model, params))(x)[:, None]

            kernel = nt.empirical_ntk_fn(batched, vmap_axes=0, implementation=way)
            try:
                own = seconds(lambda p, x, kernel=kernel: kernel(x, None, p), params, inputs)
                print(f"{name}: {way.name} {own:.4g} s, {plain / own:.3g} times", flush=True)
            except Exception as error:
                print(f"{name}: {way.name} fails: {type(error).__name__}: {error}", flush=True)


if __name__ == "__main__":
    main()
