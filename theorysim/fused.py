"""Bytes of a compiled program without the bodies of its fused computations.

XLA's CPU client writes machine code beside the whole program that it was compiled from, and builds
that program again to load it, though nothing looks into what was fused into one kernel. These
bodies are 7 of the 12 MB of a large program in Monte Carlo arithmetic, which is loaded in .6 s
without them and in 1.6 s with them. What is left of each are its inputs, and a result of its shape.

The bytes are protocol buffers; numbers of fields are those of `HloModuleProto` and its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

# Where the program lies: in an executable the compilation, there the module with its settings.
PROGRAM = (1, 1, 1)
COMPUTATIONS = 3
# Of a computation; instructions begin with their name and what they do.
INSTRUCTIONS, COMPUTATION_ID, ROOT, IS_FUSED = 2, 5, 6, 7
# Of an instruction.
NAME, OPERATION, SHAPE, KIND, ID, CALLED = 1, 2, 3, 11, 35, 38
# Kernels of such fusions are built from their bodies when the program is loaded.
BUILT_WHEN_LOADED = b"kCustom"
# An operation that has a result of any shape, from nothing.
ANY = b"custom-call"

VARINT, BYTES = 0, 2
LENGTHS = {1: 8, 5: 4}  # of numbers of fixed length

# The number of a field, its value, and all its bytes.
Field = tuple[int, Any, bytes]


def without_fused_bodies(executable: bytes) -> bytes:
    """An executable of XLA's CPU client that does the same.

    Raises:
        ValueError: for bytes that cannot be one; others, which have no such parts, are given back.
    """
    try:
        length, begin = _varint(executable, 0)
        begin += length  # behind a header
        return executable[:begin] + _changed(executable[begin:], PROGRAM, _without_bodies)
    except (IndexError, KeyError, TypeError) as error:
        raise ValueError("these bytes are no executable of XLA's CPU client") from error


def _without_bodies(program: bytes) -> bytes:
    needed = set(_built_when_loaded(program)) if BUILT_WHEN_LOADED in program else set()

    def changed(computation: bytes) -> bytes:
        fields = {number: value for number, value, _ in _fields(computation)}
        is_left = not fields.get(IS_FUSED) or fields[COMPUTATION_ID] in needed
        return computation if is_left else _without_body(computation, fields[ROOT])

    return _changed(program, (COMPUTATIONS,), changed)


def _built_when_loaded(program: bytes) -> Iterator[int]:
    """The computations of fusions whose kernels are built from them."""
    for computation in _parts(program, COMPUTATIONS):
        for instruction in _parts(computation, INSTRUCTIONS):
            fields = {number: value for number, value, _ in _fields(instruction)}
            if fields.get(KIND) == BUILT_WHEN_LOADED:
                yield from _varints(fields[CALLED])


def _without_body(computation: bytes, root: int) -> bytes:
    """The inputs of a computation, and a result that comes from nowhere."""

    def rest(field: Field) -> bytes:
        number, instruction, whole = field
        if number != INSTRUCTIONS or _operation(instruction) == b"parameter":
            return whole
        fields = list(_fields(instruction))
        if all((number, value) != (ID, root) for number, value, _ in fields):
            return b""
        kept = b"".join(whole for number, _, whole in fields if number in (NAME, SHAPE, ID))
        return _field(INSTRUCTIONS, kept + _field(OPERATION, ANY))

    return b"".join(map(rest, _fields(computation)))


def _parts(message: bytes, which: int) -> Iterator[bytes]:
    return (value for number, value, _ in _fields(message) if number == which)


def _operation(instruction: bytes) -> bytes:
    first_two = {number: value for number, value, _ in islice(_fields(instruction), 2)}
    return first_two[OPERATION]


def _changed(message: bytes, path: Sequence[int], change: Callable[[bytes], bytes]) -> bytes:
    """A message with the parts at the end of a path of fields changed."""
    if not path:
        return change(message)
    return b"".join(
        _field(number, _changed(value, path[1:], change)) if number == path[0] else whole
        for number, value, whole in _fields(message)
    )


def _field(number: int, value: bytes) -> bytes:
    return _as_varint(number << 3 | BYTES) + _as_varint(len(value)) + value


def _fields(message: bytes) -> Iterator[Field]:
    """The fields of a message, one by one."""
    end = 0
    while end < len(message):
        begin = end
        tag, end = _varint(message, begin)
        kind = tag & 7
        if kind == VARINT:
            value, end = _varint(message, end)
        else:
            length, end = _varint(message, end) if kind == BYTES else (LENGTHS[kind], end)
            value, end = message[end : end + length], end + length
        if end > len(message):
            raise IndexError("a field ends behind its message")
        yield tag >> 3, value, message[begin:end]


def _varint(message: bytes, begin: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where it ends."""
    number = shift = 0
    while True:
        byte = message[begin]
        number, shift, begin = number | (byte & 127) << shift, shift + 7, begin + 1
        if byte < 128:
            return number, begin


def _varints(message: bytes) -> Iterator[int]:
    end = 0
    while end < len(message):
        number, end = _varint(message, end)
        yield number


def _as_varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])
