"""The predicted transfer against exact special cases, real networks, and what users do wrong."""

import numpy as np
import pytest

import theorysim
from validation.oracles import two_layer_relu as oracle


def units(count, dimension=4, seed=0):
    rows = np.random.default_rng(seed).normal(size=(count, dimension))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


INPUTS, OTHERS = units(4), units(3, seed=1)
LABELS, OTHER_LABELS = np.array([0.9, -0.4, 0.2, -1.0]), np.array([0.5, -0.8, 0.1])


def gram(left, right):
    """Eq. 1 to 3 as printed."""
    cosine = np.clip(left @ right.T, -1, 1)
    return cosine * (np.pi - np.arccos(cosine)) / (2 * np.pi)


def test_the_same_task_again_needs_nothing():
    found = theorysim.task_similarity(INPUTS, LABELS, INPUTS, LABELS)
    assert found.similarity < 1e-12 and found.movement < 1e-12
    assert found.scratch_similarity == pytest.approx(np.linalg.norm(LABELS), rel=1e-15)


def test_the_opposite_task_is_twice_as_far():
    found = theorysim.task_similarity(INPUTS, -LABELS, INPUTS, LABELS)
    assert found.similarity == pytest.approx(2 * found.scratch_similarity, rel=1e-12)
    assert found.movement == pytest.approx(2 * found.scratch_movement, rel=1e-12)


def test_the_printed_formulas():
    found = theorysim.task_similarity(INPUTS, LABELS, OTHERS, OTHER_LABELS)
    predicted = gram(INPUTS, OTHERS).T @ np.linalg.solve(gram(INPUTS, INPUTS), LABELS)
    mismatch = OTHER_LABELS - predicted
    np.testing.assert_allclose(found.mismatch, mismatch, atol=1e-7)
    form = mismatch @ np.linalg.solve(gram(OTHERS, OTHERS), mismatch)
    assert found.movement == pytest.approx(np.sqrt(form), rel=1e-6)
    assert found.start_loss == pytest.approx(mismatch @ mismatch / 2, rel=1e-6)
    assert "from scratch" in str(found)


def test_finite_steps_against_a_linear_model_in_many_digits():
    report = theorysim.transfer_report(
        INPUTS, LABELS, OTHERS, OTHER_LABELS, width=8, seeds=1, steps=(7, 5), scale=100.0
    )
    inputs = np.concatenate([INPUTS, OTHERS])
    exact = oracle.two_stages(
        gram(inputs, inputs),
        np.zeros(7),
        LABELS,
        OTHER_LABELS,
        report.learning_rates,
        report.steps,
    )
    before = OTHER_LABELS - exact["pretrained_target"]
    after = OTHER_LABELS - exact["target_outputs"]
    assert report.predicted_start_loss == pytest.approx(before @ before / 2, rel=1e-6)
    assert report.predicted_end_loss == pytest.approx(after @ after / 2, rel=1e-5)


def test_wide_networks_do_what_is_predicted():
    errors = []
    for width in (64, 4096):
        found = theorysim.transfer_report(
            INPUTS, LABELS, OTHERS, OTHER_LABELS, width=width, seeds=8, steps=(20, 20)
        )
        errors.append(np.sqrt(np.mean((found.movements - found.predicted_movement) ** 2)))
    assert errors[1] < errors[0] / 3  # 1/sqrt(m) makes it a factor of 8
    assert errors[1] < 0.05 * found.predicted_movement
    assert np.all(found.end_losses < found.start_losses)
    assert "width 4096, 8 seeds" in str(found)


TWICE = np.concatenate([INPUTS[:1], INPUTS[:1], INPUTS[1:3]])
AXES = np.concatenate([np.eye(2), -np.eye(2), [[0.6, 0.8], [-0.6, -0.8]]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source_inputs": TWICE}, "source task: inputs 0 and 1 coincide"),
        ({"target_inputs": 2 * OTHERS}, "target task: input . has length 2"),
        ({"target_labels": 3 * OTHER_LABELS}, "target task: label 0 is 1.5"),
        ({"target_labels": OTHER_LABELS[:2]}, "target task: expected inputs"),
        ({"target_inputs": units(3, 5)}, "dimension 4, target inputs 5"),
        (
            {"source_inputs": AXES, "source_labels": np.zeros(6), "target_inputs": units(3, 2)},
            "source task: the Gram matrix is singular: smallest eigenvalue",
        ),
        ({"learning_rates": (0.1, 50.0)}, "target task: learning rate 50 exceeds 2/lambda_max"),
        ({"width": 7}, "width 7 must be even"),
        ({"steps": (0, 5)}, "at least one"),
    ],
)
def test_what_users_do_wrong_is_named(change, message):
    given = {
        "source_inputs": INPUTS,
        "source_labels": LABELS,
        "target_inputs": OTHERS,
        "target_labels": OTHER_LABELS,
        "width": 8,
        "seeds": 1,
        "steps": (2, 2),
        **change,
    }
    with pytest.raises(ValueError, match=message):
        theorysim.transfer_report(**given)


def test_divergence_of_a_real_network_is_named():
    """Two units feel a larger curvature than infinite width."""
    small = {"width": 2, "seeds": 8, "steps": (1, 1), "scale": 30.0}
    message = "source task at width 2 .wider is stabler.: gradient descent diverged"
    with pytest.raises(ValueError, match=message):
        theorysim.transfer_report(INPUTS, LABELS, OTHERS, OTHER_LABELS, **small)
