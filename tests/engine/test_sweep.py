"""Sweeps of theorems: their claims over a grid of fields and sizes, in float64."""

import jax.numpy as jnp
import numpy as np
import pytest

import theorysim
from theorysim.claims import Gaussian, Mutant, Real, Size, Space, Theorem, at_most
from theorysim.engine.sweep.theorems import output_names
from theorysim.errors import UsageError


def test_a_function_is_swept_as_it_is():
    def line(x):
        return 2 * x

    found = theorysim.sweep(line, {"x": [1.0, 2.0]}, units={"x": "s"})
    assert found["line"].dtype == np.float32 and found["x"].attrs["units"] == "s"


def mean_square(lower=0.5):
    return Theorem(
        space=Space(n=Size(3, 1, 8), factor=Real(lower, 4), v=Gaussian("n")),
        simulate=lambda x, key: x.factor * x.v,
        predict=lambda x: x.factor**2 * jnp.max(x.v**2),
        claims=(at_most("mean", lambda r: jnp.mean(r.sim**2), lambda r: r.theory),),
        mutants=(Mutant("half", predict=lambda x: x.factor**2 * jnp.max(x.v**2) / 2),),
    )


def test_a_theorem_is_swept_over_its_fields_in_float64():
    found = theorysim.sweep(
        mean_square(), {"factor": [0.5, 2.0]}, sizes={"n": [1, 4]}, seeds=32, seed=3
    )
    assert found["mean.slack"].dtype == np.float64 and not found["diverged"].any()
    # One number is its own mean and maximum, up to the rounding of one square more.
    equal = abs(found["mean.slack"].sel(n=1)) <= 4 * np.finfo(float).eps * found["mean.rhs"]
    assert equal.sel(n=1).all()
    assert (found["mean.slack"].sel(n=4) > 0).all()
    assert theorysim.sweep(mean_square(), {"factor": [1.0]}).sizes["seed"] == 1


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"factor": [0.5, 9.0]}, "real in"),
        ({"n": [1, 2]}, "give it in sizes"),
        ({"p": {"factor": [1.0], "other": [1.0]}}, "not a size or field"),
    ],
)
def test_values_that_are_none_of_the_theorem_are_refused(axes, message):
    with pytest.raises(UsageError, match=message):
        theorysim.sweep(mean_square(), axes)


def test_claims_whose_names_differ_in_signs_only_are_numbered():
    names = ("rate >= 0", "rate <= 0", "other", "rate = 0")
    claims = [at_most(name, lambda r: r.sim, lambda r: r.theory) for name in names]
    assert output_names(claims) == ["rate_0", "rate_0_2", "other", "rate_0_3"]
