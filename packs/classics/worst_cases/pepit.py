"""Worst cases by semidefinite programming: PEPit's values for the cases of the table.

Needs PEPit (`pip install PEPit`, which brings cvxpy with clarabel, scs and others) and nothing of
theorysim, so that the numbers share no code with the pack:

    python -m worst_cases.pepit        # in packs/classics: writes pepit.json (2 minutes)

A case has the settings that the pack's theorem is given, and PEPit's value in the theorem's units.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

RECORD = Path(__file__).with_name("pepit.json")

Unit = {"smoothness": 1.0, "distance": 1.0}
# By name, the settings of the theorem and how PEPit gets the number.
Case = tuple[dict[str, float], Callable[[], float]]


def gallery(module: str, **arguments: Any) -> Callable[[], float]:
    """PEPit's own example of that name, such as `fixed_point_problems.halpern_iteration`."""

    def solve() -> float:
        found = import_module(f"PEPit.examples.{module}")
        function = next(getattr(found, name) for name in vars(found) if name.startswith("wc_"))
        return function(**arguments, verbose=-1)[0]

    return solve


def root(solve: Callable[[], float]) -> Callable[[], float]:
    """The square root, where PEPit has squared lengths and the theorem lengths."""
    return lambda: math.sqrt(solve())


def descent(
    step: float, steps: int, mu: float, *, of: str, per: str, quadratic: bool = False
) -> Callable[[], float]:
    """Descent on mu-convex 1-smooth functions: the worst `of` with a start's `per` of 1."""
    return method(lambda g, x0: _descend(g, x0, step, steps), mu, of, per, quadratic)


def _descend(gradient: Callable, x: Any, step: float, steps: int) -> Any:
    for _ in range(steps):
        x = x - step * gradient(x)
    return x


def method(
    run: Callable, mu: float, of: str, per: str, quadratic: bool = False
) -> Callable[[], float]:
    """Any method `run(gradient, x0)`; `of` and `per` are "value", "distance" or "gradient"."""

    def solve() -> float:
        from PEPit import PEP
        from PEPit.functions import (
            SmoothStronglyConvexFunction,
            SmoothStronglyConvexQuadraticFunction,
        )

        problem = PEP()
        kind = SmoothStronglyConvexQuadraticFunction if quadratic else SmoothStronglyConvexFunction
        f = problem.declare_function(kind, mu=mu, L=1)
        minimiser = f.stationary_point()
        x0 = problem.set_initial_point()
        measures = {
            "value": lambda x: f(x) - f(minimiser),
            "distance": lambda x: (x - minimiser) ** 2,
            "gradient": lambda x: f.gradient(x) ** 2,
        }
        problem.set_initial_condition(measures[per](x0) <= 1)
        problem.set_performance_metric(measures[of](run(f.gradient, x0)))
        return problem.solve(verbose=0)

    return solve


def heavy_ball(mu: float, steps: int) -> Callable:
    """Polyak's method with the optimal parameters."""

    def run(gradient: Callable, x: Any) -> Any:
        rho = (1 - math.sqrt(mu)) / (1 + math.sqrt(mu))
        before, x = x, x - 2 / (1 + mu) * gradient(x)
        for _ in range(steps - 1):
            rate = 4 / (1 + math.sqrt(mu)) ** 2
            before, x = x, x - rate * gradient(x) + rho**2 * (x - before)
        return x

    return run


def chebyshev(mu: float, steps: int) -> Callable:
    """Chebyshev's semi-iteration."""

    def run(gradient: Callable, x: Any) -> Any:
        s, weight, rate = (1 + mu) / (1 - mu), 2.0, 2 / (1 + mu)
        before, x = x, x - rate * gradient(x)
        for _ in range(steps - 1):
            weight = 1 / (1 - weight / (4 * s**2))
            before, x = x, weight * (x - rate * gradient(x) - before) + before
        return x

    return run


