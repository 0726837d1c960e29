"""For a given largest eigenvalue, a kernel with a smaller condition number has a lower risk.

The remark after Theorem 5 of Afzal et al. (2025), on kappa(K + sigma I): "for given lambda_max(K),
if kappa is small, the risk can be small, and the risk is high otherwise". It holds where only the
smallest eigenvalue moves; between any two kernels the order of risks depends on the other
eigenvalues and on the targets.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _ridge as ridge

SHRINKS = (1.0, 0.5, 0.1, 0.0)


def _outputs(x: claims.Instance, spectrum) -> Float[Array, " n"]:
    jacobian = ridge.jacobian(x.replace(spectrum=spectrum))
    return ridge.tuned_outputs(jacobian, x.targets, x.sigma)


def _kappa(x: claims.Instance, spectrum):
    return (jnp.max(spectrum) + x.sigma) / (jnp.min(spectrum) + x.sigma)


def simulate(x: claims.Instance, key) -> Float[Array, "2 n"]:
    """Outputs for two kernels with one lambda_max, the smaller condition number first."""
    other = jnp.minimum(x.other, x.spectrum[0]).at[0].set(x.spectrum[0])
    spectra = jnp.stack([x.spectrum, other])
    order = jnp.argsort(jax.vmap(lambda s: _kappa(x, s))(spectra))
    return jax.vmap(lambda s: _outputs(x, s))(spectra[order])


def simulate_smallest(x: claims.Instance, key) -> Float[Array, "shrinks n"]:
    """Outputs while the smallest eigenvalue shrinks and all else stays."""
    spectra = jnp.tile(x.spectrum, (len(SHRINKS), 1))
    spectra = spectra.at[:, -1].multiply(jnp.array(SHRINKS))
    return jax.vmap(lambda s: _outputs(x, s))(spectra)


RISK = claims.increasing(
    "risk along growing kappa", lambda r: jnp.sum((r.sim - r.x.targets) ** 2, axis=-1)
)

theorem = claims.Theorem(
    space=ridge.ridge_space(
        other=claims.Spectrum("n", 1e-2, 100),
        few=claims.Choice(0.0),
        n=claims.Size(3, low=2, high=16),
    ),
    simulate=simulate,
    claims=(RISK,),
    source=claims.Printed(
        "slides, Section 4, below Theorem 5",
        "For given lambda_max(K), if kappa is small, the risk can be small, and the risk is high "
        "otherwise",
    ),
    note="the eigenvalues between and the targets can outweigh the condition number",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("kernels that differ in their smallest eigenvalue alone"),
            simulate=simulate_smallest,
            primary=True,
            note="with all other eigenvalues fixed the risk grows with kappa",
        ),
    ),
    mutants=(claims.Mutant("the risk falls", claims=(RISK.reversed(),)),),
)
