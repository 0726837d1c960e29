"""Rank correlations of this run: only over enough things, and beside what chance gives."""

from math import factorial

import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough
from scipy import stats

from theorysim import advise
from theorysim.advise.ranks import COUNTED, FEWEST, RARE, agreement

X = np.random.default_rng(0).normal(size=(40, 6))
WEIGHTS = np.array([5.0, 4.0, 3.0, 2.0, 1.0])


def asked(groups, question="layers", **given):
    """A linear model, one input for each group; the targets need the first ones most."""
    params = {f"g{i}": jnp.zeros(1) for i in range(groups)} | {"head": jnp.zeros(1)}

    def model(params, x):
        parts = [x[i : i + 1] @ params[f"g{i}"] for i in range(groups)]
        return sum(parts, x[5:] @ params["head"])

    options = {"measure": True, "seeds": 1, "steps": 200, "rates": (0.05,), "base": "head"}
    targets = X[:, :groups] @ WEIGHTS[:groups]
    found = advise.layers(
        model, X[:30], targets[:30], test=(X[30:], targets[30:]), params=params,
        by="linearised", **{**options, **given},
    )  # fmt: skip
    return {check.what: check for check in found.checks}


@pytest.mark.parametrize("groups", [thorough(2), 3])
def test_an_order_of_few_groups_is_no_evidence(groups):
    check = asked(groups)["what was measured ranks single groups alike"]
    assert check.met is None
    assert check.told == (
        f"{groups} single groups are too few for a rank correlation, which needs {FEWEST} to say "
        "more than chance"
    )


def test_an_order_of_enough_groups_is_told_beside_chance():
    check = asked(5)["what was measured ranks single groups alike"]
    assert check.met is True
    # 0.9 is two neighbours swapped: 4 of 5! orders, and one is the same: 5 / 120.
    assert "`linearised` in this run 0.90 over 5 single groups, which chance reaches in 0.042" in (
        check.told
    )


@pytest.mark.thorough
def test_other_inputs_rank_few_candidates_neither():
    what = "other landmarks put the same first"
    few = asked(2, measure=False, pairs=10, candidates=["g0", "g1", ["g0", "g1"]])[what].told
    assert "rank correlation of" not in few and "3 candidates are too few" in few
    assert "rank correlation of `linearised`" in asked(4, measure=False, pairs=10)[what].told


@pytest.mark.parametrize("count", [thorough(2), 4])
def test_sources_are_ranked_where_there_are_enough(count):
    params = {"first": jnp.zeros(2), "head": jnp.zeros(2)}

    def model(params, x):
        return x[:2] @ params["first"] + x[2:4] @ params["head"]

    targets = X[:, 0]
    sources = {f"s{i}": (X[:20], (1.5 - i) * targets[:20]) for i in range(count)}
    found = advise.transfer(
        model, sources, X[:12], targets[:12], test=(X[30:], targets[30:]), params=params,
        by="start", measure=True, seeds=1, steps=40, rates=(0.02,),
    )  # fmt: skip
    told = {check.what: check for check in found.checks}
    ranked = told["what was measured ranks sources alike"]
    steps = told["predicted and measured steps agree within a factor of 2"].told
    if count < FEWEST:
        assert ranked.met is None and "2 sources are too few" in ranked.told
        assert "3 starts are too few" in steps
    else:
        # 0.8 or more: 3 pairs of neighbours swapped, and the same order: 4 / 24.
        assert ranked.met is None
        assert "0.80 over 4 sources, which chance reaches in 0.17 of all orders" in ranked.told
        assert "their rank correlation is" in steps and "over 5 starts" in steps


@pytest.mark.parametrize("count", [*range(2, COUNTED), thorough(COUNTED)])
def test_the_same_order_is_one_of_all(count):
    found = agreement(range(count), range(count))
    assert found.chance == pytest.approx(1 / factorial(count))
    assert (found.met is True) == (count >= FEWEST) == (found.chance <= RARE)
    assert agreement(range(count), range(count)[::-1]).chance == 1


def test_chance_is_what_drawn_orders_give():
    """Beside scipy's correlation of orders drawn at random, where they are counted and beyond."""
    rng = np.random.default_rng(3)
    for count in (6, 9):
        left = rng.normal(size=count)
        right = left + 1.5 * rng.normal(size=count)
        found = agreement(left, right)
        assert found.correlation == pytest.approx(stats.spearmanr(left, right).statistic)
        ranks = stats.rankdata(left)
        drawn = [np.corrcoef(ranks, rng.permutation(count) + 1.0)[0, 1] for _ in range(4000)]
        share = np.mean(np.array(drawn) >= found.correlation - 1e-9)
        # Four standard errors of the share; Student's distribution is an approximation.
        slack = 4 * np.sqrt(share * (1 - share) / 4000) + (0.02 if count > COUNTED else 0)
        assert abs(found.chance - share) <= slack


def test_what_chance_may_have_made_is_left_open():
    assert agreement([1, 2, 3, 4], [1, 2, 4, 3]).met is None  # 0.8, in 4 of 24 orders
    assert agreement([1, 2, 3, 4], [4, 3, 2, 1]).met is False
    assert agreement([1, 1, 1, 1], [4, 3, 2, 1]).met is False
    assert np.isclose(agreement([1, 2, 3, 4], [1, 2, 4, 3]).chance, 4 / 24)