def proximal_gradient(steps: int) -> float:
    """F(x_N) - F* of the proximal gradient method, from a start at distance 1."""
    from PEPit import PEP
    from PEPit.functions import ConvexFunction, SmoothConvexFunction
    from PEPit.primitive_steps import proximal_step

    problem = PEP()
    f = problem.declare_function(SmoothConvexFunction, L=1)
    g = problem.declare_function(ConvexFunction)
    both = f + g
    minimiser = both.stationary_point()
    x = problem.set_initial_point()
    problem.set_initial_condition((x - minimiser) ** 2 <= 1)
    value = None
    for _ in range(steps):
        x, _, value = proximal_step(x - f.gradient(x), g, 1)
    problem.set_performance_metric(f(x) + value - both(minimiser))
    return problem.solve(verbose=0)


def polyak_subgradient(steps: int) -> float:
    """Polyak's step on 1-Lipschitz functions, at the steps that the worst case takes."""
    from PEPit import PEP
    from PEPit.functions import ConvexLipschitzFunction

    problem = PEP()
    f = problem.declare_function(ConvexLipschitzFunction, M=1)
    minimiser = f.stationary_point()
    x = problem.set_initial_point()
    problem.set_initial_condition((x - minimiser) ** 2 <= 1)
    gamma = 1 / math.sqrt(steps + 1)
    for k in range(steps + 1):
        slope, value = f.oracle(x)
        problem.set_performance_metric(value - f(minimiser))
        if k < steps:
            problem.add_constraint(gamma * slope**2 == value - f(minimiser))
            x = x - gamma * slope
    return problem.solve(verbose=0)


def noisy_descent(mu: float, step: float, noise: float, steps: int) -> float:
    """E |x_N - x*|^2 with two-point noise of any direction at every node of the tree of runs."""
    from PEPit import PEP, Point
    from PEPit.functions import SmoothStronglyConvexFunction

    problem = PEP()
    f = problem.declare_function(SmoothStronglyConvexFunction, mu=mu, L=1)
    minimiser = f.stationary_point()
    x0 = problem.set_initial_point()
    problem.set_initial_condition((x0 - minimiser) ** 2 <= 1)
    nodes = [x0]
    for _ in range(steps):
        shifts = [Point() for _ in nodes]
        for shift in shifts:
            problem.add_constraint(shift**2 <= noise**2)
        nodes = [
            x - step * (f.gradient(x) + sign * shift)
            for x, shift in zip(nodes, shifts, strict=True)
            for sign in (1, -1)
        ]
    total = sum(((x - minimiser) ** 2 for x in nodes), start=0 * (x0 - minimiser) ** 2)
    problem.set_performance_metric(total / len(nodes))
    return problem.solve(verbose=0)


CONVEX = "unconstrained_convex_minimization"
COMPOSITE = "composite_convex_minimization"
FIXED, MONOTONE = "fixed_point_problems", "monotone_inclusions_variational_inequalities"
RANDOM = "stochastic_and_randomized_convex_minimization"
MU = {"conditioning": 0.1}


