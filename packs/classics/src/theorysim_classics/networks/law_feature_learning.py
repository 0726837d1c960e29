"""Features move in wide networks under muP and stand still under the NTK parametrisation.

Yang and Hu (2021), Section 3, on parametrisations: of a network of width n with outputs n^(-1/2)
sum a_i phi(w_i x) and a learning rate of the order 1, one step moves a hidden unit by n^(-1/2);
with outputs n^(-1) sum a_i phi(w_i x) and a learning rate of the order n it moves by the order 1,
which is why learning rates transfer across widths. The output moves by the order 1 in both.
"""

import jax
import jax.numpy as jnp

from theorysim import claims

WIDTHS = {"n": (64, 256, 1024)}


def _step(x: claims.Instance, key, power: float):
    """Root mean square move of the hidden units, and the output's move, in one step.

    Outputs carry n^(-power), learning rates n^(2 power - 1).
    """
    for_outer, for_inner = jax.random.split(key)
    outer = jax.random.normal(for_outer, (x.n,))
    inner = jax.random.normal(for_inner, (x.n, x.d))

    def f(w):
        return w[0] @ jnp.tanh(w[1] @ x.input) / x.n**power

    start = (outer, inner)
    slopes = jax.grad(f)(start)
    rate = x.rate * x.n ** (2 * power - 1)  # of a loss whose slope in f is one
    after = jax.tree.map(lambda w, g: w - rate * g, start, slopes)
    moved = (after[1] - inner) @ x.input
    return {"features": jnp.sqrt(jnp.mean(moved**2)), "output": jnp.abs(f(after) - f(start))}


def simulate(x: claims.Instance, key):
    return {"ntk": _step(x, key, 0.5), "mup": _step(x, key, 1.0)}


def _exchanged(x: claims.Instance, key):
    return {"ntk": _step(x, key, 1.0), "mup": _step(x, key, 0.5)}


def _power(name: str, which: str, part: str, exponent: float):
    return claims.scales_as(
        name, lambda r: r.mean(r.sim[which][part]), over=WIDTHS, exponent=exponent
    )


NTK = _power("features, NTK", "ntk", "features", -0.5)
MUP = _power("features, muP", "mup", "features", 0.0)
OUTPUTS = tuple(_power(f"output, {w}", w, "output", 0.0) for w in ("ntk", "mup"))


def _one_rate(x: claims.Instance, key):
    """Both with learning rates of the order 1 / n, as if nobody had scaled them."""
    found = simulate(x, key)
    return jax.tree.map(lambda moved: moved / x.n, found)


theorem = claims.Theorem(
    space=claims.Space(
        n=claims.Size(64, high=4096),
        d=claims.Size(3, high=16),
        input=claims.UnitVector("d"),
        rate=claims.Real(0.01, 0.5, log=True),
    ),
    simulate=simulate,
    claims=(NTK, MUP, *OUTPUTS),
    keys=64,
    source=claims.Printed(
        "Yang and Hu 2021, Section 3",
        "muP learns features, the NTK parametrisation does not: r = 0 and r = 1/2",
    ),
    mutants=(
        claims.Mutant("exchanged", simulate=_exchanged, breaks=(MUP.name,)),
        claims.Mutant(
            "a learning rate of 1 / n",
            simulate=_one_rate,
            breaks=tuple(claim.name for claim in (NTK, *OUTPUTS)),
        ),
    ),
    instances=8,
    mutant_instances=8,
)
