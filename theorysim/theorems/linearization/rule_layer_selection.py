"""A layer of small eta need change the risk no little; one of large eta need not lower it.

The rule that Section 5 of Afzal et al. (2025) draws from Theorem 6: "if eta is small, we don't have
to select that layer, since it doesn't affect empirical risk much", and "if eta is large enough and
doesn't mass up the condition number, it is worth to tune" (mess up, by its sense). The first names
no kernel. For one that is given, the change does vanish with the layer. But eta alone does not tell
it: over all kernels it is no multiple of eta, and an eta is small beside 1 / sqrt(kappa) alone. The
root of the risk changes by a factor within 1 +- sqrt(kappa) eta / (1 + eta), kappa = kappa(K +
sigma I). The second judges layers by what does not know the targets: with eta >= 1 and a condition
number that does not rise, the risk still does for some targets (added-layers), and of two such
layers the one of larger eta can fit worse.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.systems import kernel_ridge
from theorysim.theorems.linearization import _layers as layers
from theorysim.theorems.linearization import _ridge as ridge


class Two(NamedTuple):
    """Roots of the risk after adding one layer or the other, the one of smaller eta first."""

    smaller: Float[Array, ""]
    larger: Float[Array, ""]


def _other(x: claims.Instance) -> claims.Instance:
    return x.replace(candidate=x.other, candidate_sizes=x.other_sizes)


def _eta(x: claims.Instance) -> Float[Array, ""]:
    return layers.spectra(x).eta


def _kappa(x: claims.Instance) -> Float[Array, ""]:
    """kappa(K + S + sigma I)."""
    grams = ridge.kernel(ridge.jacobian(x)) + ridge.kernel(ridge.candidate_jacobian(x))
    return kernel_ridge.condition_number(grams, x.sigma)


def _harmed(x: claims.Instance) -> claims.Instance:
    """With the target whose risk the layer raises most: (H + S)^(-1) H of largest image."""
    gram = ridge.kernel(ridge.jacobian(x)) + x.sigma * jnp.eye(x.n)
    both = gram + ridge.kernel(ridge.candidate_jacobian(x))
    direction = jnp.linalg.svd(jnp.linalg.solve(both, gram))[2][0]
    targets = gram @ direction
    return x.replace(targets=targets / jnp.linalg.norm(targets))


def simulate_harmed(x: claims.Instance, key: PRNGKeyArray) -> Float[Array, " 2"]:
    """Roots of the risk without and with the layer."""
    worst = _harmed(x)
    return jnp.stack([jnp.linalg.norm(out - worst.targets) for out in layers.tuned(worst, key)])


def simulate_two(x: claims.Instance, key: PRNGKeyArray) -> Two:
    roots = [jnp.linalg.norm(layers.tuned(y, key).after - x.targets) for y in (x, _other(x))]
    ordered = jnp.where(_eta(x) <= _eta(_other(x)), jnp.stack(roots), jnp.stack(roots[::-1]))
    return Two(*ordered)


def _larger_is_better_conditioned(x: claims.Instance) -> Float[Array, ""]:
    """Condition number after the layer of smaller eta, less that after the other."""
    difference = _kappa(x) - _kappa(_other(x))
    return jnp.where(_eta(x) <= _eta(_other(x)), difference, -difference)


def _shrunk(x: claims.Instance) -> claims.Instance:
    return x.replace(candidate_sizes=x.shrunk * x.candidate_sizes)


def simulate_shrunk(x: claims.Instance, key: PRNGKeyArray) -> layers.Tuned:
    return layers.tuned(_shrunk(x), key)


def _change(r: claims.Run) -> Float[Array, ""]:
    """|(R(K + S) / R(K))^(1/2) - 1|."""
    return jnp.abs(layers.ratio(r) - 1)


VANISHES = claims.tends_to(
    "the change, as the layer vanishes",
    _change,
    lambda r: 0.0,
    over={"shrunk": (1e-4, 1e-6, 1e-8)},
)
BY_ETA = claims.exists_constant(
    "the change beside eta",
    lambda r: jnp.abs(r.sim[1] / r.sim[0] - 1),
    lambda r: r.theory.eta,
    over={"sigma": (100.0, 1.0, 0.01)},
)
LITTLE = claims.at_most(
    "|(R(K + S) / R(K))^(1/2) - 1|",
    _change,
    lambda r: jnp.sqrt(r.theory.kappa) * r.theory.eta / (1 + r.theory.eta),
)
FREE = claims.at_most(LITTLE.name, LITTLE.lhs, lambda r: r.theory.eta)
FALLS = claims.at_most("R(K + S)^(1/2)", lambda r: r.sim[1], lambda r: r.sim[0])
BETTER = claims.at_most(
    "risk with the layer of larger eta", lambda r: r.sim.larger, lambda r: r.sim.smaller
)

SMALL = (
    "If eta is small, we don't have to select that layer, since it doesn't affect empirical risk "
    "much"
)

theorem = claims.Theorem(
    space=ridge.layer_space(
        other=claims.Orthogonal("n"),
        other_sizes=claims.Real(1e-6, 100, log=True, shape="n"),
        shrunk=claims.Real(1e-8, 1, log=True),
        # One input has one eigenvalue, and any layer lowers its risk.
        n=claims.Size(3, low=2, high=16),
    ),
    simulate=simulate_shrunk,
    predict=layers.spectra,
    claims=(VANISHES,),
    printed="small eta, a given kernel",
    source=claims.Printed("slides, Section 5, below Theorem 6", SMALL),
    note="the print does not say whether the kernel is given",
    readings=(
        claims.Reading(
            "small eta, whatever the kernel",
            claims.Printed("slides, Section 5, below Theorem 6", SMALL),
            simulate=simulate_harmed,
            claims=(BY_ETA,),
            note="of two kernels with one eta the worse conditioned one loses more",
        ),
        claims.Reading(
            "small eta beside the condition number",
            claims.Finding("sqrt(kappa) eta / (1 + eta) as a bound, kappa of K + sigma I"),
            simulate=layers.tuned,
            claims=(LITTLE,),
            primary=True,
        ),
        claims.Reading(
            "large eta",
            claims.Printed(
                "slides, Section 5, below Theorem 6",
                "If eta is large enough and doesn't mass up the condition number, it is worth to "
                "tune",
            ),
            simulate=simulate_harmed,
            claims=(FALLS,),
            hypotheses={
                "eta >= 1": lambda x: _eta(x) - 1,
                "kappa(K + S + sigma I) <= kappa(K + sigma I)": lambda x: (
                    layers.spectra(x).kappa - _kappa(x)
                ),
            },
            note="the risk of some targets rises, since neither number knows the targets",
        ),
        claims.Reading(
            "of two layers, the larger eta",
            claims.Finding("eta and the condition number as a ranking of layers"),
            simulate=simulate_two,
            claims=(BETTER,),
            hypotheses={"a condition number no larger": _larger_is_better_conditioned},
            note="the layer of larger eta and no larger condition number can fit worse",
        ),
    ),
    mutants=(
        claims.Mutant("half of the change", claims=(LITTLE.scaled(0.5),)),
        claims.Mutant("free of the condition number", claims=(FREE,)),
        claims.Mutant(
            "the change of a layer that stays",
            of=("small eta, a given kernel",),
            simulate=layers.tuned,
        ),
    ),
    mutant_instances=4096,
)
