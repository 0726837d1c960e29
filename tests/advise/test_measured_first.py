"""What is measured best is advised, whatever a score promised."""

import numpy as np

from tests.advise.test_advice import PARAMS, SOURCES, TASK, USEFUL, X, model
from theorysim import advise
from theorysim.advise import layer_choice, source_choice
from theorysim.advise.source_choice import SCRATCH
from theorysim.advise.tuning import Tuned

SHORT = {"measure": True, "seeds": 1, "steps": 40, "rates": (0.05,)}


def with_risks(risks):
    """As if candidates of these risks had been tuned, with one seed."""
    losses = np.tile(np.reshape(risks, (-1, 1, 1)), (1, 1, len(TASK["test"][0])))
    each = np.zeros(losses.shape[:2])
    return Tuned(losses, 0 * losses, each, each, each > 0, 40)


def test_of_layers(monkeypatch):
    def tune(task, candidates, *budget):
        return with_risks([0.5 if groups == ("z_head", "idle") else 1.0 for groups in candidates])

    assert advise.layers(model, **TASK, params=PARAMS).choice != "idle"
    monkeypatch.setattr(layer_choice, "tune", tune)
    found = advise.layers(model, **TASK, params=PARAMS, **SHORT)
    assert found.choice == found.table[0]["tuned beside"] == "idle"
    assert found.answer.startswith("Tune idle beside z_head")
    assert "puts useful first, measured" in found.answer and "worse" in found.answer


def test_of_sources(monkeypatch):
    risks = {SCRATCH: 1.0, "the same": 2.0, "opposite": 0.5, "unrelated": 3.0}
    few = {**TASK, "inputs": X[20:30], "targets": USEFUL[20:30]}
    monkeypatch.setattr(source_choice, "tune", lambda *_: with_risks(list(risks.values())))
    found = advise.transfer(model, SOURCES, **few, params=PARAMS, by="start", **SHORT)
    assert found.choice == "opposite"
    assert [row["source"] for row in found.table] == sorted(risks, key=risks.__getitem__)
    assert found.table[0]["measured"].value == 0.5
