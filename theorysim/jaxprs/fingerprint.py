"""A fingerprint of what a function computes: its jaxpr in canonical form, constants included.

The printed jaxpr would not do: it omits closed-over arrays and contains addresses of memory.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core

# Derivative rules of custom functions and labels: they decide nothing about the values.
IGNORED = {
    "name",
    "jvp_jaxpr_fun",
    "fwd_jaxpr_thunk",
    "bwd",
    "out_trees",
    "ctx_mesh",
    "debug_info",
}

# Callbacks of this module raise errors: they hold tracebacks and marks of the process.
ERRORS = "equinox._errors"


def fingerprint(closed: core.ClosedJaxpr) -> str:
    """SHA-256 of a jaxpr.

    Equal for equal computations in every process; different if an operation, a constant (also a
    large closed-over one), a shape or a type differs. Python callbacks count by their code.
    """
    return digest(_Canonical().closed(closed))


def digest(tokens: Iterable[bytes]) -> str:
    """SHA-256 of a sequence of byte strings, each with its length."""
    total = hashlib.sha256()
    for token in tokens:
        total.update(len(token).to_bytes(8, "little"))
        total.update(token)
    return total.hexdigest()


def array_tokens(array: Any) -> list[bytes]:
    """Type, shape and content of an array."""
    if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
        return [str(array.dtype).encode(), *array_tokens(jax.random.key_data(array))]
    content = np.asarray(array)
    return [str(content.dtype).encode(), str(content.shape).encode(), content.tobytes()]


class _Canonical:
    """Byte strings that describe jaxprs and their parameters without names or addresses."""

    def __init__(self):
        self._open: set[int] = set()
        self._known: dict[int, tuple[Any, bytes]] = {}  # kept alive, so that no id is used twice

    def closed(self, closed: Any) -> Iterator[bytes]:
        yield self._jaxpr(closed.jaxpr)
        for constant in closed.consts:
            yield from self._value(constant)

    def _jaxpr(self, jaxpr: Any) -> bytes:
        """One digest per jaxpr: programs share inner ones many times."""
        if id(jaxpr) not in self._known:
            self._known[id(jaxpr)] = jaxpr, digest(self._equations(jaxpr)).encode()
        return self._known[id(jaxpr)][1]

    def _equations(self, jaxpr: Any) -> Iterator[bytes]:
        numbers: dict[Any, int] = {}

        def variable(atom: Any) -> Iterator[bytes]:
            if isinstance(atom, core.Literal):
                yield b"literal"
                yield str(atom.aval).encode()
                yield from self._value(atom.val)
            else:
                number = numbers.setdefault(atom, len(numbers))
                yield f"{number}:{atom.aval}".encode()

        for atom in (*jaxpr.constvars, *jaxpr.invars):
            yield from variable(atom)
        for equation in jaxpr.eqns:
            yield equation.primitive.name.encode()
            for name in sorted(set(equation.params) - IGNORED):
                yield name.encode()
                yield from self._value(equation.params[name])
            for atom in (*equation.invars, *equation.outvars):
                yield from variable(atom)
        yield b"return"
        for atom in jaxpr.outvars:
            yield from variable(atom)

    def _value(self, value: Any) -> Iterator[bytes]:
        yield type(value).__name__.encode()
        if isinstance(value, core.ClosedJaxpr):
            yield from self.closed(value)
        elif isinstance(value, core.Jaxpr):
            yield self._jaxpr(value)
        elif isinstance(value, np.ndarray | np.generic | jax.Array):
            yield from array_tokens(value)
        elif id(value) in self._open:
            yield b"itself"
        else:
            self._open.add(id(value))
            yield from self._structure(value)
            self._open.discard(id(value))

    def _structure(self, value: Any) -> Iterator[bytes]:
        parts = _parts(value)
        if parts is None:
            yield re.sub(r" at 0x[0-9a-f]+", "", repr(value)).encode()
            return
        yield str(len(parts)).encode()
        for part in parts:
            yield from self._value(part)


def _parts(value: Any) -> list | None:
    """What an object consists of; None for one that is its own description."""
    if isinstance(value, types.FunctionType):
        if value.__module__ == ERRORS:
            return [value.__code__]
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return [value.__code__, value.__defaults__, value.__kwdefaults__, *cells]
    if isinstance(value, types.CodeType):
        return [value.co_code, value.co_consts, value.co_names]
    if isinstance(value, types.MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, Mapping):
        return [part for item in sorted(value.items(), key=lambda i: str(i[0])) for part in item]
    if isinstance(value, tuple | list):
        return list(value)
    if isinstance(value, frozenset | set):
        return sorted(value, key=repr)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return None
