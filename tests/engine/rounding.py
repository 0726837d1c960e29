"""Numbers that double precision gets wrong, for statements of known truth."""

import jax
import jax.numpy as jnp

from theorysim.claims import Real, Size, Space, Theorem, UnitVector

ABSORBING = Real(38, 38.5)


def number(r):
    return r.x.x


def zero(r):
    return 0.0


def uniform(x, key):
    return jax.random.uniform(key)


def seems(x):
    """Half a unit of 1 where double precision absorbs e^-x; in truth below 0."""
    return 1e8 * (jnp.exp(-x) / 2 - (1 - jax.nn.sigmoid(x)))


def without_enclosure(x):
    """Nothing, of which no enclosure is known."""
    return 0 * jax.scipy.special.gammaln(x)


def is_nothing(x):
    """0 in truth, for every x."""
    return jnp.sqrt(x.x) ** 2 - x.x


def of_unit_vector(claim, hypotheses=None, x=ABSORBING, **more):
    return Theorem(
        space=Space(n=Size(3), x=x, v=UnitVector("n")),
        simulate=uniform,
        predict=lambda x: x.x,
        claims=(claim,),
        hypotheses=hypotheses or {},
        mutants=(),
        id="tests/statement",
        title="a statement of known truth",
        **more,
    )


def beside_zero(x):
    """0 in truth, of which enclosures know no root."""
    return jnp.sum(x.v**2) - 1


def of_two_vectors(claim, hypotheses=None, simulate=uniform, **more):
    return Theorem(
        space=Space(n=Size(4), v=UnitVector("n"), w=UnitVector("n")),
        simulate=simulate,
        predict=lambda x: 0.0,
        claims=(claim,),
        hypotheses=hypotheses or {},
        mutants=(),
        id="tests/statement",
        title="a statement of known truth",
        **more,
    )


def long(number):
    """More operations than are asked for in other roundings."""
    for _ in range(60):
        number = jnp.sin(number) + jnp.cos(number)
    return number
