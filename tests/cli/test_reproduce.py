"""The command `theorysim reproduce` on a user's experiment: what it tells, saves and keeps."""

import json

import numpy as np
import pytest
import xarray
from drawn import thorough

import theorysim.engine.reproduce.runs as runs_module
from tests.engine.test_kept_runs import experiment
from theorysim.cli.reproduce import _name

EXPERIMENT = '''
"""Heights rise with their place."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.claims import Experiment, Mutant, Size, Space, on_average


class Heights(NamedTuple):
    height: Float[Array, "kind place"]


def grow(x, key, by=BY):
    noise = jax.random.normal(key, (2, x.places), jnp.float32) / 8
    return Heights(noise + by * jnp.arange(x.places))


theorem = Experiment(
    space=Space(places=Size(3, low=2)),
    simulate=grow,
    claims=(
        on_average("rises", lambda r: r.sim.height[..., :-1], lambda r: r.sim.height[..., 1:]),
    ),
    mutants=(Mutant("flat", simulate=lambda x, key: grow(x, key, 0.0)),),
    axes=lambda x: {"kind": ("oak", "ash")},
    paper_sizes={"places": 6},
    work=lambda x: x.places,
)
'''.lstrip()

PNG = b"\x89PNG"


@pytest.fixture
def reproduce(run, tmp_path, monkeypatch):
    """Reproduces heights that rise, or do `by` their place: code, output, errors."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def reproduce(*options: str, by: float = 1.0) -> tuple[int, str, str]:
        file = tmp_path / "heights.py"
        file.write_text(EXPERIMENT.replace("BY", str(by)))
        return run("reproduce", str(file), *options)

    return reproduce


@pytest.mark.parametrize(("by", "code", "word"), [thorough(1, 0, "shown"), (-1, 3, "contrary")])
def test_it_tells_what_is_shown_and_what_is_contrary(reproduce, by, code, word):
    found, output, _ = reproduce(by=by)
    assert found == code and word in output and "rises" in output


def test_the_table_has_left_right_and_their_difference_with_its_error(reproduce):
    _, output, _ = reproduce("--set", "places=2")
    (line,) = [line for line in output.splitlines() if "rises" in line]
    left, right, difference, _, error = line.split()[2:7]
    assert float(left) == pytest.approx(0, abs=0.3) and float(right) == pytest.approx(1, abs=0.3)
    assert float(difference) == pytest.approx(1, abs=0.3) and 0 < float(error) < 0.3


def test_a_null_is_not_shown(reproduce):
    code, output, _ = reproduce("--reading", "flat", "--json")
    assert code == 4
    (reading,) = json.loads(output)["readings"]
    assert [claim["verdict"] for claim in reading["claims"]] == ["inconclusive"]


def test_data_verdicts_and_a_plain_picture_are_saved(reproduce, tmp_path):
    out = tmp_path / "out"
    code, _, told = reproduce("--out", str(out), "--runs", "6", "--set", "places=4", "--seed", "1")
    assert code == 0 and "heights.zarr, heights.json, heights.png" in told
    data = xarray.open_zarr(out / "heights.zarr", consolidated=False)
    assert data.height.dims == ("run", "kind", "place") and data.height.shape == (6, 2, 4)
    assert list(data.kind.values) == ["oak", "ash"]
    np.testing.assert_allclose(data.height.mean(("run", "kind")), np.arange(4), atol=0.2)
    saved = json.loads((out / "heights.json").read_text())
    assert (saved["verdict"], saved["seed"], saved["sizes"]) == ("holds", 1, {"places": 4})
    assert (out / "heights.png").read_bytes().startswith(PNG)


def test_finished_runs_are_kept_whether_made_alone_or_together(reproduce, monkeypatch):
    made = []
    write = runs_module.write
    monkeypatch.setattr(runs_module, "write", lambda d, p: (made.append(p), write(d, p)))
    for options, count in ((["--together", "4"], 6), ([], 6), (["--together", "2"], 9)):
        assert reproduce("--runs", str(count), *options)[0] == 0
        assert len(made) == count


def test_the_cost_of_the_sizes_of_the_paper_is_told(reproduce):
    code, output, told = reproduce("--scale", "paper", "--json")
    assert code == 0 and json.loads(output)["sizes"] == {"places": 6}
    assert "a run is 2 times the work of a small one" in " ".join(told.split())
    *_, told = reproduce("--scale", "paper", "--set", "places=4")
    assert "a run is 1 times the work of a small one" in " ".join(told.split())


OF_A_FILE = """
def simulate(x, key):
    return grow(x, key, float(own.file_of("steps").read_text()))


