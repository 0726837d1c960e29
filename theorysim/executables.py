"""Compiled programs of flat arguments as bytes, for another process of the same machine and code.

What is loaded is machine code: bytes must come from a folder that only its user writes to.
"""

from __future__ import annotations

import io
import pickle
import re
import struct
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
from jax.experimental.compilation_cache.compilation_cache import reset_cache
from jax.experimental.serialize_executable import deserialize_and_load, serialize
from jax.stages import Compiled, Lowered

from theorysim.fused import without_fused_bodies

# What JAX raises where a program cannot be written: of functions of Python and of constants that it
# holds. It runs all the same, and is compiled by every process.
NO_FORM = (NotImplementedError, ValueError, AttributeError, TypeError)
# What only this process can call stands in a program that calls back.
CALLS_BACK = re.compile(rb"python\w*_callback")
# Kernels of the CPU whose functions are looked up in SciPy: JAX does so when it lowers a program,
# which a loaded one is not.
LIBRARY = (b"lapack_", b"tridiagonal")

# Bytes from which on pickle writes an array of them behind its own length alone.
OWN_FRAME = 1 << 16

# All threads compile with the same setting.
_ONE_SETTING = threading.Lock()


class Held(NamedTuple):
    """What a program holds while it runs, as JAX calls it; it takes a tenth of loading to tell."""

    temp_size_in_bytes: int
    output_size_in_bytes: int


@dataclass(frozen=True)
class Executable:
    """A compiled program of arrays, the tree of its results, and what it holds, where it says that.

    Called with trees of the arrays that it was compiled for.
    """

    compiled: Compiled
    results: Any
    held: Held | None

    def __call__(self, *arguments: Any) -> Any:
        """The results, computed."""
        return jax.tree.unflatten(self.results, self.compiled(*jax.tree.leaves(arguments)))

    def memory_analysis(self) -> Held | None:
        """What the program holds while it runs, as `theorysim.memory` asks for."""
        return self.held


def held_by(compiled: Compiled) -> Held | None:
    """What a program says that it holds."""
    said = compiled.memory_analysis()
    return Held(said.temp_size_in_bytes, said.output_size_in_bytes) if said else None


def compile_anew(lowered: Lowered) -> Compiled:
    """The program, compiled and not taken from JAX's own cache.

    What is taken from there has lost the machine code that `to_bytes` would write.
    """
    with _ONE_SETTING:
        before = jax.config.jax_enable_compilation_cache  # type: ignore[attr-defined]
        try:
            jax.config.update("jax_enable_compilation_cache", False)
            reset_cache()  # which had asked for the setting once
            return lowered.compile()
        finally:
            jax.config.update("jax_enable_compilation_cache", before)
            reset_cache()


def to_bytes(compiled: Compiled) -> bytes | None:
    """A program from `compile_anew`, of flat arguments and results; None if it has no such form."""
    try:
        payload = serialized(compiled)
        if CALLS_BACK.search(payload):
            return None
        is_for_cpu = {device.platform for device in _devices(compiled)} == {"cpu"}
        return slim(payload) if is_for_cpu else payload
    except (*NO_FORM, pickle.PickleError):
        return None


def serialized(compiled: Compiled) -> bytes:
    """A program as JAX writes it."""
    payload, _, _ = serialize(compiled)
    return payload


def slim(payload: bytes) -> bytes:
    """The same program for a CPU, of which less has to be read where it is large.

    Raises:
        pickle.UnpicklingError: where it has parts that `from_bytes` refuses.
    """
    names = _Names(io.BytesIO(payload))
    names.load()
    if len(names.code) < OWN_FRAME:
        return payload
    try:
        code = without_fused_bodies(names.code)
    except ValueError:  # of another form, it is kept whole
        return payload
    return payload.replace(_written(names.code), _written(code))


def _written(code: bytes) -> bytes:
    return pickle.BINBYTES + struct.pack("<I", len(code)) + code


def device_of(compiled: Compiled) -> int | None:
    """The number of the one device that a program runs on; None of one that runs on several."""
    devices = _devices(compiled)
    return devices.pop().id if len(devices) == 1 else None


def _devices(compiled: Compiled) -> set[Any]:
    shardings = jax.tree.leaves(compiled.output_shardings)
    return {device for sharding in shardings for device in sharding.device_set}


def from_bytes(payload: bytes, arguments: int, results: int, device: int) -> Compiled:
    """The program of one device, of so many arguments and results.

    Raises:
        Exception: whatever the reader says of bytes that are none of `to_bytes`.
    """
    _Names(io.BytesIO(payload)).load()
    called = jax.tree.structure((tuple(range(arguments)), {}))
    where = [one for one in jax.local_devices() if one.id == device]
    given = jax.tree.structure([0] * results)
    return deserialize_and_load(payload, called, given, where[0].client, where)


def calls_library(payload: bytes) -> bool:
    """Whether `theorysim.lapack.find_library` has to be called before the program is run."""
    return any(name in payload for name in LIBRARY)


class _Part:
    """Stands for any part of a program."""

    def __new__(cls, *_: Any, **__: Any) -> _Part:
        """One of whatever it is made with."""
        return super().__new__(cls)

    def __setstate__(self, _: Any) -> None:
        """It has no state."""


class _Names(pickle.Unpickler):
    """Reads bytes as if they were a program, and calls nothing: are they made of its parts?"""

    code = b""
    """machine code, as the client writes it"""

    def persistent_load(self, pid: Sequence[Any]) -> None:
        """Machine code and devices: not looked at."""
        if pid[0] == "exec":
            self.code = pid[1]

    def find_class(self, module: str, name: str) -> type[_Part]:
        """Classes of JAX and NumPy, and what JAX makes shardings with; nothing else."""
        if module.partition(".")[0] in {"jax", "jaxlib", "numpy"} and name.isidentifier():
            found = super().find_class(module, name)
            if isinstance(found, type) or name.startswith("_unpickle_"):
                return _Part
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a program")
