"""Activations under Gaussian inputs: Hermite coefficients and dual activations.

With (a, b) unit Gaussians of correlation r and h_p the normalised probabilists' Hermite polynomial
(E h_p h_q = 1 where p = q, 0 elsewhere), an activation s = sum_p mu_p h_p has

    dual(r) = E[s(a) s(b)] = sum_p mu_p^2 r^p,
    tangent(r) = E[s'(a) s'(b)] = sum_(p >= 1) p mu_p^2 r^(p - 1) = dual'(r).

Closed forms are given where they are known. Correlations are clipped to [-1, 1], and angles are
computed from 1 - r and 1 + r, so that nothing but the rounding of r itself is lost near +-1.

Source: O'Donnell, "Analysis of Boolean Functions", Chapter 11; Cho, Saul, NeurIPS 2009 (ReLU);
Williams, NeurIPS 1996 (erf).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, pi, sqrt
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.special import gammaln, roots_hermitenorm

from theorysim.numerics.kernels import arc_cosine

Map = Callable[[Any], Array]


class Activation(NamedTuple):
    """An activation with its duals; `coefficients(n)` are mu_0, ..., mu_(n-1)."""

    name: str
    value: Map
    coefficients: Callable[[int], Float[Array, " n"]]
    dual: Map
    tangent: Map


class Expansion(NamedTuple):
    """Hermite coefficients by quadrature; `error` is the largest change when nodes are halved."""

    coefficients: Float[np.ndarray, " n"]
    error: float


def hermite_values(x: Float[Array, "*n"], orders: int) -> Float[Array, "orders *n"]:
    """h_0(x), ..., h_(orders-1)(x), by the recursion of three terms, which is stable."""

    def step(pair: tuple[Array, Array], p: Array) -> tuple[tuple[Array, Array], Array]:
        before, here = pair
        after = (x * here - jnp.sqrt(p) * before) / jnp.sqrt(p + 1)
        return (here, after), here

    first = (jnp.zeros_like(x), jnp.ones_like(x))
    return jax.lax.scan(step, first, jnp.arange(orders, dtype=jnp.result_type(x)))[1]


def expand(value: Map, orders: int, nodes: int = 256) -> Expansion:
    """mu_0, ..., mu_(orders-1) of any function by Gauss-Hermite quadrature, on the host.

    Raises:
        ValueError: where the rule has too few nodes for products with h_(orders-1).
    """
    if orders > nodes // 4:
        raise ValueError(
            f"{orders} coefficients need a rule of at least {4 * orders} nodes, not {nodes}"
        )
    with jax.enable_x64(True):
        fine, coarse = (_quadrature(value, orders, count) for count in (nodes, nodes // 2))
    return Expansion(fine, float(np.max(np.abs(fine - coarse))))


def _quadrature(value: Map, orders: int, nodes: int) -> Float[np.ndarray, " orders"]:
    points, weights = roots_hermitenorm(nodes)
    basis = hermite_values(jnp.asarray(points), orders)
    return np.asarray(basis * value(jnp.asarray(points))) @ (weights / np.sum(weights))


def from_coefficients(mu: Any, value: Map | None = None, name: str = "series") -> Activation:
    """The activation sum_p mu_p h_p; `value` where it is known better than by its series."""
    orders = mu.shape[0]
    slopes = np.sqrt(np.arange(1, orders)) * mu[1:]

    def squares(mu: Any, r: Array) -> Array:
        coefficients = jnp.square(jnp.asarray(mu, jnp.result_type(r)))
        return jnp.polyval(coefficients[::-1], _clip(r)) + jnp.zeros_like(r)

    def series(a: Array) -> Array:
        coefficients = jnp.asarray(mu, jnp.result_type(a))
        return jnp.tensordot(coefficients, hermite_values(a, orders), axes=1)

    return Activation(
        name,
        value or series,
        lambda count: jnp.pad(jnp.asarray(mu)[:count], (0, max(count - orders, 0))),
        lambda r: squares(mu, r),
        lambda r: squares(slopes, r),
    )


def from_function(value: Map, orders: int = 60, nodes: int = 256, name: str = "") -> Activation:
    """An activation from its values, expanded by quadrature (sigmoid, tanh, ...)."""
    mu = expand(value, orders, nodes).coefficients
    return from_coefficients(mu, value, name or "expanded")


def polynomial(monomials: Sequence[float], name: str = "polynomial") -> Activation:
    """sum_n monomials[n] a^n."""
    plain = np.polynomial.hermite_e.poly2herme(np.asarray(monomials, float))
    norms = np.exp(gammaln(np.arange(1.0, len(plain) + 1)) / 2)
    highest_first = np.asarray(monomials, float)[::-1]
    return from_coefficients(
        plain * norms,
        lambda a: jnp.polyval(jnp.asarray(highest_first, jnp.result_type(a)), a),
        name,
    )


def hermite(order: int) -> Activation:
    """h_p, the normalised Hermite polynomial (He_p divided by sqrt(p!))."""
    return from_coefficients(np.eye(order + 1)[order], name=f"h_{order}")


def relu() -> Activation:
    """max(a, 0): mu_0 = 1 / sqrt(2 pi), mu_1 = 1/2, mu_p = 0 for every other odd p."""
    return Activation(
        "ReLU",
        jax.nn.relu,
        lambda orders: jnp.asarray(_relu_coefficients(orders)),
        _with_slope(lambda r: arc_cosine(_opening(r)) / (2 * pi), lambda r: _opening(r) / (2 * pi)),
        lambda r: _opening(r) / (2 * pi),
    )


def absolute_value() -> Activation:
    """|a| = 2 max(a, 0) - a."""

    def coefficients(orders: int) -> Array:
        mu = 2 * _relu_coefficients(orders)
        mu[1:2] = 0
        return jnp.asarray(mu)

    def tangent(r: Array) -> Array:
        return 2 * jnp.arctan2(_clip(r), _sine(r)) / pi

    def dual(r: Array) -> Array:
        r = _clip(r)
        return 2 * (_sine(r) + r * jnp.arctan2(r, _sine(r))) / pi

    return Activation("|a|", jnp.abs, coefficients, _with_slope(dual, tangent), tangent)


def erf(slope: float = sqrt(0.5)) -> Activation:
    """erf(slope a)."""
    square = slope**2
    share = 2 * square / (1 + 2 * square)

    def coefficients(orders: int) -> Array:
        p = np.arange(orders)
        j = np.maximum(p - 1, 0) // 2
        size = gammaln(2.0 * j + 1) - 2 * gammaln(j + 1.0) - j * np.log(4) + p * np.log(share)
        mu = (-1.0) ** j * np.sqrt(2 / (pi * np.maximum(p, 1)) * np.exp(size))
        return jnp.asarray(np.where(p % 2 == 1, mu, 0))

    return Activation(
        f"erf({slope:.3g} a)",
        lambda a: jax.lax.erf(slope * a),
        coefficients,
        lambda r: 2 / pi * jnp.arcsin(share * _clip(r)),
        lambda r: 2 * share / pi / jnp.sqrt(1 - jnp.square(share * _clip(r))),
    )


def sine(frequency: float = 1.0) -> Activation:
    """sin(frequency a)."""
    return _wave("sin", frequency, jnp.sin, jnp.sinh, jnp.cosh, odd=1)


def cosine(frequency: float = 1.0) -> Activation:
    """cos(frequency a)."""
    return _wave("cos", frequency, jnp.cos, jnp.cosh, jnp.sinh, odd=0)


def _wave(name: str, w: float, value: Map, even: Map, slope: Map, odd: int) -> Activation:
    def coefficients(orders: int) -> Array:
        p = np.arange(orders)
        size = np.exp(p * np.log(abs(w)) - w**2 / 2 - gammaln(p + 1.0) / 2) * np.sign(w) ** odd
        return jnp.asarray(np.where(p % 2 == odd, (-1.0) ** (p // 2) * size, 0))

    return Activation(
        f"{name}({w:.3g} a)",
        lambda a: value(w * a),
        coefficients,
        lambda r: exp(-(w**2)) * even(w**2 * _clip(r)),
        lambda r: w**2 * exp(-(w**2)) * slope(w**2 * _clip(r)),
    )


def with_polynomial(activation: Activation, weight: Any, mu: Float[Array, " n"]) -> Activation:
    """weight * s + sum_p mu_p h_p; all may be traced."""
    count = mu.shape[0]
    crossed = jnp.square(mu) + 2 * weight * mu * activation.coefficients(count)
    slopes = jnp.arange(1, count) * crossed[1:]
    added = from_coefficients(mu)
    return Activation(
        f"{activation.name} and a polynomial",
        lambda a: weight * activation.value(a) + added.value(a),
        lambda orders: weight * activation.coefficients(orders) + added.coefficients(orders),
        lambda r: weight**2 * activation.dual(r) + jnp.polyval(crossed[::-1], _clip(r)),
        lambda r: weight**2 * activation.tangent(r) + jnp.polyval(slopes[::-1], _clip(r)),
    )


def slope_square(activation: Activation) -> Array:
    """E[s'(a)^2] = sum_p p mu_p^2, from the closed form."""
    return activation.tangent(jnp.ones(()))


def truncation_error(
    activation: Activation, orders: int, correlation: Float[Array, "*n"]
) -> Float[Array, "*n"]:
    """Bound on the part of the tangent's series that its first `orders` coefficients leave out.

    sum_(p >= orders) p mu_p^2 |r|^(p-1) <= |r|^(orders-1) sum_(p >= orders) p mu_p^2.
    """
    mu = activation.coefficients(orders)
    left = slope_square(activation) - jnp.sum(jnp.arange(orders) * jnp.square(mu))
    return jnp.abs(correlation) ** (orders - 1) * jnp.maximum(left, 0)


def check_derivative(activation: Activation, nodes: int = 256) -> None:
    """ValueError unless Stein's identity E[s'(a)] = E[a s(a)] shows that s has a derivative.

    A step has none: its derivative is zero almost everywhere, but E[a s(a)] is not. Eager.
    """
    points, weights = roots_hermitenorm(nodes)
    weights = weights / np.sum(weights)
    slopes = jax.vmap(jax.grad(activation.value))(jnp.asarray(points))
    by_parts = float(np.sum(weights * points * np.asarray(activation.value(jnp.asarray(points)))))
    direct = float(np.sum(weights * np.asarray(slopes)))
    # A kink between two nodes is misplaced by at most their distance, about 5 / sqrt(nodes).
    room = 5 / sqrt(nodes) * (float(np.sum(weights * np.abs(np.asarray(slopes)))) + 1e-12)
    if not abs(direct - by_parts) <= room:
        raise ValueError(
            f"activation {activation.name!r} has no derivative under Gaussian inputs: "
            f"E[s'] = {direct:.3g}, but E[a s(a)] = {by_parts:.3g}; use one without jumps"
        )


def _relu_coefficients(orders: int) -> Float[np.ndarray, " orders"]:
    """mu_p = h_(p-2)(0) / sqrt(2 pi p (p-1)) for p >= 2, since s'' is a point mass at 0."""
    p = np.arange(orders)
    j = np.maximum(p - 2, 0) // 2
    at_zero = (-1.0) ** j * np.exp(gammaln(2.0 * j + 1) / 2 - gammaln(j + 1.0) - j * np.log(2))
    mu = np.where(p % 2 == 0, at_zero / np.sqrt(2 * pi * np.maximum(p * (p - 1), 1)), 0)
    mu[1:2] = 0.5
    return mu


def _clip(r: Array) -> Array:
    return jnp.clip(r, -1, 1)


def _sine(r: Array) -> Array:
    r = _clip(r)
    return jnp.sqrt((1 - r) * (1 + r))


def _opening(r: Array) -> Array:
    """pi - arccos(r)."""
    r = _clip(r)
    return 2 * jnp.arctan2(jnp.sqrt(1 + r), jnp.sqrt(1 - r))


def _with_slope(dual: Map, tangent: Map) -> Map:
    """The dual with its derivative given, which is finite at +-1 where that of the angle is not."""

    @jax.custom_jvp
    def function(r: Array) -> Array:
        return dual(r)

    function.defjvps(lambda rate, _, r: tangent(r) * rate)
    return function
