"""Kept programs in other processes: those that call libraries, and those of other devices."""

import os
import subprocess
import sys

import pytest

from theorysim.environment import PROGRAMS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(PROGRAMS, str(tmp_path / "programs"))
    return tmp_path / "programs"


LIBRARIES = """
import sys
import jax, numpy as np
import jax.numpy as jnp
import jax.scipy.linalg as sp
from theorysim.kept import Program, foreseen

matrix = np.random.default_rng(0).normal(size=(3, 5, 5))
symmetric = matrix @ np.swapaxes(matrix, -1, -2) + np.eye(5)
parts = {
    "cholesky": lambda m: jnp.linalg.cholesky(m[1]),
    "solve": lambda m: jnp.linalg.solve(m[0], m[1]),
    "triangular": lambda m: sp.solve_triangular(m[1], m[0], lower=True),
    "eigh": lambda m: tuple(jnp.linalg.eigh(m[1])),
    "eig": lambda m: jnp.linalg.eigvals(m[0]),
    "svd": lambda m: tuple(jnp.linalg.svd(m[0])),
    "qr": lambda m: tuple(jnp.linalg.qr(m[0])),
    "schur": lambda m: sp.schur(m[0][0]),
    "hessenberg": lambda m: sp.hessenberg(m[0]),
    "expm": lambda m: sp.expm(m[0][0]),
    "tridiagonal": lambda m: jax.lax.linalg.tridiagonal_solve(
        *(m[1][:, :, i] for i in range(3)), m[0]
    ),
    "fft": lambda m: jnp.fft.fft(m[0]),
    "sort": lambda m: jax.lax.top_k(m[0], 2),
    "draws": lambda m: m[0] + jax.random.gamma(jax.random.key(0), 2.0, (5, 5)),
    "special": lambda m: jax.scipy.special.gammainc(2.0, jnp.abs(m[0])),
}

def traced(m):
    print("traced", file=sys.stderr)
    return part(m)

with jax.enable_x64(True), foreseen("task"):
    for name, part in parts.items():
        found = Program(traced, name)((matrix, symmetric))
        for leaf in jax.tree.leaves(found):
            print(name, np.asarray(leaf).tobytes().hex())
"""


DEVICES = """
import sys
import jax, numpy as np
import jax.numpy as jnp
from theorysim.kept import Program

def traced(n):
    print("traced", file=sys.stderr)
    return jnp.sin(n)

for device in jax.devices():
    with jax.default_device(device):
        found = Program(traced, "text")(np.linspace(0, 1, 5))
        print(device.id, [one.id for one in found.devices()], np.asarray(found).tobytes().hex())
"""


def run(script, **settings):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **settings}
    command = [sys.executable, "-c", script]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)


def test_programs_that_call_libraries_run_in_a_process_that_has_lowered_none(folder):
    """The functions of LAPACK are looked up when JAX lowers a program, which is not done here."""
    first, then = run(LIBRARIES), run(LIBRARIES)
    assert (first.returncode, then.returncode) == (0, 0), first.stderr + then.stderr
    assert first.stderr.count("traced") == 15 and "traced" not in then.stderr
    assert len(set(line.split()[0] for line in then.stdout.splitlines())) == 15
    assert then.stdout == first.stdout


@pytest.mark.thorough
def test_a_program_runs_on_the_device_that_it_was_compiled_for(folder):
    two = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    first, then = run(DEVICES, **two), run(DEVICES, **two)
    assert (first.returncode, then.returncode) == (0, 0), first.stderr + then.stderr
    assert (first.stderr.count("traced"), then.stderr.count("traced")) == (2, 0)
    assert then.stdout == first.stdout
    assert [line[:5] for line in then.stdout.splitlines()] == ["0 [0]", "1 [1]"]
