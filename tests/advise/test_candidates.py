"""What is given twice is refused: parameters, groups, candidates, sources, checkpoints, values."""

import time

import jax.numpy as jnp
import numpy as np
import pytest

from theorysim import advise
from theorysim.advise.groups import assign, shared
from theorysim.errors import UsageError

X = np.random.default_rng(0).normal(size=(24, 3))
PARAMS = {"a": jnp.zeros(1), "b": jnp.zeros(1), "head": jnp.zeros(1)}
PATHS = ["a", "b", "head"]


def model(params, x):
    return x[:1] @ params["a"] + x[1:2] @ params["b"] + x[2:] @ params["head"]


def ask(question, **given):
    plain = {"model": model, "inputs": X, "targets": X[:, 0], "params": PARAMS}
    return getattr(advise, question)(**{**plain, **given})


def scaled(factor):
    return {name: leaf + factor for name, leaf in PARAMS.items()}


SAME = {"one": (X, X[:, 0]), "two": (X.copy(), X[:, 0].copy()), "three": (X, X[:, 1])}


@pytest.mark.parametrize(
    ("question", "given", "message"),
    [
        (
            "layers",
            {"groups": {"x": "a", "y": ["a"], "head": "head"}},
            "group 'y': all that it matches is in x already",
        ),
        ("layers", {"groups": {"x": "a", "y": [], "head": "head"}}, "'y': it has no pattern"),
        ("layers", {"candidates": ["a", ["a"], "b"]}, "candidates: a is named twice"),
        ("layers", {"candidates": [["a", "a"], ["b"]]}, "a + a names 'a' twice"),
        (
            "layers",
            {"candidates": {"one": ["a", "b"], "two": ["b", "a"]}},
            "'one' and 'two' tune the same groups (a + b + head)",
        ),
        # The base is tuned anyway.
        (
            "layers",
            {"candidates": [["a", "head"], ["a"]]},
            "candidates: 'a + head' and 'a' tune the same groups (a + head)",
        ),
        ("layers", {"base": ["head", "head"]}, "base: head + head names 'head' twice"),
        ("transfer", {"sources": SAME}, "sources: one and two hold the same numbers"),
        (
            "transfer",
            {"sources": {"itself": scaled(0.0), "other": scaled(1.0)}},
            "sources: no source and itself hold the same numbers",
        ),
        (
            "length",
            {"checkpoints": {1: PARAMS, 2: scaled(1.0), 5: scaled(1.0)}},
            "checkpoints: 2 and 5 hold the same numbers",
        ),
        (
            "length",
            {"checkpoints": {1: 1, 2: 2, 3: 3}, "noises": (0.1, 0.2, 0.1)},
            "noises=(0.1, 0.2, 0.1): expected numbers above 0, one or more, each once",
        ),
        ("layers", {"rates": [0.1, 0.1]}, "rates=[0.1, 0.1]: expected numbers above 0, one or"),
    ],
)
def test_what_is_given_twice_is_refused_in_one_line(question, given, message):
    with pytest.raises(UsageError) as caught:
        ask(question, **given)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_what_several_patterns_match_belongs_to_the_first_and_is_told():
    patterns = {"first": "a", "rest": "*"}
    assert assign(PATHS, patterns) == {"a": "first", "b": "rest", "head": "rest"}
    (note,) = shared(PATHS, patterns)
    assert note == "of what rest matches, a belongs to first, which is named before"
    assert shared(PATHS, {"first": "a", "rest": ["b", "head"]}) == []
    assert note in ask("layers", groups=patterns).notes


def test_a_group_counts_once_beside_a_base_that_has_it():
    """Predicted as without its second name: kernels that add up would count it twice."""
    named = ask("layers", candidates=[["a", "head"], ["b"]])
    plain = ask("layers", candidates=[["a"], ["b"]])
    assert [r["predicted"] for r in named.table] == [r["predicted"] for r in plain.table]


def test_more_combinations_than_are_compared_are_counted_not_made():
    begun = time.perf_counter()
    many = {f"g{i}": jnp.zeros(1) for i in range(60)}

    def wide(params, x):
        return sum(x[:1] @ leaf for leaf in params.values())

    # All but the base, in combinations of up to so many: 2^59 - 1.
    with pytest.raises(UsageError, match=f"^{2**59 - 1} candidates: at most 64"):
        ask("layers", model=wide, params=many, together=10**9)
    assert time.perf_counter() - begun < 60
