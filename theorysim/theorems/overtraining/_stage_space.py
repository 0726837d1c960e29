"""Instances of Theorems 4.6 and 4.7: two spectra, the pull-back, the learning rate, the sizes.

Sections A.4 and A.5 of Springer et al. (2025). Spectra carry an overall scale, because printed
conditions compare quantities that scale differently; the learning rate, the accuracy and so on are
shares of what is allowed.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.claims.hypotheses import Margin
from theorysim.systems import linear_modes
from theorysim.theorems.overtraining._finetuning import gamma as gamma
from theorysim.theorems.overtraining._finetuning import pre_spectrum as pre_spectrum
from theorysim.theorems.overtraining._stages import Modes, Number


def stage_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """Instances of Section A.4 and A.5; `parts` add to the shared fields and sizes."""
    shared: dict[str, claims.Size | claims.Field] = {
        "d": claims.Size(3, high=9),
        "scale": claims.Real(1e-12, 1e2, log=True),
        "pre": claims.Spectrum("d", 0.2, 1, gap=1.2),
        "ft": claims.Real(0.2, 8, log=True, shape="d"),
        "in_order": claims.Choice(0.0, 1.0),
        "lam_0": claims.Real(0.1, 4, log=True),
        "lam_share": claims.Real(0, 0.99),
        "rate_share": claims.Real(0.3, 0.99),
        "slowness": claims.Choice(1.0, 1e-3, 1e-6, 1e-9),
        "accuracy_share": claims.Real(0.01, 0.99, log=True),
        "failure": claims.Real(1e-12, 1e-6, log=True),
        "more_steps": claims.Real(1, 1.5),
        "closer_start": claims.Real(0, 1),
    }
    return claims.Space(**{**shared, **parts})


def ft_spectrum(x: claims.Instance) -> Float[Array, " d"]:
    """The features of fine-tuning: in decreasing order (main text) or in any (appendix)."""
    ordered = jnp.sort(x.ft, descending=True)
    return x.scale * jnp.where(x.in_order > 0, ordered, x.ft)


def in_order(x: claims.Instance) -> Number:
    """Margin of the main text's strict order of the fine-tuning features."""
    return jnp.min(-jnp.diff(ft_spectrum(x)), initial=jnp.inf)


def _apart(x: claims.Instance) -> Number:
    """Margin: no two fine-tuning features are equal."""
    return jnp.min(jnp.diff(jnp.sort(ft_spectrum(x))), initial=jnp.inf)


# Section 4.3 has them in strict order, Appendix A in any: no statement turns on ties.
APART: dict[str, Margin] = {"fine-tuning features differ": claims.strict(_apart)}


def pull_back(x: claims.Instance) -> Number:
    """lam, a share of lam_0."""
    return x.lam_share * x.lam_0


def weighted(x: claims.Instance, target: Callable, anchor: Callable) -> Float[Array, " d"]:
    """(target + lam anchor) / (1 + lam) of two spectra, where fine-tuning ends."""
    lam = pull_back(x)
    return (target(x) + lam * anchor(x)) / (1 + lam)


def learning_rate(x: claims.Instance) -> Number:
    """eta, below 1 / (4 (lam_0 + 2) Gamma)."""
    return x.rate_share * x.slowness / (4 * (x.lam_0 + 2) * gamma(x))


def settings(x: claims.Instance) -> tuple[Array, Array, Array]:
    """The target of fine-tuning, lam and eta."""
    return ft_spectrum(x), pull_back(x), learning_rate(x)


def tuning(x: claims.Instance, real: Modes) -> linear_modes.Tuning:
    """Fine-tuning, pulled back to real starts."""
    target, lam, rate = settings(x)
    return linear_modes.Tuning(target, real**2, lam, rate)


def smallest_feature(x: claims.Instance) -> Number:
    """The least feature of pre-training or fine-tuning."""
    return jnp.minimum(jnp.min(pre_spectrum(x)), jnp.min(ft_spectrum(x)))


def smallest_gaps(x: claims.Instance) -> Float[Array, " d"]:
    """min over i <= n of |pre_i - ft_i|^2, for n = 1, ..., d."""
    return jnp.minimum.accumulate((pre_spectrum(x) - ft_spectrum(x)) ** 2)


def smallest_gap(x: claims.Instance) -> Number:
    """min over i <= d of |pre_i - ft_i|^2."""
    return smallest_gaps(x)[-1]


def learned_up_to(x: claims.Instance, spectrum: Float[Array, " d"]) -> Float[Array, "stages d"]:
    """The first n entries of a spectrum, zeros behind, for n = 0, ..., d."""
    return jnp.tril(jnp.ones((x.d + 1, x.d)), -1) * spectrum
