"""The command for accelerators: without one it says so, and with --cpu all of it runs."""

import functools
import json

import jax
import pytest

from benchmarks import gpu, gpu_kernels, history
from benchmarks.roofline import Roofline, accelerator

KERNELS = {
    *("verify", "falsify", "sweep in memory", "descent", "Gram of an infinite width"),
    *("empirical tangent kernel", "reduced chain"),
}
ALWAYS_DOUBLE = {"verify", "falsify"}
without_one = pytest.mark.skipif(bool(accelerator()), reason="there is an accelerator")


def kernels(text: str) -> set[tuple[str, str]]:
    """Kernel and dtype of every row of the printed table that compares devices."""
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in text.splitlines()]
    return {(row[0], row[2]) for row in cells if len(row) == 7 and row[2].startswith("float")}


def expected() -> set[tuple[str, str]]:
    both = {(name, dtype) for name in KERNELS for dtype in ("float32", "float64")}
    return {pair for pair in both if pair[0] not in ALWAYS_DOUBLE or pair[1] == "float64"}


@without_one
def test_without_an_accelerator_it_says_so_in_one_line(capsys):
    assert gpu.main([]) == 2
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 1 and "--cpu" in said.err


@without_one
@pytest.mark.slow
def test_on_the_cpu_the_table_has_all_kernels(capsys, monkeypatch):
    """What is measured here stands for both devices; the thorough test starts the other process."""
    once = functools.cache(gpu.measured)
    monkeypatch.setattr(gpu, "measured", lambda quick, on_cpu: once(quick, on_cpu))
    monkeypatch.setattr(gpu, "on_the_cpu", lambda quick: once(quick, True))
    recorded = history.read()
    assert gpu.main(["--cpu", "--quick"]) == 0
    text = capsys.readouterr().out
    assert kernels(text) == expected()
    assert history.read() == recorded
    assert "operations a second" in text


@without_one
@pytest.mark.thorough
def test_the_other_process_measures_the_same_kernels(capsys):
    assert gpu.main(["--cpu"]) == 0
    assert kernels(capsys.readouterr().out) == expected()


def test_a_child_that_sees_only_the_cpu_measures_kernels_that_pair(monkeypatch, capsys):
    """What the child prints is what the parent reads."""
    fake = {"rooflines": [], "kernels": [{"name": "one"}]}
    monkeypatch.setattr(gpu, "measured", lambda quick, on_cpu: {**fake, "on_cpu": on_cpu})
    assert gpu.main(["--child", "--quick"]) == 0
    assert json.loads(capsys.readouterr().out) == {**fake, "on_cpu": True}


def test_a_row_compares_the_best_and_bounds_all_pairs_of_rounds():
    common = {"name": "one", "dtype": "f", "unit": "step", "mib": None}
    ours = {**common, "size": {"n": 9}, "times": [2.0, 1.0]}
    theirs = {**common, "size": {"n": 3}, "times": [6.0, 4.0, 8.0]}
    row = gpu.row(ours, theirs)
    assert (row.ratio, row.ratio_low, row.ratio_high) == (4, 2, 8)
    assert (row.size, row.peer) == ({"n": 9}, gpu.CPU)


@pytest.mark.parametrize(
    ("operations", "moved", "share"),
    [(50, 1, 0.25), (1, 20, 0.5)],  # by arithmetic: 50 / 100 in 2 s; by memory: 20 / 20 in 2 s
)
def test_a_share_is_of_what_binds(operations, moved, share):
    roof = Roofline("one", "f", operations=100.0, bytes=20.0)
    assert roof.share(2.0, operations, moved) == share


def test_a_falsifier_that_does_not_fit_takes_a_smaller_budget(monkeypatch):
    tried = []

    def attack(reading, budget):
        tried.append(budget)
        if budget > 100:
            raise RuntimeError("RESOURCE_EXHAUSTED: out of memory")

    monkeypatch.setattr(gpu_kernels, "_attack", attack)
    with jax.enable_x64(True):
        kernel = gpu_kernels.falsifier((1000, 100, 10))
    assert kernel.size == {"evaluations": 100} and tried == [1000, 100]
    assert kernel.operations > 0 and kernel.bytes > 0
    monkeypatch.setattr(
        gpu_kernels, "_attack", lambda reading, budget: (_ for _ in ()).throw(RuntimeError("other"))
    )
    with jax.enable_x64(True), pytest.raises(RuntimeError, match="other"):
        gpu_kernels.falsifier((1000,))
