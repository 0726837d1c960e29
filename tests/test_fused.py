"""Programs without what they were fused from run as before, bit by bit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.compiled import jit
from theorysim.executables import OWN_FRAME, compile_anew, from_bytes, serialized, to_bytes
from theorysim.fused import without_fused_bodies
from theorysim.jaxprs.monte_carlo_arithmetic import perturb_rounding

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


@pytest.mark.parametrize("function", [descent, algebra, draws])
@pytest.mark.usefixtures("x64")
def test_the_same_bits(function):
    """Of programs in Monte Carlo arithmetic, in which most is fused."""

    def flat(rows):
        return jax.tree.leaves(perturb_rounding(function)(rows))

    compiled = compile_anew(jit(flat).lower(ROWS))
    whole, slim = serialized(compiled), to_bytes(compiled)
    assert slim is not None
    assert OWN_FRAME < len(slim) < 0.8 * len(whole)
    expected = compiled(ROWS)
    found = from_bytes(slim, 1, len(expected), jax.devices()[0].id)(ROWS)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def number(value):
    """Of up to 14 bits."""
    return bytes([value & 127 | 128, value >> 7] if value > 127 else [value])


def field(which, value):
    """A field of a message: a number, or bytes."""
    if isinstance(value, int):
        return number(which << 3) + number(value)
    return number(which << 3 | 2) + number(len(value)) + value


def message(*fields):
    return b"".join(field(which, value) for which, value in fields)


def instruction(id, operation, *more):
    return message((1, b"i%d" % id), (2, operation), (3, b"shape"), *more, (35, id))


def computation(id, instructions, root, fused):
    parts = [(1, b"c%d" % id), *((2, one) for one in instructions), (5, id), (6, root)]
    return message(*parts, *[(7, 1)] * fused)


def executable(*computations):
    program = message((1, b"m"), *((3, one) for one in computations))
    return b"\x02ab" + message((1, message((1, message((1, program))))), (2, b"settings"))


BODY = [instruction(1, b"parameter"), instruction(2, b"sine"), instruction(3, b"add", (9, 5))]
LEFT = [
    instruction(1, b"parameter"),
    message((1, b"i3"), (3, b"shape"), (35, 3), (2, b"custom-call")),
]


@pytest.mark.parametrize("kind, body", [(b"kLoop", LEFT), (b"kCustom", BODY)])
def test_inputs_and_results_of_what_is_fused_are_left(kind, body):
    """And bodies of which kernels are built when a program is loaded, and what is not fused."""
    fusion = instruction(4, b"fusion", (11, kind))
    fusion = fusion + field(38, bytes([7]))
    rest = computation(8, [*BODY, fusion], 4, fused=False)
    before = executable(computation(7, BODY, 3, fused=True), rest)
    assert without_fused_bodies(before) == executable(computation(7, body, 3, fused=True), rest)


def test_an_input_that_is_the_result_is_left():
    body = [BODY[0]]
    before = executable(computation(7, body, 1, fused=True))
    assert without_fused_bodies(before) == before


@pytest.mark.parametrize("bytes", [b"", b"\x00\x0a\x05ab\x0b", b"\x00\x0a\x80", b"\x00\x0c"])
def test_other_bytes_are_refused_or_given_back(bytes):
    try:
        assert without_fused_bodies(bytes) == bytes
    except ValueError as error:
        assert "no executable" in str(error)
