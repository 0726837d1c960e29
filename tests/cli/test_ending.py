"""The process of a command ends at once, and loses nothing."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import atexit, sys, threading, time
from theorysim import __main__ as command

atexit.register(lambda: print("at exit", file=sys.stderr, flush=True))

def main():
{body}

command.main = main
run = command.run
run()
"""


def run(body, **options):
    script = SCRIPT.format(body="\n".join("    " + line for line in body.splitlines()))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, text=True, timeout=60, **streams
    )


@pytest.mark.parametrize(
    ("end", "code"),
    [("pass", 0), ("raise SystemExit", 0), ("raise SystemExit(3)", 3), ("raise KeyError(1)", 1)],
)
def test_the_code_and_all_output_arrive(end, code):
    found = run(f"print('x' * 1_000_000)\n{end}")
    assert (found.returncode, len(found.stdout)) == (code, 1_000_001)
    assert found.stderr.endswith("at exit\n")
    assert ("KeyError" in found.stderr) == ("KeyError" in end)


def test_a_message_is_told():
    found = run("raise SystemExit('why it ends')")
    assert found.returncode == 1 and "why it ends" in found.stderr


def test_threads_that_still_work_are_waited_for():
    work = "threading.Thread(target=lambda: (time.sleep(0.5), print('done'))).start()"
    assert run(work).stdout == "done\n"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_closed_stream_is_no_fault(stream):
    """As of `theorysim list >&-`, where the interpreter has no such stream."""
    assert run(f"sys.{stream} = None").returncode == 0


@pytest.mark.thorough
def test_what_a_file_of_others_left_open_is_written(tmp_path):
    path = tmp_path / "left_open"
    code = "from theorysim.environment import expect_code_of\nfrom pathlib import Path\n"
    code += f"expect_code_of(Path('mine.py'))\nsys.left = open({str(path)!r}, 'w')\n"
    assert run(code + "sys.left.write('all')\nraise SystemExit(3)").returncode == 3
    assert path.read_text() == "all"


def test_a_profiler_around_the_command_writes_what_it_saw(tmp_path):
    path = tmp_path / "profile"
    command = [sys.executable, "-m", "cProfile", "-o", path, "-m", "theorysim", "--version"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run(command, env=environment, capture_output=True).returncode == 0
    assert path.stat().st_size > 1000


def test_an_answer_needs_no_stream_of_errors():
    """As of `theorysim verify ID 2>&-`."""
    body = "import os\nfrom theorysim.cli.options import progress_on_terminal\n"
    body += "sys.stderr = None\nwith progress_on_terminal('verify') as told:\n    told(1, 2, 'x')"
    assert run(body).returncode == 0


def test_output_that_goes_nowhere_is_an_error():
    with open("/dev/full", "w") as full:
        found = run("print('x')", stdout=full)
    assert found.returncode != 0 and "No space left" in found.stderr


def test_nothing_is_taken_apart():
    """The last thing that runs are the functions registered for it: no finaliser of a module."""
    body = "sys.modules['kept'] = type('Kept', (), {'__del__': lambda _: print('taken apart')})()"
    assert run(body).stdout == ""
