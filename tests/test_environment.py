"""What the command sets before JAX is imported, and that it never overrides a user."""

import os
import subprocess
import sys

import pytest

from theorysim.environment import OPTIMISATION, prepare


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    return tmp_path


def test_everything_is_set_in_an_empty_environment(home):
    environment = {}
    prepare(environment)
    cache = home / ".cache" / "theorysim" / "jax"
    assert cache.is_dir()
    assert environment == {
        "NPROC": "32",
        "OPENBLAS_NUM_THREADS": "1",
        "EQX_ON_ERROR": "nan",
        "XLA_FLAGS": f"{OPTIMISATION}=1",
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "THEORYSIM_PROGRAMS": str(home / ".cache" / "theorysim" / "programs"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "0",
    }


def test_nothing_that_the_user_set_is_changed(home):
    environment = {
        "NPROC": "3",
        "OPENBLAS_NUM_THREADS": "2",
        "EQX_ON_ERROR": "raise",
        "XLA_FLAGS": f"{OPTIMISATION}=3",
        "JAX_COMPILATION_CACHE_DIR": "",
        "THEORYSIM_PROGRAMS": "",
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "5",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "6",
    }
    before = dict(environment)
    prepare(environment)
    assert environment == before
    assert not (home / ".cache").exists()


def test_other_flags_are_kept(home):
    environment = {"XLA_FLAGS": "--xla_dump_to=somewhere"}
    prepare(environment)
    assert environment["XLA_FLAGS"] == f"--xla_dump_to=somewhere {OPTIMISATION}=1"


@pytest.mark.parametrize(
    ("environment", "threads"),
    [
        ({"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}, "32"),
        ({"XLA_FLAGS": "--xla_force_host_platform_device_count=9"}, "36"),
        ({"JAX_NUM_CPU_DEVICES": "10"}, "40"),
    ],
)
def test_more_devices_get_more_threads(home, environment, threads):
    prepare(environment)
    assert environment["NPROC"] == threads


@pytest.mark.parametrize(
    ("platform", "folder"),
    [
        ("linux", "elsewhere/theorysim/jax"),
        ("darwin", "Library/Caches/theorysim/jax"),
    ],
)
def test_the_cache_is_where_the_platform_keeps_caches(home, monkeypatch, platform, folder):
    monkeypatch.setattr(sys, "platform", platform)
    environment = {"XDG_CACHE_HOME": str(home / "elsewhere")}
    prepare(environment)
    assert environment["JAX_COMPILATION_CACHE_DIR"] == str(home / folder)


def test_without_a_place_to_write_there_is_no_cache(home):
    (home / ".cache").write_text("a file where the folder should be")
    environment = {}
    prepare(environment)
    assert "JAX_COMPILATION_CACHE_DIR" not in environment


def test_jax_understands_the_names():
    program = (
        "from theorysim.environment import prepare; prepare(); import jax; c = jax.config; "
        "jax.numpy.zeros(2); "  # XLA ends the process at a flag that it does not know
        "print(c.jax_compilation_cache_dir, c.jax_persistent_cache_min_compile_time_secs, "
        "c.jax_persistent_cache_min_entry_size_bytes)"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "XLA_"))}
    expected = dict(environment)
    prepare(expected)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.split() == [expected["JAX_COMPILATION_CACHE_DIR"], "0.0", "0"], done.stderr


def test_a_package_is_imported_once_it_is_used(tmp_path):
    package = tmp_path / "slow"
    package.mkdir()
    (package / "__init__.py").write_text("from slow.part import one\nprint('executed')\n")
    (package / "part.py").write_text("import slow\none = 1\n")
    begin = "from theorysim.environment import import_when_used as later\n"
    begin += "later('slow', 'nosuchpackage', 'sys')\nimport slow\nimport slow as other\n"
    begin += "print(hasattr(slow, '__wrapped__'), slow.__name__)\n"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}

    def told(ask):
        command = [sys.executable, "-c", begin + ask]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    assert told("") == ["False slow"]
    for ask in (
        "print(slow.one, other.one)",
        "from slow import one; print(one, slow.one)",
        "from slow.part import one; print(one, slow.part.one)",
        "import slow.part; print(slow.part.one, other.one)",
    ):
        assert told(ask) == ["False slow", "executed", "1 1"]
    whole = "from pathlib import Path\nfrom theorysim.environment import expect_code_of\n"
    whole += "expect_code_of(Path('mine.py'))\nprint(vars(slow)['one'])\n"
    assert told(whole) == ["False slow", "executed", "1"]
    (package / "__init__.py").write_text("raise ImportError('broken')\n")
    again = "\nfor _ in range(2):\n    try:\n        import slow; slow.one\n"
    again += "    except ImportError as error:\n        print(error)\n"
    assert told(again) == ["False slow", "broken", "broken"]
