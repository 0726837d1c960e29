"""What Eq. 29 to 32 are at infinite width: Eq. 30 grows as n_Q, not as its root.

Liu et al. (2019), Appendix C.1, after endless pretraining. With g = H_PQ^T H_P^(-1) u_P(0) and t =
y_(P->Q): ||eps||^2 = u_P(0)^T H_P^(-1) u_P(0) (Eq. 29), Z_Q^T eps = -g and Z_Q^T Z_P H_P^(-1) y_P =
t (Eq. 30, with the second Z_Q that its shapes need, -g^T t), u_Q(0)^T t (Eq. 31) and -u_Q(0)^T g
(Eq. 32). Outputs u(0) are drawn from their law. All are powers of kappa, which is one here. Target
inputs come in groups of distinct inputs about some centres.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import two_layer_relu_limit as limit
from theorysim.theorems.transferability import _groups as groups
from theorysim.theorems.transferability import _problem as problem


class Terms(NamedTuple):
    """The terms, by equation."""

    eq_29: Float[Array, "*keys"]
    eq_30: Float[Array, "*keys"]
    eq_31: Float[Array, "*keys"]
    eq_32: Float[Array, "*keys"]


def simulate(x: claims.Instance, key) -> Terms:
    inputs = jnp.concatenate([problem.source(x).inputs, groups.inputs(x)])
    start = limit.sample_initial_outputs(key, inputs, 1.0)
    source, target, gram = start[: x.p], start[x.p :], problem.source_gram(x)
    noise = groups.carried(x, problem.solve(gram, source))
    lead = groups.carried(x, problem.solve(gram, x.source_labels))
    products = (noise * lead, target * lead, target * noise)
    return Terms(
        problem.form(gram, source), *(jnp.abs(groups.summed(x, each)) for each in products)
    )


def _order(what: str, n_p: float, n_q: float, lam: float, failure: float):
    """A term against n_P^n_p n_Q^n_q / (lambda_P^lam delta^failure)."""

    def scale(r):
        rest = problem.lambda_p(r.x) ** lam * r.x.failure**failure
        return r.x.p**n_p * groups.samples(r.x) ** n_q / rest

    return problem.likely_order(
        what.replace("eq_", "Eq. "),
        lambda r: getattr(r.sim, what),
        scale,
        over={**groups.LADDER, "source_spread": (1.2, 0.75, 0.48, 0.3), "p": (2, 4, 8)},
    )


EQ_29, EQ_31, EQ_32 = (
    _order("eq_29", 2, 0, 2, 2),
    _order("eq_31", 1, 1, 1, 0.5),
    _order("eq_32", 1, 1, 1, 1.5),
)
PRINTED_30, EQ_30 = (_order("eq_30", 2, power, 2, 1) for power in (0.5, 1))

theorem = claims.Theorem(
    space=groups.group_space(16),
    assumes=(problem.REGULAR_SOURCE,),
    hypotheses={"lambda_Q > 0": groups.regular},
    simulate=simulate,
    claims=(EQ_29, PRINTED_30, EQ_31, EQ_32),
    source=claims.Printed(
        "Appendix C.1, Eq. 29 to 32",
        "eps^T Z_Q(P)^T Z_P(0) H_P^(-1) y_P = O(n_P^2 n_Q^(1/2) kappa / (lambda_P^2 delta)) + ...",
    ),
    note="Eq. 30, with a second Z_Q, without which its shapes do not fit, is a sum over the target "
    "inputs, as Eq. 31 is, and grows as n_Q",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("a second Z_Q and n_Q for n_Q^(1/2) in Eq. 30"),
            claims=(EQ_29, EQ_30, EQ_31, EQ_32),
            primary=True,
            note="the orders of infinite width",
        ),
    ),
    mutants=(
        claims.Mutant("n_Q^(1/2) in Eq. 30, as printed", claims=(PRINTED_30,)),
        # Free of lambda_P would not be false: initial outputs vanish along its eigenvector, too.
        claims.Mutant("1 / n_Q in Eq. 29", claims=(_order("eq_29", 2, -1, 2, 2),)),
        claims.Mutant(
            "n_Q^(1/2) in Eq. 31 and 32",
            claims=(_order("eq_31", 1, 0.5, 1, 0.5), _order("eq_32", 1, 0.5, 1, 1.5)),
        ),
    ),
    keys=128,
    instances=16,
    mutant_instances=16,
)
