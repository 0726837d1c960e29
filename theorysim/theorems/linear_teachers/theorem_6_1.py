"""Fine-tuning a wide ReLU network: the loss is bounded by how the labels fit its tangent kernel.

Theorem 6.1 of Shachaf et al. (2021), Eq. 11, for arbitrary labels, with one constant under O. The
width that it asks for is a polynomial of high degree (`requirements`: by Theorem 4.1 of its
reference [31], n^7 / (lambda_0^4 kappa^2 delta^4) up to a constant), so networks have infinite
width and first weights of vanishing scale. The number of steps is printed as Omega(log(1 / ||y~||) / (eta
lambda_0)): from ||y~|| = 1 on it asks for no step. The probability is taken over the samples, too.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Instance,
    Mutant,
    Reading,
    Real,
    Size,
    Space,
    Theorem,
    exists_constant,
)
from theorysim.theorems.linear_teachers import _kernel_regime as regime

SAMPLES, FAILURES = (16, 32, 64, 128), (0.5, 0.25, 0.1)

# Constants below it are not told apart: most samples need none.
AS_GOOD_AS_NONE = 0.1


def _steps_printed(start: regime.FineTuning):
    return jnp.maximum(
        -jnp.log(jnp.linalg.norm(start.residual)) / (regime.LEARNING_RATE * start.smallest), 0
    )


def _steps_corrected(start: regime.FineTuning):
    rate = 2 * regime.LEARNING_RATE * start.smallest / len(start.residual)
    return jnp.maximum(jnp.log(jnp.linalg.norm(start.residual)) / rate, 0)


def simulate(x: Instance, key):
    """Population value of min(1, |error|) after fine-tuning, and both terms of Eq. 11."""
    data = regime.inputs(x, key)
    labels, task = regime.labellings(x, data)
    before = regime.pretrained(data, labels[: x.n_source])
    start = regime.fine_tuning((task - before)[-x.n :], data.target)

    def risk(steps):
        outputs = regime.fine_tuned(data, before, start, jnp.ceil(steps))
        return jnp.mean(jnp.minimum(jnp.abs(task - outputs), 1))

    return {
        "printed": risk(_steps_printed(start)),
        "corrected": risk(_steps_corrected(start)),
        "complexity": 2 * start.complexity,
        "sampling": regime.rate_of_sampling(x.n, start.smallest, x.delta),
    }


def _bounded(name: str, each: Callable):
    """One constant that all but a share delta of the samples agree on, for all n and delta."""

    def needed(r):
        return jnp.maximum(jnp.quantile(each(r), 1 - r.x.delta), AS_GOOD_AS_NONE)

    return exists_constant(name, needed, lambda r: 1.0, over={"n": SAMPLES, "delta": FAILURES})


def _claims(steps: str, power: float = 0.0) -> tuple:
    """Eq. 11, its right side divided by a power of n."""

    def term(r, name: str):
        return r.sim[name] / r.x.n**power

    return (
        _bounded("Eq. 11", lambda r: (r.sim[steps] - term(r, "complexity")) / term(r, "sampling")),
        _bounded(
            "Eq. 11, both terms under O",
            lambda r: r.sim[steps] / (term(r, "complexity") + term(r, "sampling")),
        ),
    )


def _width(x: Instance):
    """log10 of n^7 / (lambda_0^4 kappa^2 delta^4), lambda_0 <= 1/2, kappa = lambda_0 delta / n."""
    return 9 * jnp.log10(x.n) - 6 * jnp.log10(0.5 * x.delta)


theorem = Theorem(
    space=Space(
        d=Size(128, high=256),
        n=Size(16, high=256),
        n_source=Size(16, high=256),
        unseen=Size(128, high=1024),
        spread=Real(0.03, 30, log=True),
        **regime.labelling_fields(),
        delta=Real(0.1, 0.5),
    ),
    simulate=simulate,
    claims=_claims("printed"),
    requirements={"log10 width, at least": _width},
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            claims=_claims("corrected"),
            primary=True,
            note="t >= n log ||y~|| / (2 eta lambda_0): the printed logarithm is inverted",
        ),
    ),
    mutants=(Mutant("at the rate 1 / n, without steps", claims=_claims("printed", power=0.5)),),
    keys=16,
    instances=8,
    mutant_instances=8,
)
