"""Whether runs of a program that go side by side wait for the longest one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import jax
from jax.extend.core import Jaxpr, JaxprEqn, Var

from theorysim.jaxprs.structure import CALLS, bodies

# Runs that differ in length wait for the longest one: on a CPU, so few of them go side by side. An
# accelerator takes as long for one as for all. Measured, with the same bits, for all at once and
# for 32, 16 and 8: descents of different length 24.1, 6.5, 6.5 and 5.2 s (1,109 of them), and 5.6,
# 4.7, 3.4 and 2.2 s (37 larger ones); adaptive integrators .96, .81, .83 and 1.12 s (256).
LOOPS_AT_ONCE = 16

# Of every variable of a list, whether it differs from run to run.
Varies = list[bool]


# Functions that XLA is given a loop for, each entry of which ends by itself.
LOOPS_WITHIN = frozenset(
    {"igamma", "igamma_grad_a", "igammac", "random_gamma", "regularized_incomplete_beta"}
)


def waits(program: Jaxpr) -> bool:
    """Whether the length of some loop depends on the inputs, so that it differs from run to run."""
    found: list[bool] = []
    _flow(program, [True] * len(program.invars), found)
    return any(found)


def side_by_side(differ: bool, most: int) -> int:
    """How many runs to compute at once, `most` at most; `differ`: whether they wait."""
    return min(most, LOOPS_AT_ONCE) if differ and jax.default_backend() == "cpu" else most


def _flow(program: Jaxpr, inputs: Varies, found: list[bool]) -> Varies:
    """Which outputs vary where these inputs do; `found` gets what is seen of every loop."""
    known = {v for v, own in zip(program.invars, inputs, strict=True) if own}
    for equation in program.eqns:
        varies = [isinstance(v, Var) and v in known for v in equation.invars]
        if any(varies):
            found += [equation.primitive.name in LOOPS_WITHIN]
            outputs = _RULES.get(equation.primitive.name, _any)(equation, varies, found)
            known |= {v for v, own in zip(equation.outvars, outputs, strict=True) if own}
    return [isinstance(v, Var) and v in known for v in program.outvars]


def _any(equation: JaxprEqn, varies: Varies, found: list[bool]) -> Varies:
    for body in bodies(equation):
        _flow(body, [True] * len(body.invars), found)
    return [any(varies)] * len(equation.outvars)


def _call(equation: JaxprEqn, varies: Varies, found: list[bool]) -> Varies:
    (body,) = bodies(equation)
    return _flow(body, varies, found)


def _own_vmap(equation: JaxprEqn, varies: Varies, found: list[bool]) -> Varies:
    """What says itself how it is called with many waits for none of them (`sharing_keys`)."""
    return [any(varies)] * len(equation.outvars)


def _choice(equation: JaxprEqn, varies: Varies, found: list[bool]) -> Varies:
    """All branches run where the choice varies."""
    index, *given = varies
    branches = [_flow(body, given, found) for body in bodies(equation)]
    return [index or own for own in reduce(_either, branches)]


def _scan(equation: JaxprEqn, varies: Varies, found: list[bool]) -> Varies:
    (body,) = bodies(equation)
    constants, state = equation.params["num_consts"], equation.params["num_carry"]

    def step(carried: Varies) -> Varies:
        return _flow(body, [*varies[:constants], *carried, *varies[constants + state :]], found)

    carried = _settled(varies[constants : constants + state], step)
    return [*carried, *step(carried)[state:]]


def _while(equation: JaxprEqn, varies: Varies, found: list[bool]) -> Varies:
    test, body = (equation.params[name].jaxpr for name in ("cond_jaxpr", "body_jaxpr"))
    of_test, of_body = (equation.params[name] for name in ("cond_nconsts", "body_nconsts"))
    for_test, for_body = varies[:of_test], varies[of_test : of_test + of_body]

    def step(carried: Varies) -> Varies:
        return _flow(body, [*for_body, *carried], found)

    carried = _settled(varies[of_test + of_body :], step)
    found += _flow(test, [*for_test, *carried], found)
    return carried


def _settled(carried: Varies, step: Callable[[Varies], Varies]) -> Varies:
    """What varies of a loop's state after any number of steps."""
    while (after := _either(carried, step(carried)[: len(carried)])) != carried:
        carried = after
    return carried


def _either(one: Sequence[bool], other: Sequence[bool]) -> Varies:
    return [a or b for a, b in zip(one, other, strict=True)]


_RULES = dict.fromkeys(CALLS, _call) | {
    "cond": _choice,
    "scan": _scan,
    "while": _while,
    "custom_vmap_call": _own_vmap,
}