def gradient_descent_cases() -> dict[str, Case]:
    """Descent with fixed steps, and what changes of it."""
    short, long = {**Unit, "steps": 5, "step": 1.0}, {**Unit, "steps": 5, "step": 1.9}
    strongly = {**Unit, **MU, "steps": 3, "step": 1.0}
    return {
        "rate-gradient-descent, short step": (
            short,
            gallery(f"{CONVEX}.gradient_descent", L=1, gamma=1.0, n=5),
        ),
        "rate-gradient-descent, long step": (
            long,
            gallery(f"{CONVEX}.gradient_descent", L=1, gamma=1.9, n=5),
        ),
        "rate-gradient-descent-gradient": (
            short,
            root(descent(1.0, 5, 0, of="gradient", per="distance")),
        ),
        "rate-gradient-descent-gradient-from-value": (
            short,
            lambda: descent(1.0, 5, 0, of="gradient", per="value")() / 2,
        ),
        "rate-gradient-descent-distance": (
            strongly,
            root(descent(1.0, 3, 0.1, of="distance", per="distance")),
        ),
        "rate-gradient-descent-value": (strongly, descent(1.0, 3, 0.1, of="value", per="value")),
        "rate-gradient-descent-gradient-contraction": (
            strongly,
            root(descent(1.0, 3, 0.1, of="gradient", per="gradient")),
        ),
        "rate-gradient-descent-nonconvex, short step": (
            {"smoothness": 1.0, "steps": 3, "step": 0.5},
            gallery("nonconvex_optimization.gradient_descent", L=1, gamma=0.5, n=3),
        ),
        "rate-gradient-descent-nonconvex, h = 1": (
            {"smoothness": 1.0, "steps": 3, "step": 1.0},
            gallery("nonconvex_optimization.gradient_descent", L=1, gamma=1.0, n=3),
        ),
        "rate-exact-line-search": (
            {**Unit, **MU, "steps": 2},
            gallery(f"{CONVEX}.gradient_exact_line_search", L=1, mu=0.1, n=2),
        ),
        "rate-inexact-gradient": (
            {**Unit, **MU, "steps": 2, "inexactness": 0.1},
            gallery(f"{CONVEX}.inexact_gradient_descent", L=1, mu=0.1, epsilon=0.1, n=2),
        ),
        "rate-polyak-step": (
            {**Unit, **MU, "d": 2},
            gallery(
                "adaptive_methods.polyak_steps_in_distance_to_optimum", L=1, mu=0.1, gamma=2 / 1.1
            ),
        ),
    }


def accelerated_cases() -> dict[str, Case]:
    """Methods with momentum."""
    five = {**Unit, "steps": 5}
    return {
        "rate-nesterov": (
            five,
            gallery(f"{CONVEX}.accelerated_gradient_convex_simplified", mu=0, L=1, n=5),
        ),
        "rate-optimised-gradient": (five, gallery(f"{CONVEX}.optimized_gradient", L=1, n=5)),
        "rate-optimised-gradient-for-gradient": (
            five,
            gallery(f"{CONVEX}.optimized_gradient_for_gradient", L=1, n=5),
        ),
        "rate-heavy-ball": (
            {**five, **MU},
            root(method(heavy_ball(0.1, 5), 0.1, "distance", "distance", quadratic=True)),
        ),
        "rate-chebyshev": (
            {**five, **MU},
            root(method(chebyshev(0.1, 5), 0.1, "distance", "distance", quadratic=True)),
        ),
    }


def proximal_cases() -> dict[str, Case]:
    """Methods with proximal maps, splittings, and maps of constrained sets."""
    return {
        "rate-proximal-gradient": ({**Unit, "steps": 3}, lambda: proximal_gradient(3)),
        "rate-proximal-gradient-distance": (
            {**MU, "steps": 2, "step": 1.0},
            root(gallery(f"{COMPOSITE}.proximal_gradient", L=1, mu=0.1, gamma=1, n=2)),
        ),
        "rate-fista": (
            {**Unit, "steps": 4},
            gallery(f"{COMPOSITE}.accelerated_proximal_gradient_simplified", mu=0, L=1, n=4),
        ),
        "rate-proximal-point": (
            {"distance": 1.0, "step": 1.0, "steps": 4},
            gallery(f"{CONVEX}.proximal_point", gamma=1, n=4),
        ),
        "rate-douglas-rachford": (
            {"smoothness": 1.0, **MU, "step": 1.0, "steps": 2},
            root(
                gallery(
                    f"{COMPOSITE}.douglas_rachford_splitting_contraction",
                    **{"mu": 0.1, "L": 1, "alpha": 1, "theta": 1, "n": 2},
                )
            ),
        ),
        "rate-no-lips": (
            {"step": 1.0, "steps": 3},
            gallery(f"{COMPOSITE}.no_lips_in_function_value", L=1, gamma=1, n=3),
        ),
        "rate-frank-wolfe": (
            {"steps": 5},
            gallery(f"{COMPOSITE}.frank_wolfe", L=1, D=1, R=math.inf, center=None, n=5),
        ),
    }


