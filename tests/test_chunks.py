"""Programs over rows give the same whatever fits into memory at once."""

import gc
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim import chunks
from theorysim.chunks import Chunked
from theorysim.errors import SizeError
from theorysim.kept import Program
from theorysim.memory import programs_that_fit

ROWS = (np.arange(12.0).reshape(6, 2), np.arange(6))


def program(lengths):
    """Sums and a number of each row, and how often it is traced."""

    def of(rows, scale):
        lengths.append(rows[0].shape[0])
        return {"sum": scale * rows[0].sum(1), "number": rows[1] + 1}

    return Program(of, None)


def limit(monkeypatch, bytes):
    devices = [SimpleNamespace(memory_stats=lambda: {"bytes_limit": bytes})]
    monkeypatch.setattr(jax, "local_devices", lambda: devices)


@pytest.mark.parametrize("most", [1, 4, 6, 100])
def test_all_rows_come_back_in_order(most):
    found = Chunked(program([]), most, "a row")(ROWS, 2.0)
    np.testing.assert_allclose(found["sum"], 2 * ROWS[0].sum(1))
    np.testing.assert_array_equal(found["number"], ROWS[1] + 1)


def test_it_is_compiled_once_for_rows_of_any_number():
    traced = []
    summing = program(traced)
    for count in (6, 3, 5):
        part = tuple(leaf[:count] for leaf in ROWS)
        assert len(Chunked(summing, 4, "a row")(part, 2.0)["sum"]) == count
    assert traced == [4]


def test_a_setting_of_jax_makes_other_programs(monkeypatch):
    """Draws and what is measured with them follow it alike."""

    def drawn(rows):
        return jax.vmap(lambda seed: jax.random.normal(jax.random.key(seed), (3,)))(rows)

    rows, drawing = np.arange(4), Chunked(Program(drawn, None), 4, "a row")
    found = []
    for partitionable in (True, False):
        with jax.threefry_partitionable(partitionable):
            found.append(drawing(rows))
            np.testing.assert_array_equal(found[-1], jax.jit(drawn)(rows))
    assert not np.array_equal(*found)


def test_fewer_rows_at_once_where_memory_is_short(monkeypatch):
    limit(monkeypatch, 2**40)
    chunks._fitted.cache_clear()

    def copied(rows):
        return jnp.sort(jnp.repeat(rows[0][..., None], 1000, axis=-1), axis=-1)[..., 0]

    wide = Program(copied, None)
    lengths = [len(part) for part in Chunked(wide, 6, "a row").parts(ROWS)]
    assert lengths == [6]
    limit(monkeypatch, 2**15)
    chunks._fitted.cache_clear()
    parts = list(Chunked(wide, 6, "a row").parts(ROWS))
    assert len(parts) > 1
    np.testing.assert_array_equal(np.concatenate(parts), ROWS[0])
    limit(monkeypatch, 2**8)
    chunks._fitted.cache_clear()
    with pytest.raises(SizeError, match="a row needs about"):
        Chunked(wide, 6, "a row")(ROWS)


def test_what_is_forgotten_is_let_go():
    def compiled():
        gc.collect()
        return sum(isinstance(one, jax.stages.Compiled) for one in gc.get_objects())

    chunks.forget()
    before = compiled()
    Chunked(program([]), 4, "a row")(ROWS, 2.0)
    assert compiled() == before + 1
    chunks.forget()
    assert compiled() == before


@pytest.mark.parametrize("wide", [True, False])
def test_threads_change_nothing(monkeypatch, wide):
    """A thread has settings of JAX of its own: it must take the caller's precision."""
    seen = set()
    part = chunks.side_by_side

    def watched(*arguments):
        seen.add(arguments[-1])
        return part(*arguments)

    monkeypatch.setattr(chunks, "side_by_side", watched)
    with jax.enable_x64(wide):
        summing = program([])
        rows = (np.random.default_rng(0).normal(size=(50, 3)), np.arange(50))
        alone = Chunked(summing, 4, "a row")(rows, 2.0)
        together = Chunked(summing, 12, "a row", threads=3)(rows, 2.0)
    assert together["sum"].dtype == (np.float64 if wide else np.float32)
    assert seen == {3}
    jax.tree.map(np.testing.assert_array_equal, alone, together)


def test_no_more_threads_than_memory_has_room_for(monkeypatch):
    limit(monkeypatch, 2**12)
    assert [programs_that_fit(needed) for needed in (0, 1, 160, 512, 513)] == [512, 512, 3, 1, 1]
