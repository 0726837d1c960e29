"""Programs over rows give the same whatever fits into memory at once."""

import gc
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim import chunks
from theorysim.chunks import Chunked
from theorysim.compiled import jit
from theorysim.errors import SizeError

ROWS = (np.arange(12.0).reshape(6, 2), np.arange(6))


def program(lengths):
    """Sums and a number of each row, and how often it is traced."""

    def of(rows, scale):
        lengths.append(rows[0].shape[0])
        return {"sum": scale * rows[0].sum(1), "number": rows[1] + 1}

    return jit(of)


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


def test_fewer_rows_at_once_where_memory_is_short(monkeypatch):
    limit(monkeypatch, 2**40)
    chunks._fitted.cache_clear()

    def copied(rows):
        return jnp.sort(jnp.repeat(rows[0][..., None], 1000, axis=-1), axis=-1)[..., 0]

    wide = jit(copied)
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
