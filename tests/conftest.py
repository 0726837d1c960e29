"""Tests run in the environment that the command prepares."""

from theorysim.environment import collect_rarely, prepare

collect_rarely()
prepare()  # before anything imports JAX

import hypothesis
import jax
import pytest

hypothesis.settings.register_profile(
    "deterministic", derandomize=True, database=None, deadline=None, print_blob=True
)
hypothesis.settings.load_profile("deterministic")


@pytest.fixture
def x64():
    """Double precision for the time of a test."""
    with jax.enable_x64(True):
        yield


@pytest.fixture(autouse=True, scope="module")
def _forget_programs():
    """Drop the compiled programs of a finished module: hundreds of them fill the memory."""
    yield
    jax.clear_caches()
