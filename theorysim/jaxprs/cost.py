"""What a JAX program costs, counted on its operations: the same number on every machine.

A model, not a measurement: one operation is one floating-point addition in a long array. It serves
to decide how much work is worth starting, where a measured time would make results depend on the
machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from weakref import WeakKeyDictionary

from jax.extend.core import Jaxpr, JaxprEqn, Var

from theorysim.jaxprs.structure import CALLS, bodies, shape, size, summed_length

# A loop whose length depends on its values is taken to run this often: the order of an adaptive
# integration; roots and rejection samplers take fewer.
LOOP_STEPS = 1000

# Operations per result, relative to an addition: elementary functions; ciphers and short series;
# series of hundreds of terms, which all entries wait for.
TRANSCENDENTAL = 20
RANDOM = 100
SERIES = 10_000
_TRANSCENDENTAL = """
    exp exp2 expm1 log log1p logistic sin cos tan tanh asin acos atan atan2 sinh cosh asinh acosh
    atanh pow sqrt rsqrt cbrt div rem erf erfc erf_inv
"""
_RANDOM = """
    random_bits random_fold_in random_split random_seed threefry2x32 lgamma digamma polygamma
    bessel_i0e bessel_i1e zeta
"""
_SERIES = "igamma igammac igamma_grad_a random_gamma_grad regularized_incomplete_beta"
_WEIGHTS: dict[str, int] = dict.fromkeys(_TRANSCENDENTAL.split(), TRANSCENDENTAL)
_WEIGHTS |= dict.fromkeys(_RANDOM.split(), RANDOM)
_WEIGHTS |= dict.fromkeys(_SERIES.split(), SERIES)

# Per entry and length of the longest axis, and the call of a library.
DECOMPOSITION = 30
LIBRARY_CALL = 2000
_DECOMPOSITIONS = {
    *("cholesky", "cholesky_update", "eig", "eigh", "geqp3", "geqrf", "hessenberg"),
    *("householder_product", "lu", "ormqr", "qr", "schur", "svd", "triangular_solve"),
    *("tridiagonal", "tridiagonal_solve"),
}
# What a compiled program calls.
CALLBACKS = frozenset({"debug_callback", "ffi_call", "io_callback", "pure_callback"})
LIBRARIES = _DECOMPOSITIONS | CALLBACKS | {"fft"}

# These read far more than they write, or write far less than they return.
_READERS = ("reduce", "arg", "cum", "sort", "top_k")
_WRITERS = ("scatter", "dynamic_update_slice")

# Programs call the same bodies again and again; each is counted once while it lives.
_COUNTED: WeakKeyDictionary[Jaxpr, dict[frozenset[Var], float]] = WeakKeyDictionary()


def operations(jaxpr: Jaxpr, varying: Iterable[Var] | None = None) -> float:
    """How many additions a program costs per input of a batch, its loops run as often as they do.

    What depends on none of the `varying` inputs (all, unless some are named) is free: a batch
    computes it once.
    """
    chosen = frozenset(jaxpr.invars if varying is None else varying)
    counted = _COUNTED.setdefault(jaxpr, {})
    if chosen not in counted:
        counted[chosen] = _count(jaxpr, chosen)
    return counted[chosen]


def _count(jaxpr: Jaxpr, varying: frozenset[Var]) -> float:
    known = set(varying)
    total = 0.0
    for equation in jaxpr.eqns:
        varies = [isinstance(v, Var) and v in known for v in equation.invars]
        if any(varies):
            known.update(equation.outvars)
            total += _of_equation(equation, varies)
    return total


def _of_equation(equation: JaxprEqn, varies: list[bool]) -> float:
    name = equation.primitive.name
    inner = bodies(equation)
    if name in CALLS:
        (body,) = inner
        return operations(body, (v for v, own in zip(body.invars, varies, strict=True) if own))
    if inner and not name.startswith(_READERS + _WRITERS):
        repeats = {"scan": equation.params.get("length"), "while": LOOP_STEPS}
        return repeats.get(name, 1) * sum(map(operations, inner))
    read = max((size(v) for v in equation.invars), default=0)
    written = sum(map(size, equation.outvars))
    if name == "dot_general":
        return 2 * written * summed_length(equation)
    if name == "conv_general_dilated":
        return 2 * written * size(equation.invars[1])
    if name in _DECOMPOSITIONS:
        longest = max(shape(equation.invars[0]), default=1)
        return LIBRARY_CALL + DECOMPOSITION * read * longest
    if name.startswith(_READERS):
        return read * (math.log2(max(read, 2)) if name in ("sort", "top_k") else 1)
    if name.startswith(_WRITERS):
        return sum(map(size, equation.invars[1:]))
    return _WEIGHTS.get(name, 1) * written
