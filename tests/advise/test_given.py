"""Names that a user's file defines as something else: refused in one line, before any work."""

import inspect
import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim import advise
from theorysim.advise import files
from theorysim.advise.given import CHECKS
from theorysim.errors import UsageError

QUESTIONS = ("layers", "transfer", "strength", "length")
USED = {"model", "params", "inputs", "targets", "progress"}
"""arguments of any type, which are tried on the model"""

X = np.random.default_rng(0).normal(size=(24, 3))
PARAMS = {"first": jnp.zeros(2), "last": jnp.zeros(1)}


def model(params, x):
    return x[:2] @ params["first"] + x[2:] @ params["last"]


ODD = (object(), {"x": object()}, float("nan"), [[1], [2, 3], [4]])
RIGHT = {
    "layers": {},
    "strength": {},
    "transfer": {"sources": {"a": (X, X[:, 0])}},
    "length": {"checkpoints": dict.fromkeys((1, 2, 3), PARAMS)},
}


def ask(question, **given):
    plain = {"model": model, "inputs": X, "targets": X[:, 0], "params": PARAMS}
    return getattr(advise, question)(**{**plain, **RIGHT[question], **given})


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_argument_is_checked_or_tried(question):
    arguments = set(inspect.signature(getattr(advise, question)).parameters)
    contract = files.CONTRACT[question]
    assert arguments <= set(CHECKS) | USED
    assert {*contract.needs, *contract.takes} <= arguments


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("value", ODD, ids=("object", "dictionary", "NaN", "lists"))
def test_what_is_no_value_of_any_argument_is_refused_by_name(question, value):
    for name in set(inspect.signature(getattr(advise, question)).parameters) & set(CHECKS):
        if name in ("sources", "checkpoints") and isinstance(value, dict):
            continue  # what is in them is tried on the model
        with pytest.raises(UsageError) as caught:
            ask(question, **{name: value})
        assert str(caught.value).startswith(name) and "\n" not in str(caught.value)


def raising(path):
    return path[99]


@pytest.mark.parametrize(
    ("question", "given", "message"),
    [
        ("layers", {"groups": 7}, 'groups=7: expected "layer", "block", patterns'),
        ("layers", {"groups": {"a": 3}}, "groups={'a': 3}: expected"),
        ("layers", {"groups": raising}, "test_given.py:"),
        ("layers", {"groups": raising}, "raised IndexError for 'first': string index out"),
        ("layers", {"groups": lambda path: 1.5}, "gave a float for 'first': expected the name"),
        ("layers", {"base": 3}, "base=3: expected the name of a group"),
        ("layers", {"candidates": 4}, "candidates=4: expected two or more"),
        ("layers", {"candidates": "layers/0"}, "candidates='layers/0': expected two or more"),
        ("layers", {"test": 5}, "test=5: expected a pair, (inputs, targets)"),
        ("layers", {"test": (X, X, X)}, "expected a pair"),
        ("strength", {"pulls": 1.0}, "pulls=1.0: expected a sequence of finite numbers"),
        ("strength", {"pulls": "strong"}, "pulls='strong': expected"),
        ("strength", {"pulls": [float("nan")]}, "pulls=[nan]: expected a sequence of finite"),
        ("strength", {"rate": "fast"}, "rate='fast': expected a number above 0"),
        ("strength", {"rate": -1.0}, "rate=-1: expected above 0, and up to"),
        ("length", {"noises": 0.1}, "noises=0.1: expected"),
        ("length", {"rates": "x"}, "rates='x': expected"),
        ("layers", {"seed": -1}, "seed=-1: expected a whole number from 0"),
        ("layers", {"batched": "yes"}, "batched='yes': expected True or False"),
        ("length", {"checkpoints": dict.fromkeys((-1, 2, 3), PARAMS)}, "0 or more; one is -1"),
        ("transfer", {"sources": {"no source": (X, X[:, 0])}}, "means the model as it is"),
        ("transfer", {"sources": {1: (X, X[:, 0])}}, "sources: the name 1 is no string"),
        ("layers", {"targets": ["cat"] * 24}, "targets are strings, such as 'cat': number the"),
        ("transfer", {"sources": {"a": (X, list("ab") * 12)}}, "source a: targets are strings"),
        ("layers", {"targets": [[1], [2, 3]] * 12}, "targets are rows of unequal length"),
        ("layers", {"params": "x"}, "parameter params is a str, no array"),
        ("layers", {"model": [1, 2]}, "model of type list: expected a module of Flax"),
        ("layers", {"model": {1: 1}, "params": None}, "model of type dict: expected a module"),
        ("layers", {"model": eqx.nn.MLP}, "expected a module of Flax or Equinox, or a function"),
        (
            "layers",
            {"inputs": X[:, :2], "model": lambda p, x: x @ p, "params": jnp.zeros(3)},
            "give inputs of the shape that the model takes",
        ),
    ],
)
def test_wrong_types_are_refused_in_one_line(question, given, message):
    with pytest.raises(UsageError) as caught:
        ask(question, **given)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_one_name_is_one_candidate():
    found = ask("layers", candidates={"small": "first", "none": []}, base="last")
    assert {row["tuned beside"] for row in found.table} == {"small", "none"}


