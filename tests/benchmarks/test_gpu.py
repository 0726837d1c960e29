"""The command for accelerators: without one it says so, and with --cpu all of it runs."""

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


@pytest.mark.thorough
@without_one
@pytest.mark.slow
def test_on_the_cpu_the_table_has_all_kernels(capsys, monkeypatch, tmp_path):
    """What is measured here stands for both devices; the thorough test starts the other process."""

    def measured_once(quick):
        gpu.write_part(tmp_path / "part", quick)
        return 2 * (gpu.read_part(tmp_path / "part"),)

    monkeypatch.setattr(gpu, "both", measured_once)
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


MACHINE = {
    **{"date": "2026-01-01", "device": "cpu", "backend": "cpu", "cores": 2, "load": [0, 0]},
    "versions": {"jax": "1", "numpy": "2"},
}
LINE = {"name": "one", "dtype": "f", "unit": "step", "mib": None, "compile_seconds": None}


def part(device="cpu", **more):
    roof = {"device": device, "dtype": "f", "operations": 1.0, "bytes": 1.0}
    line = {**LINE, "size": {"n": 9}, "times": [2.0, 1.0], "share": 0.5}
    head = {**MACHINE, "device": device, "sources": history.sources(), "rooflines": [roof]}
    return {**head, "kernels": [line], **more}


def written(file, part):
    head = {name: value for name, value in part.items() if name != "kernels"}
    file.write_text("".join(json.dumps(line) + "\n" for line in (head, *part["kernels"])))
    return str(file)


def test_a_part_that_is_stopped_leaves_what_it_had(monkeypatch, tmp_path):
    def stopped(quick, on_cpu):
        yield {**MACHINE, "sources": "s", "rooflines": []}
        yield LINE
        raise KeyboardInterrupt

    monkeypatch.setattr(gpu, "measured", stopped)
    with pytest.raises(KeyboardInterrupt):
        gpu.main(["--part", str(tmp_path / "part")])
    assert gpu.read_part(tmp_path / "part")["kernels"] == [LINE]


def test_a_row_compares_the_best_and_bounds_all_pairs_of_rounds():
    ours = {**LINE, "size": {"n": 9}, "times": [2.0, 1.0]}
    theirs = {**LINE, "size": {"n": 3}, "times": [6.0, 4.0, 8.0]}
    row = gpu.row(ours, theirs, "CPU", "fast one")
    assert (row.ratio, row.ratio_low, row.ratio_high) == (4, 2, 8)
    assert (row.size, row.peer, row.device) == ({"n": 9}, "CPU", "fast one")


def test_parts_are_joined_by_their_kernels_and_recorded(monkeypatch, tmp_path, capsys):
    """A kernel that one part lacks, since it was stopped, has no row."""
    added = []
    monkeypatch.setattr(history, "commit", lambda: "abc")
    monkeypatch.setattr(history, "add", added.append)
    monkeypatch.setattr(gpu.page, "write", lambda: None)
    theirs = part()
    theirs["kernels"] = [{**theirs["kernels"][0], "times": [8.0]}, {**LINE, "name": "two"}]
    files = [written(tmp_path / "a", part("fast one")), written(tmp_path / "b", theirs)]
    assert gpu.main(["--join", *files]) == 0
    [line] = added
    assert (line["commit"], line["device"], line["peer"]["device"]) == ("abc", "fast one", "cpu")
    [row] = line["rows"]
    assert (row["ratio"], row["peer"], row["device"]) == (8, "CPU, 2 cores", "fast one")
    printed = capsys.readouterr().out
    assert "device fast one" in printed and "The CPU: Measured on 2026-01-01" in printed


def test_parts_of_other_sources_or_no_parts_are_refused(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(history, "commit", lambda: "abc")
    good = written(tmp_path / "a", part())
    stale = written(tmp_path / "b", part(sources="0"))
    assert gpu.main(["--join", good, stale]) == 2
    assert "other sources" in capsys.readouterr().err
    (tmp_path / "c").write_text("nothing of the kind\n")
    (tmp_path / "d").write_text('{"date": "2026-01-01"}\n')
    for wrong in ("c", "d", "missing"):
        assert gpu.main(["--join", good, str(tmp_path / wrong)]) == 2
        assert "no part of this benchmark" in capsys.readouterr().err


def test_a_part_that_cannot_be_written_measures_nothing(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(gpu, "measured", lambda quick, on_cpu: pytest.fail("it was measured"))
    assert gpu.main(["--part", str(tmp_path / "no folder" / "part")]) == 2
    said = capsys.readouterr().err
    assert "cannot be written" in said and len(said.splitlines()) == 1


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
