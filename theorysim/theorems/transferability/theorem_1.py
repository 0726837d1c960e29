"""Pretraining changes the activation gradient by the mismatch of the tasks.

Theorem 1 (Eq. 4) of Liu et al. (2019): ||dL(W(P))/dX^1||^2 = ||dL(W(0))/dX^1||^2 - |y_Q|^2 +
|y_Q - y_(P->Q)|^2 + poly / m^(1/4) + O(n_P^2 sqrt(n_Q) kappa / (lambda_P^2 delta)), with
probability 1 - delta, where kappa = O(lambda_P^2 delta / (n_P^2 sqrt(n_Q))), read with the constant
one. The gradients are ||u_Q - y_Q|| (Eq. 16). The last error is that of infinite width, whose law
transferability/ntk-two-stage checks. W(P), pretrained in "the K iterations", of which the print
asks nothing, is read as the end of pretraining. The error grows as n_Q: Eq. 31, n_P n_Q kappa /
(lambda_P sqrt(delta)), is not within the printed order; target inputs that are near each other
attain it. They come here in groups of distinct inputs about some centres.
transferability/theorem-2-widths has the other error.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.systems import two_layer_relu_limit as limit
from theorysim.theorems.transferability import _groups as groups
from theorysim.theorems.transferability import _problem as problem


def _kappa(x: claims.Instance):
    """A share of the largest scale that is allowed."""
    largest = problem.lambda_p(x) ** 2 * x.failure / (x.p**2 * jnp.sqrt(groups.samples(x)))
    return x.scale_share * largest


def _simulate(steps: float) -> Callable:
    """u_Q(0) and u_Q(P) - u_Q(0), at infinite width."""

    def simulate(x: claims.Instance, key) -> tuple:
        inputs = jnp.concatenate([problem.source(x).inputs, groups.inputs(x)])
        start = limit.sample_initial_outputs(key, inputs, _kappa(x))
        residual = x.source_labels - start[: x.p]
        moved = limit.kernel_descent(
            problem.source_gram(x), residual, problem.stable_rates(x)[0], steps
        )
        return start[x.p :], groups.carried(x, moved.coefficients)

    return simulate


def _gap(r):
    """The squared gradient minus the three leading terms, free of their cancellation."""
    lead = groups.carried(r.x, problem.solve(problem.source_gram(r.x), r.x.source_labels))
    labels, (start, change) = groups.labels(r.x), r.sim
    error = (change - lead) * (change + lead - 2 * labels) + 2 * change * start
    return jnp.abs(groups.summed(r.x, error))


def _order(n_q: float, lam: float = 2):
    """The quantile of the error against n_P^2 n_Q^n_q kappa / (lambda_P^lam delta)."""

    def scale(r):
        rest = problem.lambda_p(r.x) ** lam * r.x.failure
        return r.x.p**2 * groups.samples(r.x) ** n_q * _kappa(r.x) / rest

    over = {
        **groups.LADDER,
        "samples": (4, 8, 16, 32, 64, 128),
        "scale_share": (1, 0.1, 0.01),
        "source_spread": (1.2, 0.75, 0.48, 0.3),
        "p": (2, 4, 8),
    }
    return problem.likely_order("error of order kappa", _gap, scale, over)


theorem = claims.Theorem(
    space=groups.group_space(
        32, scale_share=claims.Real(1e-4, 1, log=True), rate_share=claims.Real(0.3, 0.9)
    ),
    assumes=(problem.REGULAR_SOURCE,),
    hypotheses={"lambda_Q > 0": groups.regular},
    simulate=_simulate(jnp.inf),
    claims=(_order(0.5),),
    source=claims.Printed(
        "Section 6.2, Theorem 1 (Eq. 4)",
        "... + |y_Q - y_(P->Q)|^2 + poly / m^(1/4) + O(n_P^2 n_Q^(1/2) kappa / (lambda_P^2 delta))",
    ),
    note="Eq. 31 grows as n_Q",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("n_Q for n_Q^(1/2) in the last term"),
            claims=(_order(1.0),),
            primary=True,
            note="the order that Eq. 31 has",
        ),
        claims.Reading(
            "after any number of steps",
            claims.Finding("whether K = 3 steps of pretraining obey Eq. 4, whose W(P) is the end"),
            simulate=_simulate(3.0),
            claims=(_order(1.0),),
            note="y_(P->Q) is the end of pretraining: no erratum, the K iterations of the print "
            "are all of them",
        ),
    ),
    mutants=(
        claims.Mutant("n_Q^(1/2), as printed", claims=(_order(0.5),)),
        claims.Mutant("free of lambda_P", claims=(_order(1.0, 0),)),
    ),
    keys=128,
    instances=16,
    mutant_instances=16,
)
