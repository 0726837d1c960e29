"""What an author does wrong is told in one line with the remedy, by `check` and by `verify`."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from drawn import every_second

from tests.engine.mistaken import (
    CLAIM,
    DECREASING,
    FORMULA,
    LINES,
    MUTANT,
    PROBABILITY,
    SEQUENCE,
    SIMULATION,
    STATEMENT,
    line,
)

ROOT = Path(__file__).parents[2]

# What is replaced by what, the line that is named, and the remedy.
MISTAKES = {
    "no size of that name": ("        d=claims.Size(3, high=8),\n", "", 25, "add d=Size"),
    "if on a traced value": (
        FORMULA,
        f"    if x.curvatures[0] > 1:\n        return x.start\n{FORMULA}",
        line(FORMULA),
        "`if`.*traced value: write jnp.where",
    ),
    "float of a traced value": (
        "x.curvatures[-1])",
        "float(x.curvatures[-1]))",
        line(FORMULA),
        "keep it an array",
    ),
    "NumPy on a traced value": (
        "(1 - 0.1 *",
        "np.sin(1 - 0.1 *",
        line(FORMULA),
        "NumPy.*in jnp",
    ),
    "a traced value as a length": (
        FORMULA,
        f"    for _ in range(x.curvatures[0]):\n        pass\n{FORMULA}",
        line(FORMULA),
        "make it a Size of the space",
    ),
    "a mask as an index": (
        FORMULA,
        f"    x.start[x.start > 0]\n{FORMULA}",
        line(FORMULA),
        "no fixed shape: keep all entries",
    ),
    "an entry that is assigned": (
        FORMULA,
        f"    x.start[0] = 1.0\n{FORMULA}",
        line(FORMULA),
        r"x\.at\[i\]\.set",
    ),
    "a comma missing in claims": (f"({CLAIM},)", f"({CLAIM})", 24, "a comma is missing, claims="),
    "a comma missing in mutants": (f"({MUTANT},)", f"({MUTANT})", 24, "comma is missing, mutants="),
    "a comma missing in readings": (
        "    simulate=simulate,",
        '    simulate=simulate,\n    readings=(claims.corrected("x")),',
        line("    simulate=simulate,") + 1,
        "a comma is missing",
    ),
    "something else among the claims": (
        f"({CLAIM},)",
        f'("rate", {CLAIM})',
        24,
        r"'rate' among them: expected at_most\(\.\.\.\) only",
    ),
    "no claims": (
        f"({CLAIM},)",
        "()",
        24,
        r"has no claims: it says nothing; give claims=\(at_most",
    ),
    "claims left out": (f"    claims=({CLAIM},),\n", "", 24, "give the theorem 'claims'"),
    "simulate left out": ("    simulate=simulate,\n", "", 24, "give the theorem 'simulate'"),
    "predict left out": (
        "    predict=predict,\n",
        "",
        line(CLAIM) - 1,
        "r.theory is empty: the theorem has no `predict`",
    ),
    "simulate without return": (
        SIMULATION,
        SIMULATION.replace("return ", ""),
        line("def simulate"),
        "simulate returned None: it lacks a `return`",
    ),
    "predict without return": (
        FORMULA,
        FORMULA.replace("return ", ""),
        line("def predict"),
        "predict returned None: it lacks a `return`",
    ),
    "simulate returns words": (
        SIMULATION,
        '    return "path"',
        line("def simulate"),
        "simulate returned 'path'; expected an array",
    ),
    "simulate takes no key": (
        "def simulate(x, key):",
        "def simulate(x):",
        24,
        r"simulate is called as f\(x, key\).*:16",
    ),
    "a path that is not reduced": (
        "jnp.linalg.norm(r.sim, axis=-1)",
        "r.sim",
        line(CLAIM),
        r"sides are \(6, 3\) and \(6,\).*leads with its `steps \+ 1` times",
    ),
    "sides of unequal length": (
        "jnp.arange(x.steps + 1)",
        "jnp.arange(x.steps)",
        line(CLAIM),
        r"sides are \(6,\) and \(5,\)",
    ),
    "a field that is a method": (
        "start=claims.UnitVector",
        "replace=claims.UnitVector",
        25,
        "'replace' cannot name a field.*call it otherwise",
    ),
    "a number in the space": (
        '        start=claims.UnitVector("d"),',
        '        start=claims.UnitVector("d"),\n        eta=0.1,',
        25,
        r"eta = 0.1 is neither a size nor a field.*Real\(low, high\)",
    ),
    "a side that is a number": (
        "lambda r: r.theory)",
        "1.0)",
        24,
        "rhs of claim 'rate' is 1.0: expected a function",
    ),
    "a side that is predict": (
        "lambda r: r.theory)",
        "predict)",
        line(FORMULA),
        r"a run has r\.x, r\.sim and r\.theory",
    ),
    "a claim without a name": ('"rate", ', "", line(CLAIM), "the name comes first"),
    "an average over one key": (
        "lambda r: jnp.linalg.norm(r.sim, axis=-1)",
        "lambda r: r.mean(r.sim)",
        line(CLAIM),
        r"set Theorem\(keys=64\)",
    ),
    "a probability over one key": (
        CLAIM,
        PROBABILITY.replace("0.9", "lambda r: 0.9"),
        24,
        "a probability over one key; set keys=512",
    ),
    "a probability that is a number": (
        CLAIM,
        PROBABILITY,
        24,
        "at_least of claim 'rate' is 0.9: expected a function, lambda r: 0.9",
    ),
    "a comparison for a margin": (
        "    simulate=simulate,",
        '    simulate=simulate,\n    hypotheses={"a": lambda x: x.curvatures[0] < 5},',
        line("    simulate=simulate,") + 1,
        "true or false; give a number",
    ),
    "and between margins": (
        "    simulate=simulate,",
        '    simulate=simulate,\n    hypotheses={"a": lambda x: x.start[0] and x.start[1]},',
        line("    simulate=simulate,") + 1,
        "`and`.*traced value",
    ),
    "a margin that returns nothing": (
        "    simulate=simulate,",
        '    simulate=simulate,\n    hypotheses={"a": lambda x: None},',
        line("    simulate=simulate,") + 1,
        "the margin is of type NoneType; give a number",
    ),
    "`where` that returns nothing": (
        CLAIM,
        f"{CLAIM[:-1]}, where=lambda r: None)",
        line(CLAIM),
        "`where` is of type NoneType; give a number",
    ),
    "a number that decreases": (CLAIM, DECREASING.format("r.sim[0, 0]"), line(CLAIM), SEQUENCE),
    "a dict that decreases": (CLAIM, DECREASING.format("{'a': r.sim}"), line(CLAIM), SEQUENCE),
    "nothing that decreases": (CLAIM, DECREASING.format("None"), line(CLAIM), SEQUENCE),
    "a field's arguments swapped": (
        'claims.Spectrum("d", 0.1, 10)',
        'claims.Ordered(0.1, 10, "d")',
        line("Spectrum"),
        "length = 0.1: expected an integer",
    ),
    "ends of an integer swapped": (
        'claims.Spectrum("d", 0.1, 10)',
        'claims.Spectrum("d", 0.1, 10), a=claims.Integer(5, 2)',
        line("Spectrum"),
        r"no interval \[5, 2\]: expected low <= high",
    ),
    "a real end of an integer": (
        'claims.Spectrum("d", 0.1, 10)',
        'claims.Spectrum("d", 0.1, 10), a=claims.Integer(2.5, 7)',
        line("Spectrum"),
        "low = 2.5: expected an integer",
    ),
    "a real size": ("claims.Size(5, high=8)", "claims.Size(5.5, high=8)", 27, "size = 5.5: expect"),
    "hypotheses without names": (
        "    simulate=simulate,",
        "    simulate=simulate,\n    hypotheses=[lambda x: 1.0],",
        24,
        "hypotheses is of type list: expected names with margins",
    ),
    "a number for an optimiser": (
        "optax.sgd(0.1)",
        "0.1",
        line(SIMULATION),
        "an optimiser belongs there and no number",
    ),
    "a theory that nothing predicts": (
        f"    predict=predict,\n    claims=({CLAIM},)",
        f"    claims=({CLAIM[:-1]} * r.x.start[0]),)",
        line(CLAIM) - 1,
        "r.theory is the empty one where a theorem has no predict=",
    ),
    "a comparison in a claim": (
        CLAIM,
        'claims.at_most("rate", lambda r: r.sim[-1] <= 1, lambda r: True)',
        line(CLAIM),
        "a side is True or False; give the two numbers",
    ),
    "another word for hypotheses": (
        "    simulate=simulate,",
        "    simulate=simulate,\n    hypothesis={},",
        24,
        "did you mean 'hypotheses'",
    ),
    "a field that is not there": (
        "x.curvatures[-1]",
        "x.curvature[-1]",
        line(FORMULA),
        "no field or size 'curvature'; it has",
    ),
    "a library that is not there": (
        "import numpy as np",
        "import numpi as np",
        line("import numpy"),
        "install it .*mend its name",
    ),
    "no theorem": (
        "theorem = claims",
        "statement = claims",
        line("theorem = claims"),
        "expected a string right below `statement = ...` .*only `theorem` has the docstring",
    ),
    "no docstring": (LINES[0], "", 1, "expected a docstring"),
    "no comma between arguments": (
        "    predict=predict,",
        "    predict=predict",
        line("    predict=predict,"),
        "forgot a comma",
    ),
}


MISTAKES_TOLD_BY_CHECK_ALONE = {
    # `verify` takes such a side for undecided: it may be finite elsewhere.
    "a side that is never finite": (
        "** jnp.arange(x.steps + 1)",
        "** jnp.arange(x.steps + 1) / (x.d - 3)",
        line(FORMULA),
        "“rate” has no finite number on any of 16 draws: a division by zero",
    ),
    # Nor does `falsify` see it, which leaves such sizes out.
    "a size that is written out": (
        "return (1 - 0.1",
        "return jnp.zeros(6) + (1 - 0.1",
        None,
        r"fails at steps = 6.*compute it from x\.steps",
    ),
}

# The tests check annotations of the language, and so another error would come first.
PROGRAM = """
import json, sys
from pathlib import Path