def test_a_class_that_the_model_lacks_is_named():
    def two(params, x):
        return params["w"] @ x

    task = {"model": two, "params": {"w": jnp.zeros((2, 3))}, "inputs": X}
    source = {"a": (X, np.arange(24) % 2)}
    with pytest.raises(UsageError, match=r"^targets hold class 7: the model's 2 outputs"):
        ask("transfer", **task, targets=np.full(24, 7), sources=source)


def test_a_checkpoint_of_another_shape_is_no_source():
    small, wide = (eqx.nn.MLP(3, 2, w, 1, key=jax.random.key(0)) for w in (3, 4))
    with pytest.raises(UsageError, match=r"^source wide: parameters of another model than `model`"):
        ask("transfer", model=small, params=None, targets=np.arange(24) % 2, sources={"wide": wide})


FILE = """
import jax.numpy as jnp
import numpy as np

inputs = np.random.default_rng(0).normal(size=(24, 3))
targets = inputs[:, 0]
params = {"first": jnp.zeros(2), "last": jnp.zeros(1)}


def model(params, x):
    return x[:2] @ params["first"] + x[2:] @ params["last"]
"""


@pytest.mark.parametrize(
    ("line", "options", "message"),
    [
        ("groups = lambda path: path[99]", (), "mine.py:12) raised IndexError"),
        ("test = 5", (), "test=5: expected a pair"),
        ("", ("--seed", "-1"), "seed=-1: expected"),
        ("", ("--html", "/proc/x.html"), "cannot write /proc/x.html: /proc takes no new file"),
        ("", ("--plot", "/proc/x.png"), "cannot write /proc/x.png: /proc takes no new file"),
    ],
)
def test_the_command_refuses_in_one_line(tmp_path, monkeypatch, capsys, line, options, message):
    import sys

    from theorysim import cli

    path = tmp_path / "mine.py"
    path.write_text(FILE + line + "\n")
    monkeypatch.setattr(sys, "argv", ["theorysim", "advise", "layers", str(path), *options])
    with pytest.raises(SystemExit) as done:
        cli.main()
    output = capsys.readouterr()
    assert done.value.code == 2 and output.out == ""
    assert message in output.err and len(output.err.strip().splitlines()) == 1, output.err


def test_numbers_of_numpy_and_jax_are_numbers():
    found = ask("strength", pulls=np.array([0.0, 1.0]), rate=np.float32(0.1), steps=np.int64(4))
    assert json.loads(json.dumps(found.as_json()))["choice"] == found.choice
