"""Notes explain the columns that a table has: each of them, and no others."""

import jax.numpy as jnp
import numpy as np
import pytest
from drawn import one_in

from theorysim import advise

X = np.random.default_rng(0).normal(size=(40, 4))
PARAMS = {"first": jnp.zeros(2), "head": jnp.zeros(2)}
CHECKPOINTS = {step: {**PARAMS, "head": jnp.full(2, 0.1 * step)} for step in (1, 2, 3)}
TWO = {"first": jnp.ones((2, 2)), "head": jnp.zeros((2, 2))}

EVER = {
    "layers": {"parameters", "left out", "predicted", "eta", "bend", "measured"},
    "transfer": {
        *("start loss", "movement", "steps", "measured steps", "left out", "predicted"),
        "measured",
    },
    "strength": {
        *("lambda", "predicted", "trusted to", "bound to", "best step", "distance", "measured"),
        "straight to",
    },
    "length": {"turns at", "from", "to", "predicted", "two-layer", "least loss", "new loss"},
}
"""All columns of numbers that a question's tables have had"""


def model(params, x):
    return x[:2] @ params["first"] + x[2:] @ params["head"]


QUICK = {"measure": True, "seeds": 1, "steps": 20, "rates": (0.02,)}
ASKED = {
    "layers": ("layers", {}),
    "layers, measured": ("layers", QUICK),
    "transfer": ("transfer", {"sources": {"a": (X, X[:, 1])}}),
    "transfer, measured": ("transfer", {"sources": {"a": (X, X[:, 1])}, **QUICK}),
    "checkpoints": ("transfer", {"sources": {"a": CHECKPOINTS[1]}}),
    "strength": ("strength", {"steps": 5}),
    "strength, measured": ("strength", {"steps": 5, "measure": True}),
    "strength of classes": (
        "strength",
        {
            "steps": 5, "params": TWO, "targets": np.arange(40) % 2,
            "model": lambda p, x: x[:2] @ p["first"] + x[2:] @ p["head"],
        },
    ),
    "length": ("length", {"checkpoints": CHECKPOINTS, "seeds": 2}),
    "length, tuned": (
        "length",
        {"checkpoints": CHECKPOINTS, "seeds": 2, "new": (X, X[:, 1]), "steps": 2},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(3, ASKED))
def test_each_column_is_explained_and_no_other(name):
    question, given = ASKED[name]
    task = {"model": model, "params": PARAMS, "inputs": X, "targets": X[:, 0]}
    found = getattr(advise, question)(**{**task, **given})
    parts = {part for note in found.notes for part in note.split("; ")}
    told = {column for column in EVER[question] if any(p.startswith(f"{column}: ") for p in parts)}
    shown = set(found.columns[1:] if question != "strength" else found.columns)
    assert shown <= EVER[question]
    assert told == shown
