"""How exact the balanced flow is: against balls of many bits, and against an integrator.

    python -m validation.balanced_flow [--widths 4 16 64] [--taus 10 40] [--quick]

writes validation/balanced_flow.json and prints it as tables.

First table: the product from W_1 = W_2 = exp(-tau) I with independent singular vectors, features
from 3 down to 0.5 in equal ratios, both signs of det A, at times before, at and after transitions
of the first, middle and last modes and at 2.5 times the last half-time; the largest relative error
in the Frobenius norm, in the place where it occurs. Balls of more and more bits bound the truth.

Second table: Dormand-Prince at rtol 1e-12 on the same flow. For det A < 0 one feature is never
learned, but rounding leaves that saddle: the table says when the integrator departs from the exact
flow by 1e-3 of ||A||, and by how much it is wrong before the last saddle is reached.
"""

# ruff: noqa: E402 -- the environment is prepared before JAX is imported

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from theorysim.environment import prepare

prepare()

import jax
import jax.numpy as jnp
import numpy as np

from theorysim.numerics.flow import gradient_flow
from theorysim.systems.balanced_flow import Decomposition, balanced_flow
from theorysim.systems.two_layer_linear import Factors, pretraining_loss, product
from validation.oracles import two_layer_linear as oracle

RECORD = Path(__file__).resolve().parent / "balanced_flow.json"
LARGEST, SMALLEST = 3.0, 0.5
FIRST_BITS = 1024
DEPARTED = 1e-3
INTEGRATOR = {"rtol": 1e-12, "atol": 1e-15}


class Instance(NamedTuple):
    """One start and target, with singular vectors that are orthogonal to any number of bits."""

    width: int
    tau: float
    determinant: int

    @property
    def features(self) -> np.ndarray:
        """Singular values of A."""
        return np.geomspace(LARGEST, SMALLEST, self.width)

    def problem(self, bits: int) -> oracle.Problem:
        """The instance in balls."""
        left = oracle.orthogonal(self.width, 1, 1, bits)
        right = oracle.orthogonal(self.width, 2, self.determinant, bits)
        return oracle.Problem(left, self.features.tolist(), right, self.tau)

    def decomposition(self) -> Decomposition:
        """A in floats."""
        left, values, right, _ = self.problem(FIRST_BITS)
        parts = oracle.to_floats(left), np.array(values), oracle.to_floats(right)
        return Decomposition(*map(jnp.asarray, parts))

    def start(self) -> Factors:
        """exp(-tau) I twice."""
        identity = jnp.exp(-self.tau) * jnp.eye(self.width)
        return Factors(identity, identity)


def transition_times(instance: Instance) -> dict[str, float]:
    """Named times around the half-times of the first, middle and last mode."""
    half = instance.tau / (2 * instance.features)
    times = {"start": 0.0}
    for mode in sorted({0, instance.width // 2, instance.width - 1}):
        for name, share in (("before", 0.8), ("at", 1.0), ("after", 1.2)):
            times[f"{name} transition {mode + 1}"] = share * half[mode]
    return {**times, "long after": 2.5 * half[-1]}


def exact_products(instance: Instance, times: Iterable[float]) -> tuple[np.ndarray, int]:
    """The product by balls, with as many bits as it takes, and that number."""
    bits = FIRST_BITS
    while True:
        try:
            return oracle.products(instance.problem(bits), times, bits), bits
        except ArithmeticError:
            bits *= 2


def accuracy(instance: Instance) -> dict[str, Any]:
    """The largest relative error over all named times, from U, S, V and from the matrix A."""
    times = transition_times(instance)
    exact, bits = exact_products(instance, times.values())
    known = instance.decomposition()
    target = known.left * known.singular_values[None, :] @ known.right.T
    row: dict[str, Any] = {**instance._asdict(), "bits": bits}
    for name, goal in (("from U, S, V", known), ("from A", target)):
        path = balanced_flow(*instance.start(), goal, jnp.asarray([*times.values()]))
        gaps = np.linalg.norm(np.asarray(path.product) - exact, axis=(1, 2))
        errors = gaps / np.linalg.norm(exact, axis=(1, 2))
        row[name] = float(errors.max())
        row[f"worst {name}"] = [*times][int(errors.argmax())]
    return row


def departure(instance: Instance) -> dict[str, Any]:
    """When an integrator leaves the exact flow, and how far it was off before the last saddle."""
    known, start = instance.decomposition(), instance.start()
    target = known.left * known.singular_values[None, :] @ known.right.T
    last = instance.tau / (2 * SMALLEST)
    times = jnp.linspace(0.0, 2.5 * last + 40 / SMALLEST, 1001)
    exact = jax.jit(balanced_flow)(*start, known, times).product

    def loss(factors: Factors) -> jax.Array:
        return pretraining_loss(factors, target)

    begin = time.perf_counter()
    path = product(jax.jit(lambda: gradient_flow(loss, start, times, **INTEGRATOR))())
    gaps = np.asarray(jnp.linalg.norm(path - exact, axis=(1, 2)) / jnp.linalg.norm(target))
    departed = np.flatnonzero(gaps > DEPARTED)
    return {
        **instance._asdict(),
        "last half-time": last,
        "departs at": float(times[departed[0]]) if departed.size else None,
        "error before": float(gaps[times < last].max()),
        "largest error": float(gaps.max()),
        "seconds": time.perf_counter() - begin,
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Columns of equal width."""
    cells = [[*rows[0]], *([_cell(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(c.rjust(w) for c, w in zip(line, widths)) for line in cells)


def _cell(value: Any) -> str:
    if value is None:
        return "never"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--widths", type=int, nargs="+", default=[4, 16, 64])
    parser.add_argument("--taus", type=float, nargs="+", default=[10.0, 40.0])
    parser.add_argument("--integrated", type=int, nargs="+", default=[4, 8])
    parser.add_argument("--quick", action="store_true", help="print only, record nothing")
    options = parser.parse_args()
    signs = (1, -1)
    record = {"exact": [], "integrator": []}
    with jax.enable_x64(True):
        for width in options.widths:
            for tau in options.taus:
                record["exact"] += [accuracy(Instance(width, tau, s)) for s in signs]
                print(table(record["exact"][-2:]), flush=True)
        record["integrator"] = [
            departure(Instance(width, options.taus[0], s))
            for width in options.integrated
            for s in signs
        ]
    print(table(record["integrator"]))
    if not options.quick:
        RECORD.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
