"""Adapters of models where the library that they adapt is missing."""

import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from theorysim.numerics.models import from_equinox, from_linen, from_nnx


@pytest.mark.parametrize("adapt", [lambda: from_linen(None, {}), lambda: from_nnx(None)])
def test_without_flax_the_message_says_what_to_install(adapt, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "flax"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "flax", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'theorysim\[flax\]'"):
        adapt()


def test_equinox_needs_no_flax(monkeypatch):
    monkeypatch.setitem(sys.modules, "flax", None)
    module = eqx.nn.Linear(3, 2, key=jax.random.key(0))
    model, params = from_equinox(module)
    assert jnp.array_equal(model(params, jnp.ones(3)), module(jnp.ones(3)))
