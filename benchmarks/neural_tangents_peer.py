"""The models of `architectures.py` by neural-tangents, which needs an older JAX: run it apart.

    python -m venv peer && peer/bin/pip install neural-tangents==0.6.5 'jax<0.5' 'jaxlib<0.5'
    taskset -c 1 peer/bin/python benchmarks/neural_tangents_peer.py [--inputs N] [--way WAY] [NAME]
    taskset -c 1 python benchmarks/neural_tangents_peer.py --ours [--inputs N] [NAME]

print, for each of its implementations and for ours, the best CPU seconds of several kernels and how
many times as fast as the Jacobian in the same process that is. On one core these are the seconds
that it takes where nothing else runs. Models are those whose names contain all words; its
structured derivatives run out of memory for the transformers.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import jax

from benchmarks import architectures

ROUNDS = 3


def seconds(function: Any, *arguments: Any) -> tuple[float, float]:
    """The best CPU seconds of several runs, and those of the compilation."""
    begin = time.process_time()
    compiled = jax.jit(function).lower(*arguments).compile()
    compilation = time.process_time() - begin
    taken = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        jax.block_until_ready(compiled(*arguments))
        taken.append(time.process_time() - begin)
    return min(taken), compilation


def ours(model: Callable) -> Iterator[tuple[str, Callable]]:
    """The kernel of this package."""
    from theorysim import empirical_ntk

    yield "theorysim", partial(empirical_ntk, model)


def theirs(model: Callable) -> Iterator[tuple[str, Callable]]:
    """The kernel by each implementation that neural-tangents has for such models."""
    from jax._src import source_info_util
    from jax.interpreters import ad

    # Its structured derivatives look for these where older JAX had them.
    ad.source_info_util = source_info_util  # pyright: ignore[reportAttributeAccessIssue]
    ad.config = jax.config  # pyright: ignore[reportAttributeAccessIssue]
    import neural_tangents as nt  # pyright: ignore[reportMissingImports]

    def batched(params: Any, x: Any) -> Any:
        return jax.vmap(partial(model, params))(x)[:, None]

    ways = nt.NtkImplementation
    for way in (ways.JACOBIAN_CONTRACTION, ways.NTK_VECTOR_PRODUCTS, ways.STRUCTURED_DERIVATIVES):
        kernel = nt.empirical_ntk_fn(batched, vmap_axes=0, implementation=way)
        yield way.name, lambda params, x, kernel=kernel: kernel(x, None, params)


def main() -> None:
    """One line for each model and kernel."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--ours", action="store_true", help="this package's kernel, not theirs")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--inputs", type=int, help="so many inputs, at most")
    parser.add_argument("--way", default="", help="only kernels whose names contain this")
    parser.add_argument("words", nargs="*", help="only models whose names contain all of these")
    asked = parser.parse_args()
    for name, model, params, drawn in architectures.cases(asked.quick):
        if not all(word in name.split() for word in asked.words):
            continue
        inputs = drawn[: asked.inputs]
        plain, _ = seconds(partial(architectures.from_jacobian, model), params, inputs)
        print(f"{name}, {len(inputs)} inputs: Jacobian {plain:.4g} s", flush=True)
        for label, kernel in (ours if asked.ours else theirs)(model):
            if asked.way not in label:
                continue
            try:
                own, compilation = seconds(kernel, params, inputs)
            except Exception as error:
                print(f"{name}: {label} fails: {type(error).__name__}: {error}", flush=True)
                continue
            ratio = f"{plain / own:.3g} times, compiled in {compilation:.3g} s"
            print(f"{name}: {label} {own:.4g} s, {ratio}", flush=True)


if __name__ == "__main__":
    main()
