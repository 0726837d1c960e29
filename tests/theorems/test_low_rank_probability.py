"""How often signs turn h around in Theorem 5, against the limit of many neurons in closed form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import one_in
from scipy.integrate import quad
from scipy.stats import norm

from theorysim.claims import Instance
from theorysim.theorems.low_rank import theorem_5_probability as statement

KEYS = 4096
READOUTS = {"equal": np.ones(8), "spread": np.geomspace(0.2, 5, 8)}


def limit(xi_bar: float) -> float:
    """P[g g' > 2 / xi_bar^2] for independent standard normal numbers: sums of many signs."""
    kick = 2 / xi_bar**2
    tail = quad(lambda g: norm.pdf(g) * norm.sf(kick / g), 0, 40, points=[kick**0.5], limit=200)
    return 2 * tail[0]


def share_lost(xi_bar: float, readout: np.ndarray, k: float) -> float:
    """What the first sum, not yet zero, lowers the chance by: e^-s on average, s of order k^-1/2.

    It moves the threshold 2 / xi_bar^2 by s = |N| (mean lambda^4 / k)^1/2 / (mean lambda^2
    xi_bar^4), and the tail falls at most as e^-s.
    """
    scale = (np.mean(readout**4) / k) ** 0.5 / (np.mean(readout**2) * xi_bar**4)
    return scale * (2 / np.pi) ** 0.5


@pytest.mark.parametrize("readout", one_in(2, READOUTS.values(), first=1), ids=READOUTS)
@pytest.mark.parametrize("xi_bar", one_in(4, [0.4, 0.5, 0.7, 1.0]))
def test_the_chance_rests_at_a_positive_limit_for_every_xi_bar(xi_bar, readout):
    """So it does not vanish where the ladder of the claim leaves that undecided, near 0.4."""
    with jax.enable_x64(True):
        values = {"alike": statement.ALIKE[-1], "readout": readout, "xi_bar": xi_bar}
        x = Instance({name: jnp.asarray(value) for name, value in values.items()}, ())
        keys = jax.random.split(jax.random.key(0), KEYS)
        drawn = np.asarray(jax.jit(jax.vmap(lambda key: statement._weighed(x, key)))(keys))
    error = drawn.std() / KEYS**0.5
    lost = share_lost(xi_bar, readout, statement.VALUES * statement.ALIKE[-1])
    assert lost < 0.02 and error < 0.1 * limit(xi_bar)
    assert abs(drawn.mean() / limit(xi_bar) - 1) < 4 * error / limit(xi_bar) + lost
