"""A layer of small eta may change the risk much; one of large eta need not lower it.

The rule that Section 5 of Afzal et al. (2025) draws from Theorem 6: "if eta is small, we don't have
to select that layer, since it doesn't affect empirical risk much", and "if eta is large enough and
doesn't mass up the condition number, it is worth to tune" (mess up, by its sense). The first names
no kernel. For one that is given, the change vanishes with the layer. Over all kernels it is no
multiple of eta: with S = K^(1/2) M K^(1/2), whose eta is the norm of M, it grows as the root of
kappa(K), for the target that is harmed most. What is small enough depends on kappa = kappa(K +
sigma I): the root of the risk changes by a factor within 1 +- sqrt(kappa) eta / (1 + eta). The
second judges layers by what does not know the targets: with eta >= 1 and a condition number that
does not rise, the risk still does for some targets (added-layers), and of two such layers the one
of larger eta can fit worse.
"""

from typing import NamedTuple, TypeAlias

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import kernel_ridge
from theorysim.theorems.linearization import _layers as layers
from theorysim.theorems.linearization import _ridge as ridge

Jacobian: TypeAlias = Float[Array, "n p"]


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


def _harmed(before: Jacobian, added: Jacobian, sigma: Array) -> Float[Array, " 2"]:
    """Roots of the risk without and with a layer, for the target whose risk it raises most.

    That is the one of which (H + S)^(-1) H has the largest image.
    """
    gram = ridge.kernel(before) + sigma * jnp.eye(len(before))
    both = gram + ridge.kernel(added)
    targets = gram @ jnp.linalg.svd(jnp.linalg.solve(both, gram))[2][0]
    targets = targets / jnp.linalg.norm(targets)
    tuned = [
        ridge.tuned_outputs(jacobian, targets, sigma)
        for jacobian in (before, jnp.concatenate([before, added], axis=1))
    ]
    return jnp.stack([jnp.linalg.norm(outputs - targets) for outputs in tuned])


def simulate_harmed(x: claims.Instance, key: PRNGKeyArray) -> Float[Array, " 2"]:
    return _harmed(ridge.jacobian(x), ridge.candidate_jacobian(x), x.sigma)


def _small(x: claims.Instance) -> Float[Array, ""]:
    """An eta from 0.01 to 1: of smaller ones the change is lost in rounding."""
    return x.shrunk**0.25


def simulate_conditioned(x: claims.Instance, key: PRNGKeyArray) -> Float[Array, " 2"]:
    """The same for K of a given condition number and S = K^(1/2) M K^(1/2), whose eta is |M|.

    The ridge is far below the smallest eigenvalue of K.
    """
    root = x.basis * x.condition ** (-jnp.linspace(0, 1, x.n) / 2)
    sizes = _small(x) * x.candidate_sizes / jnp.max(x.candidate_sizes)
    added = dot(root, x.candidate * jnp.sqrt(sizes))
    return _harmed(dot(root, x.rotation.T), added, 1e-3 * x.sigma / x.condition)


def simulate_two(x: claims.Instance, key: PRNGKeyArray) -> Two:
    roots = [jnp.linalg.norm(layers.tuned(y, key).after - x.targets) for y in (x, _other(x))]
    ordered = jnp.where(_eta(x) <= _eta(_other(x)), jnp.stack(roots), jnp.stack(roots[::-1]))
    return Two(*ordered)


def _larger_is_better_conditioned(x: claims.Instance) -> Float[Array, ""]:
    """Condition number after the layer of smaller eta, less that after the other."""
    difference = _kappa(x) - _kappa(_other(x))
    return jnp.where(_eta(x) <= _eta(_other(x)), difference, -difference)


def _smaller(x: claims.Instance) -> claims.Instance:
    return x.replace(candidate_sizes=x.shrunk * x.candidate_sizes)


def simulate_shrunk(x: claims.Instance, key: PRNGKeyArray) -> layers.Tuned:
    return layers.tuned(_smaller(x), key)


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
    lambda r: _small(r.x),
    over={"condition": (1e2, 1e3, 1e4, 1e5)},
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
        condition=claims.Real(1, 1e5, log=True),
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
            simulate=simulate_conditioned,
            claims=(BY_ETA,),
            note="the worse K is conditioned, the more a layer of one eta changes",
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