def operator_cases() -> dict[str, Case]:
    """Fixed points of nonexpansive maps and zeros of monotone operators."""
    mann = f"{FIXED}.krasnoselskii_mann_constant_step_sizes"
    return {
        "rate-halpern": (
            {"distance": 1.0, "steps": 5},
            root(gallery(f"{FIXED}.halpern_iteration", n=5)),
        ),
        "rate-optimal-halpern": (
            {"distance": 1.0, "steps": 3, "growth": 1.1},
            root(gallery(f"{FIXED}.optimal_contractive_halpern_iteration", n=3, gamma=1.1)),
        ),
        "rate-krasnoselskii-mann, short step": (
            {"distance": 1.0, "steps": 3, "weight": 0.75},
            gallery(mann, n=3, gamma=0.75),
        ),
        "rate-krasnoselskii-mann, long step": (
            {"distance": 1.0, "steps": 3, "weight": 0.97},
            gallery(mann, n=3, gamma=0.97),
        ),
        "rate-proximal-point-operator": (
            {"distance": 1.0, "steps": 4},
            gallery(f"{MONOTONE}.proximal_point", alpha=1, n=4),
        ),
        "rate-accelerated-proximal-point": (
            {"distance": 1.0, "steps": 4},
            gallery(f"{MONOTONE}.accelerated_proximal_point", alpha=1, n=4),
        ),
    }


def nonsmooth_and_random_cases() -> dict[str, Case]:
    """Subgradients and random steps."""
    return {
        "rate-subgradient": (
            {"slope": 1.0, "distance": 1.0, "steps": 4},
            gallery(f"{CONVEX}.subgradient_method", M=1, n=4, gamma=1 / math.sqrt(5)),
        ),
        "rate-polyak-subgradient": (
            {"slope": 1.0, "distance": 1.0, "steps": 4},
            lambda: polyak_subgradient(4),
        ),
        "rate-stochastic-gradient": (
            {**MU, "step": 0.7, "noise": 1.0, "steps": 2},
            lambda: noisy_descent(0.1, 0.7, 1.0, 2),
        ),
        "rate-stochastic-gradient-finite-sum": (
            {**MU, "step": 0.7, "noise": 1.0},
            gallery(f"{RANDOM}.sgd", L=1, mu=0.1, gamma=0.7, v=1, R=1, n=2),
        ),
        "rate-stochastic-gradient-overparametrised": (
            {**MU, "step": 0.7, "steps": 1},
            gallery(f"{RANDOM}.sgd_overparametrized", L=1, mu=0.1, gamma=0.7, n=2),
        ),
        "rate-coordinate-descent": (
            {**MU, "step": 0.7, "steps": 1, "d": 2},
            gallery(
                f"{RANDOM}.randomized_coordinate_descent_smooth_strongly_convex",
                **{"L": 1, "mu": 0.1, "gamma": 0.7, "d": 2},
            ),
        ),
    }


def cases() -> dict[str, Case]:
    """All of the table, in its order."""
    return {
        **gradient_descent_cases(),
        **accelerated_cases(),
        **proximal_cases(),
        **operator_cases(),
        **nonsmooth_and_random_cases(),
    }


def main() -> None:
    """Solve every case and write the record."""
    found = {}
    for name, (settings, solve) in cases().items():
        begun = time.perf_counter()
        value = solve()
        print(f"{name}: {value:.8g} ({time.perf_counter() - begun:.1f} s)", flush=True)
        found[name] = {"settings": settings, "value": value}
    RECORD.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
