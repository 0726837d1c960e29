"""A statement in a file of a user's, and the command, run in this process."""

import sys

import pytest

from theorysim import cli

STATEMENT = '''
"""A number is at most so many times itself.

The second paragraph has a line that is rather longer than eighty columns, to be wrapped when shown.

    a formula stays as it is
"""

from theorysim.claims import (
    Corrected, Mutant, Printed, Reading, Real, Size, Space, Theorem, at_most, strict
)

theorem = Theorem(
    space=Space(n=Size(3), a=Real(1, 2)),
    hypotheses={"least": strict(lambda x: x.a - LEAST)},
    simulate=lambda x, key: x.a,
    predict=lambda x: FACTOR * x.a,
    claims=(at_most("bound", lambda r: r.sim, lambda r: r.theory, statement="a <= FACTOR a"),),
    source=Printed("Eq. 1", "a <= FACTOR a"),
    readings=(
        Reading("generous", Corrected("9 a"), predict=lambda x: 9 * x.a, note="a constant of nine"),
    ),
    mutants=(Mutant("half", predict=lambda x: x.a / 2),),
    aliases=("theorem-b.1",),
)
'''.lstrip()


@pytest.fixture
def statement(tmp_path):
    """Writes a theorem that holds if `factor` > 1 and is vacuous if `least` > 2."""

    def write(factor=1.5, least=0) -> str:
        path = tmp_path / "theorem_1.py"
        path.write_text(STATEMENT.replace("FACTOR", str(factor)).replace("LEAST", str(least)))
        return str(path)

    return write


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs the command: (exit code, standard output, standard error)."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["theorysim", *arguments])
        with pytest.raises(SystemExit) as done:
            cli.main()
        output = capsys.readouterr()
        return done.value.code, output.out, output.err

    return run
