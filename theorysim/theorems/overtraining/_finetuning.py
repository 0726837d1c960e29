"""What the statements on fine-tuning share: instances, learning rate, Assumption A.8, starts.

Section A.3 of Springer et al. (2025). A network W_1 W_2 that was pre-trained on U diag(pre) V^T up
to its n-th feature is fine-tuned on U diag(ft) V^T with a pull-back of strength lam. Spectra carry
an overall scale, because several printed conditions compare quantities that scale differently; the
learning rate is a share of the largest one that Assumption A.8 admits.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.claims.hypotheses import Margin
from theorysim.numerics.products import dot
from theorysim.systems import linear_modes

_SHARE_BELOW_ONE = claims.strict(lambda x: 1 - x.accuracy_share)

Factors: TypeAlias = tuple[Float[Array, "*steps d d"], Float[Array, "*steps d d"]]


def fine_tuning_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """Instances of Section A.3; `parts` add to the shared fields and sizes or replace them."""
    shared: dict[str, claims.Size | claims.Field] = {
        "d": claims.Size(4),
        "U": claims.Orthogonal("d"),
        "V": claims.Orthogonal("d"),
        "scale": claims.Real(1e-8, 1e2, log=True),
        "pre": claims.Spectrum("d", 1, 10),
        "ft": claims.Real(1, 10, log=True, shape="d"),
        "n": claims.Integer(1, "d"),
        "regularised": claims.Choice(0.0, 1.0),
        "strength": claims.Real(0.01, 30, log=True),
        "rate_share": claims.Real(0.01, 1),
    }
    return claims.Space(**{**shared, **parts})


def rotated(x: claims.Instance) -> claims.Instance:
    """The instance in the coordinates U^T W_1 and W_2 V, in which its runs are the same.

    From the ideal start zeros stay exactly zero there. In the given coordinates rounding seeds the
    directions that a run of exact arithmetic never enters, and they grow: the run is at a saddle.
    """
    identity = jnp.eye(x.d, dtype=x.U.dtype)
    return x.replace(U=identity, V=identity)


def pre_spectrum(x: claims.Instance) -> Float[Array, " d"]:
    """The features of pre-training, in decreasing order."""
    return x.scale * x.pre


def ft_spectrum(x: claims.Instance) -> Float[Array, " d"]:
    """The features of fine-tuning, in no order."""
    return x.scale * x.ft


def gamma(x: claims.Instance) -> Float[Array, ""]:
    """Gamma of Eq. 12: the largest of all features."""
    return jnp.maximum(jnp.max(pre_spectrum(x)), jnp.max(ft_spectrum(x)))


def pull_back(x: claims.Instance) -> Float[Array, ""]:
    """lam, exactly 0 where fine-tuning is not regularised."""
    return x.regularised * x.strength


def learning_rate(x: claims.Instance) -> Float[Array, ""]:
    """eta = share / (4 (lam + 2) Gamma): Assumption A.8 admits every share below 1."""
    return x.rate_share / (4 * (pull_back(x) + 2) * gamma(x))


def growth(x: claims.Instance, factor: Any) -> Float[Array, ""]:
    """1 + factor eta Gamma, the growth per step in the bounds of Lemmas A.16 to A.20."""
    return 1 + factor * learning_rate(x) * gamma(x)


def growth_powers(x: claims.Instance, factor: Any) -> Float[Array, " steps"]:
    """(1 + factor eta Gamma)^k, k = 0..K."""
    return growth(x, factor) ** jnp.arange(x.steps + 1)


def accuracy(x: claims.Instance, factor: Any) -> Float[Array, ""]:
    """epsilon of Lemmas A.18 to A.20, a share of 1 / (4 (1 + factor eta Gamma)^K)."""
    return x.accuracy_share / (4 * growth(x, factor) ** x.steps)


def accurate(factor: int) -> dict[str, Margin]:
    """The hypothesis of Lemmas A.17 to A.20 on epsilon."""
    return {f"epsilon < 1 / (4 (1 + {factor} eta Gamma)^K)": _SHARE_BELOW_ONE}


def small_rate(x: claims.Instance) -> Float[Array, ""]:
    """Margin of Assumption A.8: 1 - 4 eta (lam + 2) Gamma, which is 1 - share without rounding."""
    return 1 - x.rate_share


def smallest_learned(x: claims.Instance) -> Float[Array, ""]:
    """The least feature, of pre-training or of fine-tuning, among the first n."""
    smaller = jnp.minimum(pre_spectrum(x), ft_spectrum(x))
    return jnp.min(smaller, where=jnp.arange(x.d) < x.n, initial=jnp.inf)


def learned(x: claims.Instance, spectrum: Float[Array, " d"]) -> Float[Array, " d"]:
    """The first n entries of a spectrum, zeros behind."""
    return jnp.where(jnp.arange(x.d) < x.n, spectrum, 0)


def weighted(major: Callable, minor: Callable) -> Callable:
    """The prediction (major + lam minor) / (1 + lam) of two spectra."""

    def predict(x: claims.Instance) -> Float[Array, " d"]:
        lam = pull_back(x)
        return (major(x) + lam * minor(x)) / (1 + lam)

    return predict


def ideal_features(x: claims.Instance) -> Float[Array, " d"]:
    """The features of the ideal start: the first n of pre-training."""
    return learned(x, pre_spectrum(x))


def is_learned(r: claims.Run) -> Float[Array, " d"]:
    """Nonnegative for the first n features."""
    return r.x.n - 1 - jnp.arange(r.x.d)


def assembled(x: claims.Instance, spectrum: Float[Array, " d"]) -> Float[Array, "d d"]:
    """U diag(spectrum) V^T."""
    return dot(x.U * spectrum, x.V.T)


def factors(x: claims.Instance, modes: Float[Array, " d"]) -> Factors:
    """W_1 = U diag(modes), W_2 = diag(modes) V^T."""
    return x.U * modes, modes[:, None] * x.V.T


def ideal_modes(x: claims.Instance) -> Float[Array, " d"]:
    """The roots of the features of the ideal start."""
    return jnp.sqrt(ideal_features(x))


def ideal_start(x: claims.Instance) -> Factors:
    """Eqs. 7 and 8: the first n features are learned, the others exactly zero."""
    return factors(x, ideal_modes(x))


def real_modes(x: claims.Instance) -> Float[Array, " d"]:
    """Modes of the pre-trained network at the n-th stage time, from e^-tau U and e^-tau V^T.

    The start is measured from the largest feature, e^-tau = e^-depth sqrt(Sigma_11), and so are the
    stages: by tau they would be later ones, the more the smaller the features are.
    """
    spectrum = pre_spectrum(x)
    time = linear_modes.stage_times(spectrum, x.depth)[x.n - 1]
    return jnp.sqrt(linear_modes.growth(time, spectrum, x.depth - jnp.log(spectrum[0]) / 2))


def real_start(x: claims.Instance) -> Factors:
    """The factors of the pre-trained network at the n-th stage time."""
    return factors(x, real_modes(x))


def op_norm(matrix: Float[Array, "*lead d d"]) -> Float[Array, "*lead"]:
    """The largest singular value."""
    return jnp.linalg.norm(matrix, ord=2, axis=(-2, -1))


def furthest(first: Factors, second: Factors) -> Float[Array, "..."]:
    """max over j of |W_j - W_j'|_op; leading axes broadcast."""
    return jnp.maximum(op_norm(first[0] - second[0]), op_norm(first[1] - second[1]))