theorem = Experiment(
    data=("steps",),
    simulate=simulate,
""".lstrip()


@pytest.mark.parametrize(("by", "code"), [thorough("1", 0), ("-1", 3)])
def test_a_file_of_the_user_is_what_is_run(run, tmp_path, monkeypatch, by, code):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    text = EXPERIMENT.replace("=BY", "=0.0").replace("    simulate=grow,\n", "")
    text = text.replace("theorem = Experiment(\n", OF_A_FILE)
    text = text.replace("import jax\n", "import jax\nfrom theorysim.data import own\n", 1)
    theorem, steps = tmp_path / "heights.py", tmp_path / "steps.txt"
    theorem.write_text(text)
    steps.write_text(by)
    assert run("reproduce", str(theorem), "--data", f"steps={steps}")[0] == code


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--together", "0"], "0 runs together"),
        (["--runs", "4"], "4 runs"),
        (["--scale", "large"], "scale 'large'"),
        (["--set", "places=1"], "places"),
        (["--set", "width=4"], "width"),
        (["--data", "english=x.txt"], "x.txt"),
        (["--reading", "steep"], "flat"),
    ],
)
def test_bad_options_are_told_in_one_sentence(reproduce, options, message):
    code, output, told = reproduce(*options)
    assert code == 2 and message in told and not output
    assert len(told.strip().splitlines()) <= 2


def test_a_strangers_folder_is_left_alone_before_anything_runs(reproduce, tmp_path, monkeypatch):
    monkeypatch.setattr(runs_module, "write", lambda *_: pytest.fail("it ran"))
    strange = tmp_path / "out" / "heights.zarr"
    strange.mkdir(parents=True)
    (strange / "letter.txt").write_text("dear")
    code, _, told = reproduce("--out", str(tmp_path / "out"))
    assert code == 2 and "no store of ours" in told
    assert (strange / "letter.txt").read_text() == "dear"


def test_a_null_has_a_name_of_its_own():
    theorem = experiment()
    assert _name(theorem, None) == _name(theorem, theorem.primary().name) == "figure-1"
    assert _name(theorem, "flat") == "figure-1-flat"


@pytest.mark.thorough
def test_a_null_has_files_of_its_own_and_says_what_it_is(reproduce, tmp_path):
    folder = tmp_path / "out"
    for options in ((), ("--reading", "flat")):
        reproduce("--out", str(folder), *options)
    names = {"heights", "heights-flat"}
    assert {file.name for file in folder.iterdir()} == {
        f"{name}{ending}" for name in names for ending in (".zarr", ".json", ".png")
    }
    for name, reading in (("heights", "as printed"), ("heights-flat", "as printed | flat")):
        saved = xarray.open_zarr(folder / f"{name}.zarr", consolidated=False)
        assert saved.attrs["reading"] == reading and saved.attrs["experiment"] == "local/heights"


def test_a_file_is_no_folder(reproduce, tmp_path):
    (tmp_path / "taken").write_text("")
    code, _, error = reproduce("--out", str(tmp_path / "taken"))
    assert code == 2 and "expected a folder, it is a file" in error


def test_whoever_stops_is_told_what_is_kept(reproduce, monkeypatch):
    def stopped(self, count, progress):
        raise KeyboardInterrupt

    monkeypatch.setattr(runs_module.Runs, "measured", stopped)
    code, _, error = reproduce()
    assert code == 130 and "finished runs are kept, and the same command goes on" in error


@pytest.mark.parametrize("content", [b"", b"no archive", b"[1, 2]"])
def test_what_is_no_archive_is_no_file_of_images(run, tmp_path, content):
    file = tmp_path / "images.npz"
    file.write_bytes(content)
    code, _, error = run("reproduce", "transferability/table-1", "--data", f"digits={file}")
    assert code == 2 and f"{file} is no .npz file; expected one with `images`" in error


def test_data_that_do_not_fit_are_named(run, tmp_path):
    few = tmp_path / "few.npz"
    np.savez(few, images=np.ones((3, 64)), labels=np.arange(3))
    code, _, error = run("reproduce", "transferability/table-1", "--data", f"digits={few}")
    assert code == 2 and f"cannot be run with digits = {few} (IndexError" in error
    text = tmp_path / "text"
    text.write_text("abc")
    code, _, error = run("reproduce", "overtraining/figure-8", "--data", f"english={text}")
    assert code == 2 and f"with english = {text}: a vocabulary of 48" in error
