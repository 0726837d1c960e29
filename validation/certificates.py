"""Scalar lemmas of the overtraining paper, certified for all numbers by subdivision.

    python -m validation.certificates

runs every certificate and writes validation/certificates.json. Each reduction is stated beside its
inequality: symmetries are used (scale), unbounded numbers are replaced by bounded ones (mu = 1 /
(1 + lam) for every lam >= 0), recursions enter through one step, and factors that vanish on both
sides are divided out by hand, because enclosures never separate two equal numbers.

Lemma A.28 as corrected: sigma*^2 = mu sigma^2 + (1 - mu) sigma_0^2 and 2 (lam + 2) eta max <= 1,
with max = max{sigma^2, sigma_0^2} = 1 by scale, so eta = u mu / (2 (1 + mu)), u <= 1. One end is
1 and the other s: "rising" has sigma = 1, "falling" sigma_0 = 1. One step is
f(x) - sigma* = (x - sigma*) (1 - 2 eta S(x)), S = (1 + lam) x (x + sigma*). The induction: every
iterate lies between s and 1 and no further from sigma* than sigma_0. P7 keeps the second half and
gives the rate; if a step overshoots sigma*, the last lemma keeps it within sigma.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp

from theorysim.enclosures import BoxOutcome, certify_box
from theorysim.systems.linear_modes import Tuning, step

RECORD = Path(__file__).with_suffix(".json")
UNIT = (0.0, 1.0)

Numbers = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Lemma:
    """An inequality lhs <= rhs over a box, and what it proves."""

    name: str
    proves: str
    lhs: Callable[..., Any]
    rhs: Callable[..., Any]
    box: Numbers
    strict: bool = False

    def certified(self, max_boxes: int = 20_000) -> BoxOutcome:
        """The certificate."""
        return certify_box(self.lhs, self.rhs, self.box, strict=self.strict, max_boxes=max_boxes)


def rising_star(mu, s):
    """sigma* where sigma = 1 and sigma_0 = s."""
    return jnp.sqrt(mu + (1 - mu) * s**2)


def falling_star(mu, s):
    """sigma* where sigma = s and sigma_0 = 1."""
    return jnp.sqrt(1 - mu * (1 - s**2))


def scalar_map() -> Iterator[Lemma]:
    """Lemma A.28: s = q x, because x is at least s."""
    for case, star in (("rising", rising_star), ("falling", falling_star)):
        yield Lemma(
            f"A.28, P5, lower ({case})",
            "min <= S(x): divided by (1 + lam) x, mu q^2 x <= x + sigma*",
            lhs=lambda mu, x, q: 0.0,
            rhs=lambda mu, x, q, star=star: x * (1 - mu * q**2) + star(mu, q * x),
            box={"mu": UNIT, "x": UNIT, "q": UNIT},
        )
        yield Lemma(
            f"A.28, P5, upper ({case})",
            "S(x) <= 2 (1 + lam) max",
            lhs=lambda mu, x, q, star=star: x * (x + star(mu, q * x)),
            rhs=lambda mu, x, q: 2.0,
            box={"mu": UNIT, "x": UNIT, "q": UNIT},
        )
        yield Lemma(
            f"A.28, P7 ({case})",
            "|1 - 2 eta S| <= 1 - 2 eta min: above this is P5, and below it is this display",
            lhs=lambda mu, u, x, q, star=star: u / (1 + mu) * x * (x + star(mu, q * x)) - 1,
            rhs=lambda mu, u, x, q: 1 - u * mu / (1 + mu) * (q * x) ** 2,
            box={"mu": UNIT, "u": UNIT, "x": UNIT, "q": UNIT},
        )
    yield Lemma(
        "A.28, overshoot (falling)",
        "(sigma_0 - sigma*) (2 eta S - 1) <= sigma* - sigma: divided by (1 - s^2) / (1 + mu)",
        lhs=lambda mu, u, x, s: (
            mu * (u * x * (x + falling_star(mu, s)) - 1 - mu) * (s + falling_star(mu, s))
        ),
        rhs=lambda mu, u, x, s: (1 - mu) * (1 + mu) * (1 + falling_star(mu, s)),
        box={"mu": UNIT, "u": UNIT, "x": UNIT, "s": UNIT},
    )
    yield Lemma(
        "A.28, overshoot (rising)",
        "the same at u = x = 1, where its left side is largest: divided by 1 - mu, which vanishes, "
        "mu (sigma* + s^2) <= (1 + mu) (s + sigma*)",
        lhs=lambda mu, s: 0.0,
        rhs=lambda mu, s: rising_star(mu, s) + s * (1 + mu * (1 - s)),
        box={"mu": UNIT, "s": UNIT},
    )


def one_step() -> Iterator[Lemma]:
    """Lemma A.28's range with the library's own map, away from ties: sigma_0 = 1 < sigma."""

    def image(t, sigma, lam, u):
        x = 1 + t * (sigma - 1)
        return step(x, Tuning(sigma**2, 1.0, lam, u / (2 * (lam + 2) * sigma**2)))

    box = {"t": UNIT, "sigma": (1.2, 2.0), "lam": (0.2, 1.0), "u": (0.1, 1.0)}
    yield Lemma("A.28, range, upper", "f(x) <= sigma", image, lambda t, sigma, lam, u: sigma, box)
    yield Lemma("A.28, range, lower", "f(x) >= sigma_0", lambda t, sigma, lam, u: 1.0, image, box)


def increments() -> Iterator[Lemma]:
    """Inequalities between features: b = pre / ft, and numbers scaled by (ft - pre)^2."""
    yield Lemma(
        "A.11, P1 to P2",
        "(1 - y)^K <= exp(-y K)",
        lambda y: 1 - y,
        lambda y: jnp.exp(-y),
        {"y": UNIT},
    )
    yield Lemma(
        "A.24, P4",
        "(ft - pre)^2 / (1 + lam)^2 > 3 m / (5 (lam_0 + 1)^2), m <= (ft - pre)^2, q = mu_0 / mu",
        lambda m, q: 3 * m * q**2 / 5,
        lambda m, q: 1.0,
        {"m": UNIT, "q": UNIT},
        strict=True,
    )
    for what, lost in (
        ("as printed, 2 pre^2 / 5", lambda b: 2 * b**2 / 5),
        ("with the error of P1, 2 (ft - pre)^2 / 5", lambda b: 2 * (1 - b) ** 2 / 5),
    ):
        yield Lemma(
            f"A.26, P4 {what}",
            "(ft - pre)^2 - pre^2 exceeds what is lost, for ft >= 4 pre",
            lambda b, lost=lost: b**2 + lost(b),
            lambda b: (1 - b) ** 2,
            {"b": (0.0, 0.25)},
            strict=True,
        )
    yield Lemma(
        "A.27, P3 to P4",
        "mu^2 (ft - pre)^2 - pre^2 falls with lam, also after the errors (m <= (ft - pre)^2)",
        lambda m, q: m * (1 - q) / 25,
        lambda m, q: 1 - q,
        {"m": UNIT, "q": UNIT},
    )


def lemmas() -> tuple[Lemma, ...]:
    """All lemmas."""
    return (*scalar_map(), *one_step(), *increments())


def record() -> None:
    """Certify all lemmas and write what was found."""
    found = {}
    for lemma in lemmas():
        start = time.perf_counter()
        outcome = lemma.certified()
        print(f"{lemma.name}: {outcome} [{time.perf_counter() - start:.1f} s]", flush=True)
        found[lemma.name] = {
            "proves": lemma.proves,
            "box": lemma.box,
            "outcome": str(outcome.outcome),
            "boxes": outcome.boxes,
            "depth": outcome.depth,
        }
    RECORD.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    record()
