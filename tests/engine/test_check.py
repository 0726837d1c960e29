"""The author's loop: its order, what each step stops at, recorded verdicts, waiting for changes."""

import json
import os
from dataclasses import replace

import pytest

from theorysim.engine import registry
from theorysim.engine.check.loop import Loop
from theorysim.engine.check.watching import changes
from theorysim.engine.verify.verify import verify
from theorysim.errors import UsageError

STATEMENT = '''
"""A number is at most three halves of itself."""

import numpy as np
import jax
import jax.numpy as jnp
import optax

from theorysim import claims
from theorysim.numerics import descent

calls = []


def simulate(x, key):
    return x.a


def predict(x):
    return 1.5 * x.a


theorem = claims.Theorem(
    space=claims.Space(a=claims.Real(1, 2)),
    simulate=simulate,
    predict=predict,
    claims=(claims.at_most("bound", lambda r: r.sim, lambda r: r.theory),),
    mutants=(claims.Mutant("half", predict=lambda x: x.a / 2),),
)
'''.lstrip()
ORDER = ["load", "shapes", "purity", "smoothness", "precision", "mutants"]
ORDER += ["verify", "falsify", "tightness"]
# Where `simulate` returns.
RETURN = STATEMENT.splitlines().index("    return x.a") + 1


@pytest.fixture
def only_verdicts(monkeypatch):
    """The loop goes from the loaded statement to its verdicts, as where all steps between pass."""
    monkeypatch.setattr("theorysim.engine.check.loop.FIRST", ())


@pytest.fixture
def check(tmp_path):
    """Takes the steps on the statement with texts replaced, up to one that is named."""

    def check(*replaced, last="", **options):
        text = STATEMENT
        for old, new in replaced:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "my_bound.py"
        path.write_text(text)
        steps = []
        for step in Loop(**options).steps(str(path)):
            steps.append(step)
            if step.name == last:
                break
        return steps

    return check


def test_what_is_right_passes_every_step_in_order(check):
    steps = check()
    assert [step.name for step in steps] == ORDER
    assert [step.mend for step in steps] == [""] * len(ORDER)
    assert [step.warnings for step in steps] == [()] * len(ORDER)
    assert "uses 66.7 % of its bound" in steps[-1].told
    assert json.dumps([step.as_json() for step in steps])


@pytest.mark.parametrize(
    ("old", "new", "remedy"),
    [
        ("return x.a\n", "return x.a + np.random.uniform()\n", "draw with jax.random from `key`"),
        ("return x.a\n", "calls.append(0)\n    return x.a + len(calls)\n", "nothing in globals"),
        (
            "return x.a\n",
            "return x.a + 0 * jax.random.normal(jax.random.key(0))\n",
            "a key of its own",
        ),
        ("simulate=simulate,", "simulate=simulate, keys=64,", "its 64 runs are one"),
        (
            "return 1.5 * x.a",
            "return simulate(x, None) + 0.5 * x.a",
            "predict calls the simulation",
        ),
        ("predict=predict,\n", "predict=lambda x: simulate(x, 0),\n", "predict calls the simul"),
    ],
)
def test_what_is_no_function_of_its_arguments_is_impure(check, old, new, remedy):
    replaced = [(old, new)]
    if "keys=" in new:
        replaced.append(("lambda r: r.sim", "lambda r: r.mean(r.sim)"))
    last = check(*replaced, last="purity")[-1]
    assert (last.name, last.code) == ("purity", 2)
    assert remedy in last.mend
    assert "my_bound.py:" in last.mend


def test_runs_at_a_kink_are_warned_of(check):
    run = "descent.descend(lambda w: jnp.abs(w - x.a), x.a, optax.sgd(0.1), 1)[0]"
    smoothness = check(("return x.a\n", f"return {run}\n"), last="smoothness")[-1]
    (warning,) = smoothness.warnings
    assert not smoothness.mend
    assert "64 of 64 runs differentiate |x| at its kink" in warning
    assert f"my_bound.py:{RETURN}: " in warning


FLOW = (
    "return x.a\n",
    "return flow.integrate(\n        lambda y, _: 0 * y, x.a, jnp.arange(2.0), SCALE)[-1]\n",
)
IMPORT = ("import descent", "import descent, flow")


def test_an_integrator_that_is_not_declared_is_told(check, tmp_path):
    scaled = FLOW[1].replace("SCALE", "tolerance_scale=x.tolerance_scale")
    last = check(IMPORT, (FLOW[0], scaled), last="shapes")[-1]
    assert (last.name, last.code) == ("shapes", 2)
    assert f"my_bound.py:{RETURN + 1}: it integrates" in last.mend
    assert "set Theorem(integrates=True)" in last.mend
    check(("return x.a\n", "return x.a + 0 * x.tolerance_scale\n"), last="load")
    alone = replace(registry.theorem(str(tmp_path / "my_bound.py")), mutants=())
    report = verify(alone, instances=4)
    assert any("set Theorem(integrates=True)" in warning for warning in report.warnings)


def test_an_integrator_that_nobody_measures_is_warned_of(check):
    (warning,) = check(IMPORT, last="shapes")[-1].warnings
    assert "my_bound.py:9: " in warning and "tolerance_scale=x.tolerance_scale" in warning


