"""What the statements on transferability share, against the oracle's loops and many digits."""

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest

from theorysim.claims import Real
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training
from validation.oracles import two_layer_relu as oracle

pytestmark = pytest.mark.usefixtures("x64")

SPACE = problem.problem_space(**training.SIZES, kappa=training.KAPPA, rate_share=Real(0.1, 0.9))


@pytest.fixture
def x(x64):
    return SPACE.sample(jax.random.key(4), SPACE.default_sizes(width=6, source_steps=5))


def printed_gram(left, right):
    """Eq. 1 to 3 in many digits; inputs are of length one up to rounding, angles exactly so."""
    with mp.workdps(40):
        rows = [[mp.mpf(float(v)) for v in row] for row in left]
        columns = [[mp.mpf(float(v)) for v in row] for row in right]

        def entry(a, b):
            inner = mp.fsum(p * q for p, q in zip(a, b, strict=True))
            cosine = inner / (mp.norm(mp.matrix(a)) * mp.norm(mp.matrix(b)))
            angle = mp.acos(min(max(cosine, mp.mpf(-1)), mp.mpf(1)))
            return inner * (mp.pi - angle) / (2 * mp.pi)

        return mp.matrix([[entry(a, b) for b in columns] for a in rows])


def test_the_transferred_labels_and_the_form_of_theorem_2(x):
    p, q = problem.source(x), problem.target(x)
    with mp.workdps(40):
        own = printed_gram(p.inputs, p.inputs)
        cross = printed_gram(p.inputs, q.inputs)
        labels = mp.lu_solve(own, mp.matrix([float(y) for y in p.labels]))
        predicted = cross.T * labels
        mismatch = mp.matrix([float(y) for y in q.labels]) - predicted
        form = (mismatch.T * mp.lu_solve(printed_gram(q.inputs, q.inputs), mismatch))[0]
    np.testing.assert_allclose(
        jax.jit(problem.transferred)(x), [float(v) for v in predicted], rtol=0, atol=1e-12
    )
    found = jax.jit(lambda x: problem.form(problem.target_gram(x), problem.mismatch(x)))(x)
    assert float(found) == pytest.approx(float(form), rel=1e-11)


def test_both_stages_take_the_printed_steps(x):
    network = training.started(x, jax.random.key(0))
    path = jax.jit(training.paths)(x, network)
    weights, signs = np.asarray(network.weights), np.asarray(network.signs)
    rates = problem.stable_rates(x)
    for task, rate, found in zip(
        (problem.source(x), problem.target(x)), rates, (path.source, path.target), strict=True
    ):
        inputs, labels = np.asarray(task.inputs), np.asarray(task.labels)
        weights = oracle.descent(weights, signs, inputs, labels, float(rate), len(found) - 1)
        np.testing.assert_allclose(found[-1], weights, rtol=0, atol=1e-13)


def test_features_are_the_blocks_of_eq_6(x):
    network, inputs = training.started(x, jax.random.key(1)), problem.source(x).inputs
    z = np.asarray(training.features(network.weights, network.signs, inputs))
    for i, row in enumerate(np.asarray(inputs)):
        on = (np.asarray(network.weights) @ row >= 0) * np.asarray(network.signs)
        block = np.outer(on, row) / np.sqrt(x.width)
        np.testing.assert_allclose(z[:, i], block.ravel(), rtol=0, atol=1e-15)
    gram = oracle.gram(network.weights, np.asarray(inputs), network.weights, np.asarray(inputs))
    np.testing.assert_allclose(z.T @ z, gram, rtol=0, atol=1e-14)
    outputs = oracle.outputs(np.asarray(network.weights), network.signs, np.asarray(inputs))
    np.testing.assert_allclose(z.T @ training.vec(network.weights), outputs, rtol=0, atol=1e-13)


def test_parallel_inputs_are_no_instance(x):
    """Where lambda_P = 0 the hypothesis fails."""
    twins = x.replace(source_scatter=jnp.zeros_like(x.source_scatter))
    margin = problem.REGULAR_SOURCE.hypotheses["lambda_P > 0"]
    assert float(margin(x)) > 0
    assert float(margin(twins)) < 0
