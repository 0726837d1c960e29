"""One step on the population takes two states apart by at most a factor 1 + 16 eta Gamma.

Lemma A.16 of Springer et al. (2025): for two well-conditioned pairs of factors with the same
pull-back anchor, e = max_j |W_j - W_j'|_op grows by at most that factor. The proof writes the
gradient with the target A = (lam A^pre + A^ft) / (1 + lam), which takes a factor 1 + lam, and
bounds a bracket by 16 Gamma e that it then takes once, not twice. The triangle inequality gives
1 + 26 (1 + lam) eta Gamma at any learning rate.
"""

from theorysim import claims
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _one_step as one


def simulate(x: claims.Instance, key):
    return tuple(one.descended(x, weights) for weights in one.two_states(x))


def _with_pull_back(x: claims.Instance):
    return 26 * (1 + ft.pull_back(x))


theorem = claims.Theorem(
    space=one.two_state_space(),
    hypotheses=one.CONDITIONED,
    simulate=simulate,
    claims=one.grows_by(lambda x: 16.0),
    source=claims.Printed("Lemma A.16", "epsilon_{k+1} <= (1 + 16 eta Gamma) epsilon_k"),
    note="a factor 2 of the step is lost, and the pull-back's factor 1 + lam",
    readings=(
        claims.corrected(
            "epsilon_{k+1} <= (1 + 26 (1 + lam) eta Gamma) epsilon_k",
            claims=one.grows_by(_with_pull_back),
            note="2 (8 + 5) Gamma by the triangle inequality, and 1 + lam for the pull-back",
        ),
        one.without_pull_back("as printed, without pull-back", "Lemma A.16", one.CONDITIONED),
    ),
    mutants=(
        claims.Mutant("half the growth", claims=one.grows_by(lambda x: _with_pull_back(x) / 2)),
        claims.Mutant("no growth", claims=one.grows_by(lambda x: 0.0)),
    ),
    instances=256,
)
