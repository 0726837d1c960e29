# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # A tour of theorysim
#
# Is a theorem true as printed? Where does it stop holding, how loose is its bound, and what does
# gradient descent really do there? This tour verifies a lemma, finds and proves a counterexample
# to its printed form, sweeps it, and writes a theorem of its own.

# %%
# %matplotlib inline
from pathlib import Path
from tempfile import mkdtemp

import jax.numpy as jnp
import numpy as np

import theorysim
from theorysim.report import plot, sweep_plot
from theorysim.systems.ideal_stages import ideal_stages, inflection_point
from theorysim.systems.linear_modes import Tuning
from theorysim.testing import assert_holds, instances

for theorem in theorysim.catalogue()[:5]:
    print(f"{theorem.id:<30} {theorem.title}")

# %% [markdown]
# ## Verify
#
# Lemma A.28 of the `overtraining` paper follows one feature through regularised fine-tuning. The
# lemma is printed with two different maps, and with a fixed point; every place that prints it is
# a *reading*. `verify` draws instances, runs gradient descent, and compares it with what each
# reading predicts, up to a numerical error that it measures.

# %%
report = theorysim.verify("lemma-a.28", reading="Section A.6", instances=32, settings={"steps": 60})
print(report)

# %% [markdown]
# The printed fixed point is refuted; the corrected reading holds.

# %%
corrected = theorysim.verify(
    "lemma-a.28", reading="corrected", instances=32, settings={"steps": 60}
)
print(corrected)
print(corrected.readings[0].note)

# %% [markdown]
# At the decisive instance, the run contracts to the corrected fixed point as fast as promised:

# %%
plot.figure(corrected)

# %% [markdown]
# ## Falsify and certify
#
# `falsify` attacks a reading, and shrinks what it finds to small sizes and round numbers.

# %%
attacks = theorysim.falsify("lemma-a.28", reading="Section A.6", claim="rate", budget=2000)
hit = next(attack for attack in attacks.attacks if attack.refuted)
print(hit.claim, "at", hit.instance["sizes"], hit.instance["values"])
print(f"left side {hit.lhs:.6g}, right side {hit.rhs:.6g}, numerical error {hit.error:.1e}")

# %% [markdown]
# With no pull-back (`lam = 0`) the printed fixed point is the start itself, so the lemma would
# have gradient descent stand still. Ball arithmetic removes the last doubt about rounding:

# %%
proof = theorysim.certify("lemma-a.28", reading="Section A.6", claim="rate", instance=hit.instance)
print(proof)

# %% [markdown]
# ## Sweep
#
# A theorem or any pure function, over a grid, as a labelled dataset. Here: after how many learned
# features does more pre-training begin to harm, as the spectrum decays faster and the pull-back of
# fine-tuning grows? (Theorem 4.7 says that a pull-back delays it.)


# %%
def harmful_stage(lam, decay):
    """The inflection point of twelve features exp(-decay i), tuned to features of one half."""
    features = jnp.exp(-decay * jnp.arange(12))
    tuning = Tuning(jnp.full(12, 0.5), features, lam, 0.05 / (1 + lam))
    return inflection_point(ideal_stages(tuning, 3000).pretraining_increments)


stages = theorysim.sweep(
    harmful_stage, {"decay": np.linspace(0.1, 1.5, 60), "lam": np.linspace(0, 10, 60)}
)
sweep_plot.figure(stages)

# %% [markdown]
# ## Bring your own theorem
#
# One file: a space of instances, the real thing (`simulate`), the theory (`predict`), the claims
# that relate them, and mutants, small false variants that they must refute. Here is what is often
# said of heavy-ball momentum: on a quadratic it contracts by
# $(\sqrt\kappa - 1) / (\sqrt\kappa + 1)$ per step.

# %%
mine = Path(mkdtemp()) / "momentum.py"
mine.write_text('''"""Heavy-ball momentum contracts by the root of the condition number."""

import jax.numpy as jnp
import optax

from theorysim.claims import (
    Corrected,
    Mutant,
    Printed,
    Reading,
    Size,
    Space,
    Spectrum,
    Theorem,
    UnitVector,
    at_most,
)
from theorysim.numerics.descent import descend


def simulate(x, key):
    largest, least = jnp.sqrt(x.curvatures[0]), jnp.sqrt(x.curvatures[-1])
    rate, momentum = 4 / (largest + least) ** 2, ((largest - least) / (largest + least)) ** 2
    heavy_ball = optax.sgd(rate, momentum=momentum)
    return descend(lambda w: jnp.sum(x.curvatures * w**2) / 2, x.start, heavy_ball, x.steps)


def predict(x):
    root = jnp.sqrt(x.curvatures[0] / x.curvatures[-1])
    return ((root - 1) / (root + 1)) ** jnp.arange(x.steps + 1)


theorem = Theorem(
    space=Space(
        d=Size(5), steps=Size(30), curvatures=Spectrum("d", 0.1, 10), start=UnitVector("d")
    ),
    simulate=simulate,
    predict=predict,
    claims=(at_most("rate", lambda r: jnp.linalg.norm(r.sim, axis=-1), lambda r: r.theory),),
    printed="as often said",
    source=Printed("many a lecture", "((sqrt(kappa) - 1) / (sqrt(kappa) + 1))^k"),
    readings=(
        Reading(
            "with a factor 1 + k",
            Corrected("times 1 + k"),
            predict=lambda x: (1 + jnp.arange(x.steps + 1)) * predict(x),
            note="both roots of the slowest mode coincide, and it decays like k rho^k",
        ),
        Reading(
            "with a factor 1 + 2k",
            Corrected("times 1 + 2k"),
            predict=lambda x: (1 + 2 * jnp.arange(x.steps + 1)) * predict(x),
            primary=True,
            note="so do those of the fastest mode, which oscillates",
        ),
    ),
    mutants=(Mutant("the square of the rate", predict=lambda x: predict(x) ** 2),),
)
''')
momentum = theorysim.theorem("momentum", [mine])
report = theorysim.verify(momentum)
print(report)

# %% [markdown]
# It is refuted: the rate is asymptotic only, and momentum has a transient. A first correction,
# made for the slowest mode, is refuted as well; the second holds. The picture shows by how much.

# %%
plot.figure(report)

# %% [markdown]
# Your theorem has the whole tool: `falsify`, `certify`, `sweep`, and property-based tests with
# shrinking.

# %%
found = theorysim.falsify(momentum, reading="as often said", budget=500)
print(found.attacks[0].instance)
example = instances(momentum, reading="with a factor 1 + 2k").example()
assert_holds(momentum, example, reading="with a factor 1 + 2k")
