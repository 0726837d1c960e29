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

from collections.abc import Callable
from math import pi
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.special import gammaln

from theorysim.numerics.kernels import arc_cosine

Map = Callable[[Any], Array]


class Activation(NamedTuple):
    """An activation with its duals; `coefficients(n)` are mu_0, ..., mu_(n-1)."""

    name: str
    value: Map
    coefficients: Callable[[int], Float[Array, " n"]]
    dual: Map
    tangent: Map


def hermite_values(x: Float[Array, "*n"], orders: int) -> Float[Array, "orders *n"]:
    """h_0(x), ..., h_(orders-1)(x), by the recursion of three terms, which is stable."""

    def step(pair: tuple[Array, Array], p: Array) -> tuple[tuple[Array, Array], Array]:
        before, here = pair
        after = (x * here - jnp.sqrt(p) * before) / jnp.sqrt(p + 1)
        return (here, after), here

    first = (jnp.zeros_like(x), jnp.ones_like(x))
    return jax.lax.scan(step, first, jnp.arange(orders, dtype=jnp.result_type(x)))[1]


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


def with_polynomial(activation: Activation, weight: Any, mu: Float[Array, " n"]) -> Activation:
    """weight * s + sum_p mu_p h_p; all may be traced."""
    count = mu.shape[0]
    crossed = jnp.square(mu) + 2 * weight * mu * activation.coefficients(count)
    slopes = jnp.arange(1, count, dtype=crossed.dtype) * crossed[1:]
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
    left = slope_square(activation) - jnp.sum(jnp.arange(orders, dtype=mu.dtype) * jnp.square(mu))
    return jnp.abs(correlation) ** (orders - 1) * jnp.maximum(left, 0)


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