from theorysim.environment import prepare

prepare()
from theorysim.engine import registry
from theorysim.engine.check.loop import Loop
from theorysim.engine.registry import index
from theorysim.engine.registry.faults import fault_in_a_file, located
from theorysim.engine.verify.verify import verify
from theorysim.errors import UsageError

index.OWN = Path(sys.argv[2])  # an empty catalogue is read faster
told = {}
for path in sorted(Path(sys.argv[1]).glob("*/my_rate.py")):
    found = []
    for step in Loop().steps(str(path)):
        found.append(step.as_json())
        if step.name == "shapes":
            break
    by_verify = ""
    try:
        if found[-1]["mend"]:
            verify(registry.theorem(str(path)), instances=4)
    except UsageError as error:
        by_verify = located(error)
    except Exception as error:
        by_verify = fault_in_a_file(error)
    told[path.parent.name] = {"steps": found, "verify": by_verify}
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory, request):
    """The folder of every mistake's file, and what a fresh process says of those that are run."""
    folder = tmp_path_factory.mktemp("mistakes")
    here = (item for item in request.session.items if item.path == request.path)
    run = {item.callspec.params["mistake"] for item in here}
    for name, (old, new, *_) in {**MISTAKES, **MISTAKES_TOLD_BY_CHECK_ALONE}.items():
        assert old in STATEMENT, name
        if name not in run:
            continue
        (folder / name).mkdir()
        (folder / name / "my_rate.py").write_text(STATEMENT.replace(old, new, 1))
    empty = tmp_path_factory.mktemp("catalogue")
    command = [sys.executable, "-c", PROGRAM, str(folder), str(empty)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


@pytest.mark.parametrize("mistake", every_second(MISTAKES))
def test_a_mistake_is_one_line_with_its_place_and_remedy(told, mistake):
    folder, found = told
    *_, number, remedy = MISTAKES[mistake]
    last = found[mistake]["steps"][-1]
    assert last["code"] == 2
    assert last["mend"].startswith(f"{folder / mistake / 'my_rate.py'}:{number}: ")
    assert "\n" not in last["mend"]
    assert re.search(remedy, last["mend"])
    assert found[mistake]["verify"] == last["mend"]


@pytest.mark.parametrize("mistake", MISTAKES_TOLD_BY_CHECK_ALONE)
def test_check_tells_what_verify_cannot(told, mistake):
    folder, found = told
    *_, number, remedy = MISTAKES_TOLD_BY_CHECK_ALONE[mistake]
    last = found[mistake]["steps"][-1]
    text = last["mend"] or " ".join(last["warnings"])
    assert re.search(remedy, text)
    assert number is None or text.startswith(f"{folder / mistake / 'my_rate.py'}:{number}: ")
