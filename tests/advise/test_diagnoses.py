"""A model or data that cannot be used: one line that names the cause, the place, the remedy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import one_in, thorough

from theorysim import advise
from theorysim.advise.problem import ROOM, as_inputs, problem
from theorysim.advise.subject import subject
from theorysim.advise.tuning import tune
from theorysim.errors import UsageError

RNG = np.random.default_rng(0)
X = 1 + RNG.uniform(size=(24, 3))
PARAMS = {"a": {"w": jnp.ones((3, 2))}, "b": {"w": jnp.ones((2, 1))}}
STAGES = {at: {**PARAMS, "b": {"w": jnp.full((2, 1), float(at))}} for at in (1, 2, 3)}
HERE = "test_diagnoses.py"


def plain(params, x):
    return jnp.tanh(x @ params["a"]["w"]) @ params["b"]["w"]


def ask(question, model=plain, **given):
    task = {"inputs": X, "targets": X[:, 0], "params": PARAMS}
    return getattr(advise, question)(model, **{**task, **given})


def refusal(question, model=plain, **given):
    with pytest.raises(UsageError) as caught:
        ask(question, model, **given)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("batched", [None, True, False])
def test_a_model_without_numbers_is_told_so_and_not_to_mix_its_batch(batched):
    def rooted(params, x):
        return jnp.sqrt(plain(params, x) - 100)

    told = refusal("layers", rooted, batched=batched)
    assert told.startswith("the model returns NaN or infinity for the first two inputs: look for")


QUESTIONS = {
    "layers": {},
    "strength": {},
    "transfer": {"sources": {"s": (X[:8], X[:8, 1])}},
    "length": {"checkpoints": STAGES},
}


@pytest.mark.parametrize("question", one_in(3, QUESTIONS))
def test_a_later_input_without_a_number_is_shown(question):
    odd = X.copy()
    odd[7] = [-5, 6.25, -7]

    def rooted(params, x):
        return plain(params, x) * jnp.sqrt(x[..., :1])

    given = {"inputs": odd, "test": (X, X[:, 0]), **QUESTIONS[question]}
    if question == "length":
        given.pop("test")
    told = refusal(question, rooted, **given)
    assert "NaN or infinity for 1 of 24 " in told and "such as [-5, 6.25, -7]: look for" in told


def test_a_held_out_input_and_a_source_and_new_ones_are_named():
    def rooted(params, x):
        return plain(params, x) * jnp.sqrt(x[..., :1])

    bad = (-X, X[:, 0])
    assert "for 24 of 24 held-out inputs" in refusal("layers", rooted, test=bad)
    told = refusal("transfer", rooted, sources={"minus": bad})
    assert told.startswith("source minus: the model returns NaN or infinity for 24 of 24")
    told = refusal("length", rooted, checkpoints=STAGES, new=bad)
    assert "18 of 18 inputs of new at checkpoint 1" in told


def test_tuning_that_no_rate_would_help_is_not_said_to_diverge():
    """Kernels see few inputs; tuning all of them."""
    odd = np.concatenate([X, -X[:1]])

    def rooted(params, x):
        return plain(params, x) * jnp.sqrt(x[..., :1])

    found = subject(rooted, as_inputs(odd), PARAMS)
    task = problem(found, as_inputs(odd), odd[:, 0], (X, X[:, 0]))
    with pytest.raises(UsageError, match="for 1 of 25 training inputs"):
        tune(task, [("a",)], 1, 20)


def test_a_derivative_without_a_number_is_told_apart_from_too_large_numbers():
    zero = X.copy()
    zero[4] = 0

    def norm(params, x):
        return jnp.sqrt(jnp.sum((x @ params["a"]["w"]) ** 2)) * params["b"]["w"].sum()

    told = refusal("layers", norm, inputs=zero, test=(X, X[:, 0]))
    assert "the kernel of a is not finite: the outputs are, but not their derivatives" in told
    assert "such as [0, 0, 0], as of a root or a norm at 0" in told
    assert "scale them to about 1" in refusal("layers", inputs=X * 1e37)


def with_numpy(params, x):
    return jnp.asarray(np.tanh(np.asarray(x @ params["a"]["w"]))) @ params["b"]["w"]


def with_numpy_of_inputs(params, x):
    return plain(params, jnp.asarray(np.log(np.asarray(x))))


def with_if(params, x):
    out = plain(params, x)
    return out if out.sum() > 0 else -out


def with_float(params, x):
    return plain(params, x) * float(params["b"]["w"][0, 0])


def with_index(params, x):
    return plain(params, x) * [1.0, 2.0][params["b"]["w"][0, 0].astype(int)]


def with_mask(params, x):
    out = x @ params["a"]["w"]
    return out[out > 0].sum() * params["b"]["w"].sum()


@pytest.mark.parametrize(
    ("model", "kind", "remedy"),
    [
        (with_numpy, "TracerArrayConversionError", "use jax.numpy (jnp) there"),
        (with_numpy_of_inputs, "TracerArrayConversionError", "use jax.numpy (jnp) there"),
        (with_if, "TracerBoolConversionError", "use jnp.where or jax.lax.cond there"),
        (with_float, "ConcretizationTypeError", "keep the number an array of JAX there"),
        (with_index, "TracerIntegerConversionError", "keep the number an array of JAX there"),
        (with_mask, "NonConcreteBooleanIndexError", "keep the number an array of JAX there"),
    ],
)
@pytest.mark.parametrize("batched", [None, True, False])
def test_a_model_that_leaves_jax_is_told_where_and_what_to_use(model, kind, remedy, batched):
    told = refusal("layers", model, batched=batched)
    first = model.__code__.co_firstlineno
    lines = [f"{HERE}:{line}, `" for line in range(first + 1, first + 4)]
    assert f"it leaves JAX ({kind}) at " in told and any(line in told for line in lines)
    assert remedy in told and "shape that the model takes" not in told


def test_a_model_of_chance_is_told_so_and_not_to_mix_its_batch():
    def drawn(params, x):
        return plain(params, x) + RNG.normal()

    assert "gives other outputs when it is called again" in refusal("layers", drawn)


def test_a_model_of_one_input_that_takes_two_for_one_has_its_remedy():
    def first(params, x):
        return plain(params, x) * x[0]

    assert refusal("layers", first).endswith("or batched=False if it takes one input")
    assert ask("layers", first, batched=False).choice


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ((X, X[:9, 0]), "targets of new of shape (9,) for 24 inputs: one for each"),
        ((X, np.full(24, np.nan)), "targets of new hold NaN or infinity"),
        thorough((X, ["x"] * 24), "targets of new are strings"),
        ((X, np.arange(24)), "targets of new are classes, but the model has one output"),
        thorough((X, X), "targets of new of shape (24, 3): the model has 1 outputs"),
        thorough((X, 1e300 * X[:, 0]), "targets of new hold 1.98e+300: at most"),
        ((X[:4], X[:4, 0]), "new: 3 training and 1 held-out examples"),
        ((np.full((24, 3), np.inf), X[:, 0]), "inputs of new hold NaN or infinity"),
        thorough((["a"] * 24, X[:, 0]), "inputs of new have type"),
    ],
)
def test_errors_in_new_name_it(new, message):
    assert refusal("length", checkpoints=STAGES, new=new).startswith(message)


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ((X, X[:9, 0]), "targets of test of shape (9,) for 24 inputs"),
        ((X, 1e300 * X[:, 0]), "targets of test hold 1.98e+300: at most"),
        ((np.full((24, 3), np.nan), X[:, 0]), "inputs of test hold NaN"),
    ],
)
def test_errors_in_test_name_it(test, message):
    assert refusal("layers", test=test).startswith(message)


LARGEST = float(np.sqrt(np.finfo(np.float32).max / ROOM))


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("size", [1e300, thorough(1e30), thorough(1.01 * LARGEST)])
def test_targets_whose_squares_overflow_are_refused_with_the_limit(question, size):
    targets = np.where(np.arange(24) == 3, -size, 1.0)
    told = refusal(question, targets=targets, **QUESTIONS[question])
    assert told.startswith(f"targets hold {size:.3g}: at most {LARGEST:.3g} in size")
    assert "divide them by their standard deviation" in told
    if question == "transfer":
        told = refusal("transfer", sources={"big": (X, targets)})
        assert told.startswith("source big: targets hold")


def test_targets_below_the_limit_have_finite_risks_measured_and_predicted():
    targets = 0.9 * LARGEST * (X[:, 0] - 1)
    found = ask("layers", targets=targets, measure=True, seeds=1, steps=20, rates=(0.01,))
    for row in found.table:
        assert np.isfinite(row["predicted"].value) and np.isfinite(row["measured"].value)
    assert max(map(len, found.answer.split())) < 20, "numbers of thirty digits are not read"


def test_numbers_that_the_precision_does_not_hold_are_refused():
    with pytest.raises(UsageError, match=r"^inputs hold -1e\+200: float32 takes up to 3\.4e\+38"):
        as_inputs(np.array([[1.0], [-1e200]]))
    with pytest.raises(UsageError, match=r"^inputs hold 1.1e\+12: int32 takes up to 2.15e\+09"):
        as_inputs(np.array([1, 2**40]))
    np.testing.assert_array_equal(as_inputs(np.array([1, 2**31 - 1])), [1, 2**31 - 1])
    assert jax.dtypes.canonicalize_dtype(np.int64) == np.int32
