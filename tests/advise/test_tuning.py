"""Whether tuning came to its end, and tuning that would take too long."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from drawn import one_in, thorough

from theorysim import advise
from theorysim.advise import budget, tuning
from theorysim.advise.problem import as_inputs, problem
from theorysim.advise.sensitivity import Change
from theorysim.advise.subject import subject
from theorysim.advise.tuning import CHOOSING, FALLING, LOOKS, tune
from theorysim.errors import SizeError, UsageError

RNG = np.random.default_rng(0)
X, OTHERS = RNG.normal(size=(2, 40, 3))
WANTED = np.array([3.0, 0.0, 0.0])
PARAMS = {"useful": jnp.zeros(1), "idle": jnp.zeros(1), "head": jnp.zeros(1)}
TASK = {"inputs": X, "targets": X @ WANTED, "test": (OTHERS, OTHERS @ WANTED), "params": PARAMS}


def model(params, x):
    return x[:1] @ params["useful"] + x[1:2] @ params["idle"] + x[2:] @ params["head"]


def adam(rate):
    """Where Adam starts, and one step of it: new weights and memory."""
    rule = optax.adam(rate)

    @jax.jit
    def step(slope, memory, weights):
        change, memory = rule.update(slope, memory)
        return optax.apply_updates(weights, change), memory

    return rule.init, step


def plain_curve(columns, rate, steps, seed=0):
    """Losses of the examples that choose, by Adam on these columns alone, in double precision."""
    drawn = np.random.default_rng((seed, 0)).permutation(len(X))
    count = round(CHOOSING * len(X))
    choose, fit = drawn[:count], drawn[count:]
    start, step = adam(rate)
    weights = jnp.zeros(len(columns))
    memory, curve = start(weights), []
    for _ in range(steps + 1):
        gap = X[:, columns] @ np.asarray(weights) - X @ WANTED
        curve.append(np.mean(gap[choose] ** 2))
        slope = np.float32(2 * X[fit][:, columns].T @ gap[fit] / len(fit))
        weights, memory = step(slope, memory, weights)
    return np.array(curve)


def still_falls(curve):
    """By how much the last quarter betters what came before, as a share of all that is gained."""
    looks = curve[:: len(curve) // LOOKS]
    early, least = looks[: 1 + LOOKS * 3 // 4].min(), looks.min()
    return (early - least) / max(curve[0] - least, 1e-30) > FALLING


@pytest.mark.parametrize(
    ("steps", "rate"), [(40, 0.01), thorough(100, 0.03), thorough(200, 0.05), (600, 0.1)]
)
def test_runs_that_still_fall_are_those_of_plain_descent(steps, rate):
    found = subject(model, as_inputs(X), PARAMS)
    task = problem(found, as_inputs(X), X @ WANTED, TASK["test"])
    groups = [("useful", "head"), ("idle", "head"), ("idle",)]
    run = tune(task, groups, 1, steps, (rate,))
    for place, columns in enumerate(([0, 2], [1, 2], [1])):
        assert run.unfinished[place, 0] == still_falls(plain_curve(columns, rate, steps)), columns


def measured(steps, rates=(0.05,)):
    return advise.layers(
        model, **TASK, base="head", measure=True, seeds=2, steps=steps, rates=rates
    )


def test_unfinished_tuning_is_told_for_each_candidate_and_ended_tuning_is_not():
    short, long = measured(40), measured(1000)
    rows = {row["tuned beside"]: row for row in short.table}
    check = "tuning came to its end in 40 steps"
    (told,) = [one for one in short.checks if one.what == check]
    assert rows["useful"]["unfinished"] == 2 and told.met is False
    assert "useful (2 of 2)" in told.told and "--steps" in told.told
    assert " finished in 40 steps, so that what was measured may rank by speed" in short.answer
    # More steps make another risk of what was unfinished.
    after = {row["tuned beside"]: row["measured"].value for row in long.table}
    assert after["useful"] < 0.01 * rows["useful"]["measured"].value
    (told,) = [one for one in long.checks if one.what.startswith("tuning came to its end")]
    assert told.met is True and "rank by speed" not in long.answer
    assert not any(row["unfinished"] for row in long.table)


def test_unfinished_tuning_from_sources_is_told():
    sources = {"opposite": (OTHERS, -OTHERS @ WANTED)}
    found = advise.transfer(model, sources, **TASK, measure=True, seeds=1, steps=20, rates=(1e-3,))
    (told,) = [one for one in found.checks if one.what == "tuning came to its end in 20 steps"]
    assert told.met is False and "no source (1 of 1)" in told.told
    assert "no tuning was finished in 20 steps" in found.answer


def slow_part(steps, rate, weights):
    """The share of all that the squared loss of a weight 3 falls by, by Adam, in a quarter."""
    (start, step), weight = adam(rate), jnp.asarray(weights)
    memory, curve = start(weight), []
    for _ in range(steps + 1):
        gap = X @ np.asarray(weight) - X @ WANTED
        curve.append(float(np.mean(gap**2)))
        weight, memory = step(np.float32(2 * X.T @ gap / len(X)), memory, weight)
    late = steps - steps // 4
    return (curve[late] - curve[-1]) / (curve[0] - curve[-1])


# From half of 2200 on it fell.
@pytest.mark.parametrize("steps", [100, 2200, thorough(3000)])
def test_unfinished_pretraining_is_told(steps):
    sources = {"the same": (X, X @ WANTED)}
    found = advise.transfer(
        model, sources, **TASK, measure=True, seeds=1, steps=steps, rates=(0.05,)
    )
    (told,) = [one for one in found.checks if one.what.startswith("pretraining came to its end")]
    assert told.met == (slow_part(steps, tuning.RATES[0], np.zeros(3)) <= FALLING)
    assert ("the same (1 of 1)" in told.told) == (not told.met) == (steps == 100)


@pytest.mark.parametrize("steps", [40, thorough(1000)])
def test_unfinished_fine_tuning_of_checkpoints_is_told(steps):
    # On the examples it is tuned for, which are held out at random, too: one linear task.
    new = (OTHERS, OTHERS @ WANTED)
    found = advise.length(
        model, STAGES, X, X @ WANTED, params=PARAMS, new=new, rates=(0.05,), steps=steps, seeds=2
    )
    (told,) = [one for one in found.checks if one.what.startswith("fine-tuning on the new task")]
    assert told.what.endswith(f", tuned at 0.05, came to its end in {steps} steps")
    assert told.met == (steps == 1000) == (slow_part(steps, 0.05, [0.0, 1.0, 0.0]) <= FALLING)
    assert all(f"checkpoint {at} (2 of 2)" in told.told for at in STAGES) == (steps == 40)


def test_what_only_rises_is_not_unfinished():
    # By 1 of 2, by .02 of 1.02, by .005 of 1.005, not at all, to more, from less than before.
    curves = [(3, 2, 1), (2, 1, 0.98), (2, 1, 0.995), (1, 1, 1), (1, 1.2, 1.5), (1, 2, 1.5)]
    found = tuning.falls(*np.array(curves, float).T)
    assert found.tolist() == [True, True, False, False, False, False]


def cubed(params, x):
    return (x @ params["a"]) ** 3 @ params["h"]


CUBED = {
    at: {"a": jnp.full((3, 2), 0.1 * at), "h": jnp.asarray([[1.0], [0.5]])} for at in (1, 2, 3)
}
OLD = {"inputs": X, "targets": X @ WANTED, "params": CUBED[1], "seeds": 2, "steps": 20}


def test_rates_at_which_fine_tuning_diverges_are_left_out():
    new = (X, X[:, 0])
    found = advise.length(cubed, CUBED, **OLD, new=new, rates=(1e9, 1e-3))
    assert "tuned at 0.001" in found.answer and "tuned at 1e+09" not in found.answer
    assert "left out: tuned at 1e+09, where fine-tuning diverged" in found.notes
    with pytest.raises(UsageError, match=r"diverged \(tuned at 1e\+09\): give smaller rates="):
        advise.length(cubed, CUBED, **OLD, new=new, rates=(1e9,))


def test_the_rate_of_least_loss_is_advised_and_any_run_that_diverges_counts():
    new = (X, X[:, 0])
    for rates in ((1e-3, 1e-2), (1e-2, 1e-3)):
        found = advise.length(cubed, CUBED, **OLD, new=new, rates=rates)
        rows = [row for row in found.table if row["new loss"] is not None]
        assert found.choice == min(rows, key=lambda row: row["new loss"].value)["change"]
        assert len({row["new loss"].value for row in rows}) == 2
    for new in (None, np.array([[1.0, np.inf], [1.0, 1.0]]), np.ones((2, 2))):
        for old in (np.array([[1.0, 1.0], [np.nan, 1.0]]), np.ones((2, 2))):
            change = Change("a", old, None, new)
            assert change.is_finite == all(
                np.isfinite(p).all() for p in (old, new) if p is not None
            )


def test_a_checkpoint_without_a_loss_is_named():
    stages = {**CUBED, 4: {"a": jnp.full((3, 2), 1e5), "h": jnp.full((2, 1), 1e6)}}
    with pytest.raises(UsageError, match="checkpoint 4: its loss on the old task is not finite"):
        advise.length(cubed, stages, **OLD)


def test_noise_beyond_all_numbers_is_refused():
    with pytest.raises(UsageError, match=r"noise 1e\+12: losses are no longer finite"):
        advise.length(cubed, CUBED, **OLD, noises=(0.1, 1e12))


def test_fine_tuning_that_only_harms_is_called_so():
    """Tuned on targets of noise: all that is learnt is wrong on held-out inputs."""
    start = {at: {"w": 1e-3 * at * jnp.ones(30)} for at in (1, 2, 3)}
    rng = np.random.default_rng(1)
    new = rng.normal(size=(24, 30)), rng.normal(size=24)
    old = rng.normal(size=(20, 30)), rng.normal(size=20)
    given = {"params": start[1], "new": new, "seeds": 2, "steps": 200, "rates": (0.05,)}
    found = advise.length(lambda p, x: x @ p["w"], start, *old, **given)
    row = found.table[-1]
    assert row["new loss"].value > row["new untuned"]
    assert f"{row['new untuned']:.3g} without fine-tuning, which only harms" in found.answer


STAGES = {at: {**PARAMS, "idle": jnp.full(1, float(at))} for at in (1, 2, 3)}
LONG = {
    "layers": {"measure": True, "steps": 10**7},
    "transfer": {"measure": True, "steps": 10**7, "sources": {"s": (OTHERS, OTHERS[:, 0])}},
    "strength": {"steps": 10**7},
    "length": {"steps": 10**7, "checkpoints": STAGES, "new": (OTHERS, OTHERS[:, 0])},
}


def ask(question, **given):
    task = {**TASK, **given}
    if question == "length":
        task.pop("test")
    return getattr(advise, question)(model, **task)


@pytest.mark.parametrize("question", one_in(2, LONG))
def test_steps_that_take_too_long_are_refused_soon(question, monkeypatch):
    # However fast this machine is: 10^7 steps of anything take more than five seconds.
    monkeypatch.setattr(budget, "LONGEST", 5.0)
    begun = time.perf_counter()
    with pytest.raises(SizeError, match=r"steps would take .* hours here, the limit is 0.0014: "):
        ask(question, **LONG[question])
    assert time.perf_counter() - begun < 120


@pytest.mark.parametrize("question", LONG)
def test_absurd_budgets_are_refused_by_value_and_limit(question):
    for steps in (10**7 + 1, 10**9, 10**30):
        message = f"^steps={steps}: expected a whole number up to 10000000"
        with pytest.raises(UsageError, match=message):
            ask(question, **{**LONG[question], "steps": steps})
    if question != "strength":
        with pytest.raises(UsageError, match=r"^seeds=1000000000: expected a number of draws, up"):
            ask(question, **{**LONG[question], "seeds": 10**9})
    name = {"strength": "pulls"}.get(question, "rates")
    with pytest.raises(UsageError, match=f"^{name}: 65 values, at most 64"):
        ask(question, **{**LONG[question], name: np.linspace(0.1, 1, 65)})


def test_the_estimate_is_what_the_steps_take(monkeypatch):
    """Work that sleeps a known time per step."""

    def run(count):
        time.sleep(count * 2e-4)
        return jnp.zeros(())

    whole = budget.FREE + 1
    needed = whole * 2e-4
    monkeypatch.setattr(budget, "LONGEST", 3 * needed)
    budget.check_time(run, whole, "remedy")
    monkeypatch.setattr(budget, "LONGEST", 0.9 * needed)
    with pytest.raises(SizeError, match=f"^{whole:,} steps would take .*: remedy$"):
        budget.check_time(run, whole, "remedy")
    budget.check_time(lambda count: pytest.fail("timed"), budget.FREE, "remedy")


def test_default_budgets_are_not_timed():
    most = 64 * 3 * 3 * 300  # candidates, seeds, rates and steps of `layers`
    assert most <= budget.FREE and len(tuning.RATES) == 3
