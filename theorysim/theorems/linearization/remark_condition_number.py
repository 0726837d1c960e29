"""For a given largest eigenvalue, a kernel with a smaller condition number has a lower risk.

The remark after Theorem 5 of Afzal et al. (2025), on kappa(K + sigma I): "for given lambda_max(K),
if kappa is small, the risk can be small, and the risk is high otherwise". Taken as an order of the
risks of two kernels at one given target it fails: the other eigenvalues and the target decide, too.
Corrected, it is read of the largest risk over targets of length one, (sigma kappa / (lambda_max(K)
+ sigma))^2, which kappa alone decides.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _ridge as ridge


def _outputs(x: claims.Instance, spectrum, targets) -> Float[Array, " n"]:
    return ridge.tuned_outputs(ridge.jacobian(x.replace(spectrum=spectrum)), targets, x.sigma)


def _kappa(x: claims.Instance, spectrum):
    return (jnp.max(spectrum) + x.sigma) / (jnp.min(spectrum) + x.sigma)


def _spectra(x: claims.Instance) -> Float[Array, "2 n"]:
    """Of two kernels with one lambda_max, the smaller condition number first."""
    other = jnp.minimum(x.other, x.spectrum[0]).at[0].set(x.spectrum[0])
    spectra = jnp.stack([x.spectrum, other])
    return spectra[jnp.argsort(jax.vmap(lambda s: _kappa(x, s))(spectra))]


def simulate(x: claims.Instance, key) -> Float[Array, "2 n"]:
    """Outputs for both kernels."""
    return jax.vmap(lambda s: _outputs(x, s, x.targets))(_spectra(x))


def simulate_all(x: claims.Instance, key) -> Float[Array, "2 n n"]:
    """What training leaves of every axis as a target, as columns, for both kernels."""
    axes = jnp.eye(x.n)
    trained = jax.vmap(lambda s: jax.vmap(lambda y: _outputs(x, s, y), out_axes=1)(axes))
    return axes - trained(_spectra(x))


def predict(x: claims.Instance) -> Float[Array, " 2"]:
    """sigma kappa / (lambda_max + sigma), for both kernels."""
    return jax.vmap(lambda s: x.sigma * _kappa(x, s) / (s[0] + x.sigma))(_spectra(x))


def _worst(r: claims.Run) -> Float[Array, " 2"]:
    """The largest risk over targets of length one."""
    return jnp.linalg.norm(r.sim, ord=2, axis=(-2, -1)) ** 2


RISK = claims.increasing(
    "risk along growing kappa", lambda r: jnp.sum((r.sim - r.x.targets) ** 2, axis=-1)
)
WORST_RISES = claims.increasing("largest risk along growing kappa", _worst)
WORST = claims.equal("largest risk over targets", _worst, lambda r: r.theory**2)

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
        claims.corrected(
            "the largest risk over targets of one norm",
            simulate=simulate_all,
            predict=predict,
            claims=(WORST_RISES, WORST),
            note="it grows with kappa alone",
        ),
    ),
    mutants=(
        claims.Mutant("the largest risk falls", claims=(WORST_RISES.reversed(),)),
        claims.Mutant("a square lost", claims=(WORST.against(lambda r: r.theory),)),
    ),
)
