"""Workers of a cluster find what one process finds, also when one of them is killed at work."""

import os
import signal
import threading
import time
import warnings

import pytest
from distributed import Client, LocalCluster

from theorysim.engine.many import cluster, staff
from theorysim.engine.many.standing import standing
from theorysim.engine.many.task import NO_CODE
from theorysim.engine.many.verification import Verification
from theorysim.engine.many.verify_all import verify_all
from theorysim.errors import UsageError

FILE = '''
"""A number is at most its bound."""

from theorysim.claims import Mutant, Real, Space, Theorem, at_most

theorem = Theorem(
    space=Space(a=Real(1, 2)),
    simulate=lambda x, key: x.a,
    claims=(at_most("bound", lambda r: r.sim, lambda r: BOUND),),
    mutants=(Mutant("three times", simulate=lambda x, key: 3 * x.a),),
)
'''.lstrip()

# Two statements of a paper, and below two files.
ONLY = "lemma-a.11"
WAIT = 200.0
"""Seconds in which a worker begins."""


@pytest.fixture
def files(tmp_path):
    """One statement that is false, one that raises."""
    paths = tmp_path / "lemma_a_11.py", tmp_path / "lemma_a_11_raises.py"
    for path, bound in zip(paths, ("1.5", "1 / 0")):
        path.write_text(FILE.replace("BOUND", bound))
    return paths


def kill_at_work(client: Client, killed: list[int]) -> None:
    """End a worker's process once it has a task: for seconds it is still importing JAX."""
    pids = client.run(os.getpid)
    last = time.monotonic() + WAIT
    while time.monotonic() < last:
        for address, tasks in client.processing().items():
            if tasks and address in pids:
                killed.append(pids[address])
                os.kill(pids[address], signal.SIGKILL)
                return
        time.sleep(0.1)


@pytest.mark.thorough
@pytest.mark.slow
def test_a_killed_worker_loses_nothing(files):
    killed, found_then = [], []
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as two,
        Client(two) as client,
    ):
        killer = threading.Thread(target=kill_at_work, args=(client, killed))
        killer.start()

        def tell(one):
            found_then.append((one.theorem, len(killed)))

        there = verify_all(ONLY, instances=8, theorems=files, client=client, tell=tell)
        killer.join()
        alive_then = list(client.run(os.getpid).values())
    assert len(killed) == 1 and killed[0] not in alive_then
    assert {count for _, count in found_then} == {1}  # none had ended before
    here = verify_all(ONLY, instances=8, theorems=files)
    assert here.verdicts == {"holds": 2, "violated": 1, "error": 1}
    assert [one.theorem for one in there.statements] == [one.theorem for one in here.statements]
    for one, other in zip(here.statements, there.statements):
        assert (one.report, one.error, one.internal) == (other.report, other.error, other.internal)
    assert "lemma_a_11_raises.py:8: ZeroDivisionError" in here.statements[1].error
    assert here.exit_code == there.exit_code == 2


def elsewhere(code, here):
    """What a worker answers that has another version of JAX."""
    return "jax 0.1 there, 0.2 here"


def machines(workers: int, threads: int = 1) -> LocalCluster:
    """Workers in this process, which compute nothing here."""
    return LocalCluster(
        n_workers=workers, threads_per_worker=threads, processes=False, dashboard_address=":0"
    )


def test_unfit_workers_are_refused_before_the_work(monkeypatch):
    monkeypatch.setattr(staff, "unfit", elsewhere)
    told = r"the worker inproc://.* cannot take part \(jax 0.1 there, 0.2 here\): start workers"
    with machines(1) as one, Client(one) as client, pytest.raises(UsageError, match=told):
        verify_all(ONLY, client=client)


def one_is_elsewhere(code, here, dask_worker):
    """What two workers answer, of which the second one has another version of JAX."""
    return elsewhere(code, here) if dask_worker.name == 1 else ""


def test_an_unfit_worker_is_left_out_and_the_other_goes_on(monkeypatch):
    monkeypatch.setattr(staff, "unfit", one_is_elsewhere)
    tasks = [Verification(f"no/statement-{number}") for number in range(4)]
    with machines(2) as two, Client(two) as client, warnings.catch_warnings(record=True) as told:
        client.wait_for_workers(2)
        warnings.simplefilter("always", staff.WorkerLeftOut)
        found = dict(cluster.on_workers(tasks, client, standing(NO_CODE)))
    assert set(found) == set(tasks)
    assert all(task.theorem in result.error for task, result in found.items())
    (left_out,) = [one for one in told if one.category is staff.WorkerLeftOut]
    assert "cannot take part (jax 0.1 there, 0.2 here)" in str(left_out.message)


def test_workers_of_several_threads_are_refused():
    told = "has 2 threads: start it with `dask worker --nthreads 1 --nworkers N`"
    with machines(1, 2) as two, Client(two) as client, pytest.raises(UsageError, match=told):
        verify_all(ONLY, client=client)


def test_a_worker_that_joins_later_is_looked_at():
    task, here = Verification("overtraining/lemma-a.11"), {"jax": "0.1"}
    with machines(0) as none, Client(none) as client:
        results = cluster.on_workers([task], client, here)
        threading.Timer(1.0, none.scale, [1]).start()
        with pytest.raises(UsageError, match=r"cannot take part \(jax .* there, 0.1 here\)"):
            next(results)
