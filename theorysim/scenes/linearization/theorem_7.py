"""How added layers change the risk, over their relative size eta, and both pairs of bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.theorems.linearization import _layers as layers
from theorysim.theorems.linearization.theorem_7 import theorem

SCALES = np.geomspace(0.03, 3, 37)
SAMPLES = 4


class Curves(NamedTuple):
    """(R(K + S) / R(K))^(1/2) of trained models, and what the bounds consist of."""

    ratio: Float[Array, " scales"]
    spectra: layers.Spectra


@kernel()
def curves(condition: Any, sigma: Any) -> Curves:
    """Layers of a random Jacobian, added at growing scales."""
    drawn = theorem.space.sample(jax.random.key(0), theorem.space.default_sizes(n=SAMPLES))
    spectrum = (1.0 * condition) ** -jnp.linspace(0, 1, SAMPLES)

    def at(scale: Array) -> Curves:
        x = drawn.replace(
            spectrum=spectrum,
            sigma=1.0 * sigma,
            flat=jnp.zeros(()),
            aligned=jnp.zeros(()),
            rank=jnp.ones(()),
            candidate_sizes=scale**2 * jnp.linspace(2, 0.5, SAMPLES),
        )
        before, after = (
            jnp.linalg.norm(outputs - x.targets)
            for outputs in theorem.simulate(x, jax.random.key(0))
        )
        return Curves(after / before, theorem.predict(x))

    return jax.vmap(at)(jnp.asarray(SCALES))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The printed bounds and the corrected ones."""
    found = curves(values["condition"], values["sigma"])
    eta, kappa, q = found.spectra.eta, found.spectra.kappa, found.spectra.q
    a = kappa / (1 - eta) ** 2

    def panel(title: str, low: tuple[str, Any], high: tuple[str, Any]) -> Panel:
        return Panel(
            "relative size of the added layers, η",
            "root of the risk, after / before",
            [
                Series("trained models", Role.SIMULATION, eta, found.ratio),
                Series(low[0], Role.BOUND, eta, low[1]),
                Series(high[0], Role.BOUND, eta, high[1]),
            ],
            title=title,
            log_x=True,
            log_y=True,
        )

    return [
        panel("As printed, a = κ / (1 − η)²", ("at least q / a", q / a), ("at most a q", a * q)),
        panel("Without η", ("at least 1 / (κ q)", 1 / (kappa * q)), ("at most κ", kappa)),
    ]


scene = Scene(
    title="Added layers and the risk; the printed bounds cross beyond η = 1",
    caption=(
        "Layers with a random tangent kernel S are added to a linear model with kernel K. Left: "
        "the printed bounds have a pole at η = 1, where they say nothing, and further right they "
        "exclude what training finds. Right: since S only adds to K, the condition number κ and "
        "the growth q of the largest eigenvalue (both of K + σI) bound the change for any η."
    ),
    panels=panels,
    sliders={
        "condition": Slider("condition number of K", 1.0, 1000.0, 10.0, log=True),
        "sigma": Slider("ridge σ, in units of λ_max(K)", 0.01, 100.0, 0.1, log=True),
    },
)
