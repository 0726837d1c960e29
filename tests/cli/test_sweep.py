"""The command `theorysim sweep`: grids, stores that resume, pictures, bad usage."""

import json

import numpy as np
import pytest
from drawn import thorough

from theorysim.sweeps import open_store

STATEMENT = '''
"""A mean of squares is at most the largest square."""

import jax
import jax.numpy as jnp

from theorysim.claims import Finding, Gaussian, Mutant, Reading, Real, Size, Space, Theorem
from theorysim.claims import at_least, at_most

theorem = Theorem(
    space=Space(n=Size(3, 1, 8), factor=Real(0.5, 4, log=True), shift=Real(-1, 1), v=Gaussian("n")),
    hypotheses={"shift": lambda x: 0.5 - x.shift},
    simulate=lambda x, key: x.factor * (x.v + x.shift),
    predict=lambda x: x.factor**2 * jnp.max((x.v + x.shift) ** 2),
    claims=(
        at_most("mean: below max / all", lambda r: jnp.mean(r.sim**2), lambda r: r.theory),
        at_least("entries", lambda r: r.sim, lambda r: 0.0, where=lambda r: r.x.v - 1),
    ),
    readings=(
        Reading("half", Finding("half of it"), predict=lambda x: x.factor**2 * jnp.max(x.v**2) / 2),
    ),
    mutants=(Mutant("the other sign", predict=lambda x: -x.factor),),
)
'''.lstrip()


@pytest.fixture
def command(run, tmp_path):
    """The command on the statement, and without it: (exit code, all that was printed)."""
    statement = tmp_path / "lemma_1.py"
    statement.write_text(STATEMENT)

    def plain(*arguments: str) -> tuple[int, str]:
        status, output, errors = run("sweep", *arguments)
        return status, output + errors

    named = ("local/lemma-1", "--theorems", str(statement))
    return lambda *arguments: plain(*named, *arguments), plain


def test_a_store_runs_no_file_that_the_user_does_not_name(command, tmp_path):
    sweep, plain = command
    out, statement = tmp_path / "a.zarr", tmp_path / "lemma_1.py"
    status, output = sweep("--grid", "factor=1,2", "--out", str(out))
    assert status == 0, output
    trap = tmp_path / "sprung"
    honest = statement.read_text()
    statement.write_text(f"{honest}\nopen({str(trap)!r}, 'w')\n")
    status, output = plain("--resume", str(out))
    assert status == 2 and "--theorems FILE" in output
    assert not trap.exists()
    statement.write_text(honest.replace("jnp.mean(r.sim**2)", "jnp.max(r.sim**2)"))
    status, output = plain("--resume", str(out), "--theorems", str(statement))
    assert status == 2 and "another function" in output
    statement.write_text(honest)
    status, output = plain("--resume", str(out), "--theorems", str(statement))
    assert status == 0, output


@pytest.mark.parametrize(
    "request_",
    ["{", "[1]", '{"id": 1}', pytest.param("[" * 100_000, id="deeper than any parser goes")],
)
def test_what_is_no_request_is_refused(request_, run, tmp_path):
    store = tmp_path / "a.zarr"
    store.mkdir()
    (store / "zarr.json").write_text(json.dumps({"attributes": {"request": request_}}))
    status, _, errors = run("sweep", "--resume", str(store))
    assert status == 2
    assert "is not a store that" in errors


@pytest.mark.parametrize("tile", [None, thorough(5), thorough([]), thorough("zzz"), "[[1]]"])
def test_a_store_whose_attributes_were_changed_is_damaged(command, tmp_path, tile):
    sweep, plain = command
    out, statement = tmp_path / "a.zarr", tmp_path / "lemma_1.py"
    status, output = sweep("--grid", "factor=1,2", "--out", str(out))
    assert status == 0, output
    data = json.loads((out / "zarr.json").read_text())
    data["attributes"]["theorem"] = "another/theorem"
    (out / "zarr.json").write_text(json.dumps(data))
    status, output = plain("--resume", str(out), "--theorems", str(statement))
    assert "another/theorem" not in output
    data["attributes"]["tile"] = tile
    (out / "zarr.json").write_text(json.dumps(data))
    status, output = plain("--resume", str(out), "--theorems", str(statement))
    assert status == 2 and "is damaged" in output


def test_a_grid_of_fields_and_sizes_goes_to_a_store_and_a_picture(command, tmp_path):
    sweep, plain = command
    sweep_again = lambda *rest: plain(*rest, "--theorems", str(tmp_path / "lemma_1.py"))  # noqa: E731
    out, picture = tmp_path / "phase.zarr", tmp_path / "phase.png"
    grids = ["--grid", "factor=log:0.5:4:4", "--grid", "shift=-1:1:5", "--grid", "n=2,3"]
    status, output = sweep(*grids, "--seeds", "3", "--out", str(out), "--plot", str(picture))
    assert status == 0, output
    found = open_store(out).load()
    assert dict(found["diverged"].sizes) == {"n": 2, "factor": 4, "shift": 5, "seed": 3}
    assert "mean_below_max_all.slack" in found and found["entries.slack"].shape[-1] == 3
    slack = found["mean_below_max_all.slack"]
    np.testing.assert_array_equal(np.isnan(slack), ~found["satisfied"])
    assert (slack.where(found["satisfied"], 0) >= 0).all()
    np.testing.assert_allclose(found["factor"], np.geomspace(0.5, 4, 4))
    met = found["satisfied"].isel(n=0, factor=0, seed=0)
    np.testing.assert_array_equal(met, found["shift"] <= 0.5)
    assert not found["diverged"].any()
    # Common random numbers: the claim is homogeneous in the factor, so every draw scales alike.
    scaled = found["mean_below_max_all.lhs"] / found["factor"] ** 2
    spread = (scaled.max("factor") - scaled.min("factor")) / scaled.max("factor")
    assert spread.max() < 16 * np.finfo(float).eps
    assert picture.read_bytes().startswith(b"\x89PNG")
    before = (out / "zarr.json").read_bytes()
    (out / "progress" / "done" / "c" / "0" / "0").unlink()
    status, output = sweep_again("--resume", str(out))
    assert status == 0 and "120 cells" in output
    assert (out / "zarr.json").read_bytes() == before
    assert open_store(out).load().identical(found)


def test_bad_usage_is_reported_in_one_message(command, tmp_path):
    sweep, plain = command
    for arguments, message in (
        (("--grid", "gamma=0:1:3"), "factor, shift"),
        (("--grid", "n=2.5"), "n = 2.5 is out of range"),
        (("--grid", "shift=0:2:3", "--claim", "x"), "shift: expected real in"),
        (("--grid", "shift=0:1:1000000000"), "at most 100000 values along one axis"),
        (("--grid", "shift=0:1:1000", "--seeds", "10000000"), "GiB of memory, but this machine"),
        (("--grid", "shift=0,0.5,0"), "{'shift': 0.0} is given twice"),
    ):
        status, output = sweep(*arguments)
        assert status == 2 and message in output
    status, output = plain("--resume", str(tmp_path))
    assert status == 2 and "not a store" in output
