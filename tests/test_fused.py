"""Programs without what they were fused from run as before, bit by bit."""

import io
import os
import pickle
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough
from programs import files

from theorysim.compiled import jit
from theorysim.environment import PROGRAMS
from theorysim.executables import OWN_FRAME, compile_anew, from_bytes, serialized, slim, to_bytes
from theorysim.fused import without_fused_bodies
from theorysim.jaxprs.monte_carlo_arithmetic import perturb_rounding
from theorysim.kept import Program

ROWS = np.random.default_rng(0).normal(size=(5, 6, 6))


def descent(rows):
    """A loop of known length about one that is not, sums, comparisons and several results."""

    def step(n, state):
        x, best = state
        x = x - 0.1 * jnp.tanh(x @ x.T) @ x / (1 + jnp.sum(x**2))
        x = jax.lax.while_loop(lambda y: jnp.max(jnp.abs(y)) > 1, lambda y: y / 2, x)
        return x, jnp.minimum(best, jnp.sum(jnp.sin(x)) + n)

    return jax.vmap(lambda x: jax.lax.fori_loop(0, 20, step, (x, jnp.inf)))(rows)


def algebra(rows):
    """Decompositions of a library, sorting, gathering, scattering and branches."""

    def one(x):
        values, vectors = jnp.linalg.eigh(x + x.T)
        order = jnp.argsort(jnp.cos(values))
        placed = jnp.zeros(9).at[order].add(values[order] ** 2, mode="drop")
        chosen = jax.lax.cond(values[0] > -2, jnp.sin, jnp.cos, vectors)
        return placed, jnp.cumsum(chosen, axis=0), values > 0, jnp.floor(values).astype(int)

    return jax.vmap(one)(rows)


def draws(rows):
    keys = jax.random.split(jax.random.key(3), 50)
    normal = jax.vmap(lambda key: jax.random.normal(key, (6,)))(keys)
    return jax.nn.softmax(jnp.einsum("kj,rij->rki", normal, rows)), jnp.max(normal, axis=0)


def moved(function):
    """The compiled program of its leaves in Monte Carlo arithmetic, in which most is fused."""

    def flat(rows):
        return jax.tree.leaves(perturb_rounding(function)(rows))

    return compile_anew(jit(flat).lower(ROWS))


@pytest.mark.parametrize("function", [descent, algebra, thorough(draws)])
@pytest.mark.usefixtures("x64")
def test_the_same_bits(function):
    compiled = moved(function)
    whole, kept = serialized(compiled), to_bytes(compiled)
    assert kept is not None
    assert OWN_FRAME < len(kept) < 0.8 * len(whole)
    expected = compiled(ROWS)
    found = from_bytes(kept, 1, len(expected), jax.devices()[0].id)(ROWS)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def number(value):
    """Seven bits a byte, the lowest first."""
    return bytes([value & 127 | 128]) + number(value >> 7) if value > 127 else bytes([value])


def field(which, value):
    """A field of a message: a number, or bytes."""
    if isinstance(value, int):
        return number(which << 3) + number(value)
    return number(which << 3 | 2) + number(len(value)) + value


def message(*fields):
    return b"".join(field(which, value) for which, value in fields)


def instruction(id, operation, *more):
    return message((1, b"i%d" % id), (2, operation), (3, b"shape"), *more, (35, id))


# Numbers of eight and of four bytes, which this package does not read.
FIXED = bytes([13 << 3 | 1]) + b"\x82" * 8 + bytes([14 << 3 | 5]) + b"\x82" * 4


def computation(id, instructions, root, fused):
    parts = [(1, b"c%d" % id), *((2, one) for one in instructions), (5, id), (6, root)]
    return message(*parts, *[(7, 1)] * fused) + FIXED


def executable(*computations, settings=b"settings"):
    program = message((1, b"m"), *((3, one) for one in computations))
    return b"\x02ab" + message((1, message((1, message((1, program))))), (2, settings))


BODY = [instruction(1, b"parameter"), instruction(2, b"sine"), instruction(3, b"add", (9, 5))]
LEFT = [
    instruction(1, b"parameter"),
    message((1, b"i3"), (3, b"shape"), (35, 3), (2, b"custom-call")),
]


