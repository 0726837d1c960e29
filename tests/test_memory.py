"""How much runs at once: by what the device has, else by what the machine has."""

from types import SimpleNamespace

import jax
import pytest

from theorysim.errors import SizeError
from theorysim.memory import (
    CHUNK_SHARE,
    INTERMEDIATE_COPIES,
    check_host,
    chunk_length,
    device_bytes,
    machine_bytes,
    most_that_fit,
    program_bytes,
)


def devices(*limits):
    """Devices that report these limits; None for one that reports nothing."""
    stats = [None if limit is None else {"bytes_limit": limit} for limit in limits]
    return lambda: [SimpleNamespace(memory_stats=lambda s=s: s) for s in stats]


def test_chunks_are_fitted_to_the_smallest_device(monkeypatch):
    monkeypatch.setattr(jax, "local_devices", devices(1 << 30, 1 << 24))
    assert device_bytes() == 1 << 24
    assert chunk_length(1000, 10**9, "x") == int(2**24 * CHUNK_SHARE) // (
        1000 * INTERMEDIATE_COPIES
    )
    with pytest.raises(SizeError, match=r"the device has 0.0156 GiB"):
        chunk_length(1 << 23, 1, "x")


def test_a_device_that_says_nothing_has_the_memory_of_the_machine(monkeypatch):
    monkeypatch.setattr(jax, "local_devices", devices(None))
    assert device_bytes() == machine_bytes()


def test_what_the_machine_cannot_hold_is_refused_with_a_remedy():
    check_host(machine_bytes(), "it", "take less")
    with pytest.raises(SizeError, match=r"it would take .* GiB of memory, .*; take less"):
        check_host(machine_bytes() + 1, "it", "take less")


@pytest.mark.parametrize(("each", "fixed", "found"), [(1, 0, 4), (1, 1, 3), (5, 0, 1), (12, 0, 1)])
def test_programs_are_as_long_as_memory_allows(monkeypatch, each, fixed, found):
    monkeypatch.setattr(jax, "local_devices", devices(32))  # of which several take four
    tried = []

    def compile(length):
        tried.append(length)
        taken = SimpleNamespace(temp_size_in_bytes=each * length, output_size_in_bytes=fixed)
        return SimpleNamespace(memory_analysis=lambda: taken)

    compiled, length = most_that_fit(compile, 12, "x")
    assert program_bytes(compiled) == each * length + fixed <= (4 if length > 1 else 24)
    assert length == found == tried[-1] and len(tried) <= 3


def test_what_does_not_fit_alone_is_refused_by_its_size(monkeypatch):
    monkeypatch.setattr(jax, "local_devices", devices(2**30))
    taken = SimpleNamespace(temp_size_in_bytes=2**31, output_size_in_bytes=0)
    program = SimpleNamespace(memory_analysis=lambda: taken)
    with pytest.raises(SizeError, match=r"a run needs about 2 GiB, but may take 0.75 GiB"):
        most_that_fit(lambda length: program, 4, "a run")