@pytest.mark.parametrize(
    ("replaced", "step", "code", "remedy"),
    [
        (
            [("simulate=simulate,", 'simulate=simulate, hypotheses={"a > 3": lambda x: x.a - 3},')],
            "shapes",
            4,
            "'a > 3' is met by 0",
        ),
        (
            [('"half", predict=lambda x: x.a / 2', '"more", predict=lambda x: 3 * x.a')],
            "mutants",
            2,
            "refutes no mutant (“more” holds): strengthen the claim",
        ),
        (
            [('    mutants=(claims.Mutant("half", predict=lambda x: x.a / 2),),\n', "")],
            "mutants",
            2,
            "no mutant changes “bound”",
        ),
        ([("1.5 * x.a", "0.9 * x.a")], "verify", 3, "is violated"),
        ([("1.5 * x.a", "x.a + (x.a - 1) - 1e-7")], "falsify", 3, "at a = 1"),
    ],
)
def test_it_stops_at_the_first_thing_to_mend(check, replaced, step, code, remedy, request):
    if step in ("verify", "falsify"):
        request.getfixturevalue("only_verdicts")
    last = check(*replaced)[-1]
    assert (last.name, last.code) == (step, code)
    assert remedy in last.mend and "\n" not in last.mend
    if step == "falsify":  # `verify` says that it holds
        assert "theorysim falsify " in last.mend and "--out counterexample.json" in last.mend
        assert "theorysim verify" not in last.mend


def test_recorded_verdicts_are_what_is_expected(check, tmp_path, only_verdicts):
    file, path = tmp_path / "verdicts.json", str(tmp_path / "my_bound.py")
    wrong = ("1.5 * x.a", "0.9 * x.a")
    check(wrong, last="load")
    recording = Loop(record=file, seed=3)
    assert [step.code for step in recording.steps(path)] == [0] * 2
    recording.finish()
    data = json.loads(file.read_text())
    assert data["seed"] == 3
    assert data["verdicts"] == {"local/my-bound": {"as printed": {"bound": "violated"}}}
    as_recorded = list(Loop(against=file).steps(path))
    assert (as_recorded[-1].name, as_recorded[-1].code) == ("verify", 0)
    changed = check(against=file)[-1]
    assert (changed.name, changed.code) == ("verify", 3)
    assert "as printed, “bound”: recorded violated, now holds" in changed.mend
    assert "--record" in changed.mend
    kept = Loop(record=file)
    kept.found["local/another"] = {"as printed": {"a": "holds"}}
    kept.finish()
    assert set(json.loads(file.read_text())["verdicts"]) == {"local/my-bound", "local/another"}


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("r.x.a - 9", "! is met on none of 16 draws: there it says nothing"),
        ("jnp.where(r.x.a > 0, 1.0, r.sim)", ""),
    ],
)
def test_a_condition_that_no_draw_meets_is_warned_of(check, where, said):
    old = "lambda r: r.theory"
    shapes = check((old, f"{old}, where=lambda r: {where}"), last="shapes")[-1]
    assert [each.replace("`where` of “bound”", "!") for each in shapes.warnings] == [said] * bool(
        said
    )


def test_a_path_that_diverges_is_warned_of(check):
    path = "jnp.stack([x.a, x.a * jnp.inf])"
    shapes = check(("    return x.a\n", f"    return {path}\n"), last="shapes")[-1]
    assert not shapes.warnings  # infinite against a finite bound is compared
    both = ("lambda r: r.theory", f"lambda r: (lambda x: {path})(r.x)")
    shapes = check(("    return x.a\n", f"    return {path}\n"), both, last="shapes")[-1]
    (warning,) = shapes.warnings
    assert "infinite or undefined numbers among others on 16 of 16 draws" in warning


def test_a_recorded_statement_that_is_gone_is_named(tmp_path):
    file, gone = tmp_path / "verdicts.json", "low-rank/no-such-lemma"
    record = {gone: {}, "low-rank/remark-1": {}, "local/another": {}}
    file.write_text(json.dumps({"seed": 0, "verdicts": record}))
    assert list(Loop(against=file).gone("low-rank")) == [gone]
    assert not list(Loop(record=file).gone("low-rank"))


def test_a_statement_without_recorded_verdicts_is_told(check, tmp_path):
    file = tmp_path / "verdicts.json"
    file.write_text(json.dumps({"seed": 0, "verdicts": {}}))
    (only,) = check(against=file)
    assert only.code == 2 and f"no verdicts of local/my-bound: add them with --record {file}" in (
        only.mend
    )


@pytest.mark.parametrize(
    "text", ["", "[]", '{"seed": 0}', '{"seed": 0, "verdicts": {"a": {"b": 1}}}']
)
def test_a_file_that_holds_no_verdicts_is_refused(tmp_path, text):
    file = tmp_path / "verdicts.json"
    file.write_text(text)
    with pytest.raises(UsageError, match="holds no verdicts: write it anew with --record"):
        Loop(against=file)
    with pytest.raises(UsageError, match=r"cannot read .*; write it with --record"):
        Loop(against=tmp_path / "nothing.json")


def test_a_file_is_watched_by_its_changes(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("1")
    looks = []

    def edit(seconds):
        """What happens between looks: nothing, a change, a replacement by way of no file."""
        assert seconds > 0
        looks.append(seconds)
        match len(looks):
            case 2:
                path.write_text("22")
            case 4:
                path.unlink()
            case 5:
                (tmp_path / "b").write_text("33")
                os.replace(tmp_path / "b", path)
            case 7:
                raise KeyboardInterrupt

    seen = []
    with pytest.raises(KeyboardInterrupt):
        for _ in changes(path, edit):
            seen.append(len(looks))
    assert seen == [0, 2, 5]