@pytest.mark.parametrize("kind, body", [(b"kLoop", LEFT), (b"kCustom", BODY)])
def test_inputs_and_results_of_what_is_fused_are_left(kind, body):
    """And bodies of which kernels are built when a program is loaded, and what is not fused."""
    fusion = instruction(4, b"fusion", (11, kind))
    fusion = fusion + field(38, bytes([9, 7]))
    rest = computation(8, [*BODY, fusion], 4, fused=False)
    before = executable(computation(7, BODY, 3, fused=True), rest)
    assert without_fused_bodies(before) == executable(computation(7, body, 3, fused=True), rest)


def test_an_input_that_is_the_result_is_left():
    body = [BODY[0]]
    before = executable(computation(7, body, 1, fused=True))
    assert without_fused_bodies(before) == before


NAMELESS = executable(computation(7, [message((1, b"i1"))], 1, fused=True))


@pytest.mark.parametrize(
    "bytes", [b"", b"\x00\x0a\x05ab\x0b", b"\x00\x0a\x80", b"\x00\x0c", NAMELESS]
)
def test_other_bytes_are_refused_or_given_back(bytes):
    try:
        assert without_fused_bodies(bytes) == bytes != NAMELESS
    except ValueError as error:
        assert "no executable" in str(error)


class Code:
    """Stands for an executable, which JAX writes as bytes with a mark."""

    def __init__(self, code):
        self.code = code


class Writer(pickle.Pickler):
    def persistent_id(self, obj):
        return ("exec", obj.code) if isinstance(obj, Code) else None


class Reader(pickle.Unpickler):
    def persistent_load(self, pid):
        return pid


@pytest.mark.parametrize("size", [1000, OWN_FRAME // 2, OWN_FRAME - 1, OWN_FRAME, OWN_FRAME + 1])
@pytest.mark.parametrize("is_known", [True, False])
def test_code_is_changed_in_its_place_where_it_is_large(size, is_known):
    """Of small code pickle counts the bytes elsewhere, too; what has another form stays."""
    fused = computation(7, BODY, 3, fused=True)
    rest = len(executable(fused, settings=b"x" * 300)) - 300
    code = executable(fused, settings=b"x" * (size - rest)) if is_known else b"\xff" * size
    file = io.BytesIO()
    Writer(file).dump(["before" * 100, Code(code), "after" * 100])
    found = Reader(io.BytesIO(slim(file.getvalue()))).load()
    expected = without_fused_bodies(code) if is_known and len(code) >= OWN_FRAME else code
    assert found == ["before" * 100, ("exec", expected), "after" * 100]
    assert (expected != code) == (is_known and len(code) >= OWN_FRAME)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "function, argument",
    [
        (lambda x: x + 1, jnp.ones(3, jnp.bfloat16)),
        (lambda key: jax.random.normal(key, (3,)), jax.random.key(0)),
    ],
)
def test_what_cannot_be_read_back_runs_and_is_not_kept(function, argument, tmp_path, monkeypatch):
    monkeypatch.setenv(PROGRAMS, str(tmp_path))
    found = Program(function, "text")(argument)
    np.testing.assert_array_equal(found, function(argument))
    assert not files(tmp_path)


READING = """
import sys
from pathlib import Path
from theorysim.environment import prepare
prepare()
import jax, numpy as np
jax.config.update("jax_enable_x64", True)
from theorysim.executables import calls_library, from_bytes
from theorysim.lapack import find_library
payload = Path("payload").read_bytes()
if calls_library(payload):
    find_library()
found = from_bytes(payload, 1, int(sys.argv[1]), jax.devices()[0].id)(np.load("rows.npy"))
np.savez("found.npz", *found)
"""


@pytest.mark.thorough
@pytest.mark.usefixtures("x64")
def test_another_process_computes_the_same_bits(tmp_path):
    """Which has nothing but the bytes; what calls a library needs most of its surroundings."""
    compiled = moved(algebra)
    kept, expected = to_bytes(compiled), compiled(ROWS)
    assert kept is not None
    (tmp_path / "payload").write_bytes(kept)
    np.save(tmp_path / "rows.npy", ROWS)
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", READING, str(len(expected))]
    subprocess.run(command, cwd=tmp_path, check=True, env=os.environ | {"PYTHONPATH": paths})
    found = np.load(tmp_path / "found.npz")
    for name, value in zip(found.files, expected, strict=True):
        np.testing.assert_array_equal(found[name], value)
