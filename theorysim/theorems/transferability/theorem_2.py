"""Fine-tuning moves the weights by the mismatch of the tasks, in the norm of the target's Gram.

Theorem 2 of Liu et al. (2019), with e = y_Q - y_(P->Q) and probability 1 - delta. Main text (Eq.
5): ||W(Q) - W(P)||_F <= sqrt(e^T H_Q^(-1) e) + O(n_P sqrt(n_Q kappa) / (lambda_P lambda_Q
sqrt(delta))) + poly / m^(1/4). Appendix (Eq. 48): ||W_Q(K) - W(P)||_F^2 = e^T H_Q^(-1) e +
O(n_P^2 n_Q kappa / (lambda_P^2 lambda_Q^2 delta)) + O(n_P^5 n_Q^5 / (m^(1/4) lambda_P^4 lambda_Q^4
delta^2 kappa^2)). kappa = O(lambda_P^2 lambda_Q^2 delta / (n_P^2 sqrt(n_Q))) is read with the
constant one. W(Q) is read as the end of fine-tuning ("an accurate model"), and so is the W_Q(K) of
Eq. 48, after "the K iterations", of which the print asks nothing. The errors of order kappa are
those of infinite width, whose law transferability/ntk-two-stage checks;
transferability/theorem-2-widths has the others.
"""

from collections.abc import Callable, Mapping

import jax.numpy as jnp

from theorysim import claims
from theorysim.systems import two_layer_relu_limit as limit
from theorysim.theorems.transferability import _problem as problem


def _labels(x: claims.Instance):
    """y_Q, given or those that the source task predicts."""
    return jnp.where(x.predicted, jnp.clip(problem.transferred(x), -1, 1), x.target_labels)


def _eigenvalues(x: claims.Instance):
    return problem.lambda_p(x), problem.lambda_q(x)


def _kappa(x: claims.Instance):
    """A share of the largest scale that is allowed."""
    first, second = _eigenvalues(x)
    return x.scale_share * (first * second) ** 2 * x.failure / (x.p**2 * jnp.sqrt(x.q))


def _simulate(first: float, second: float, share: float | None = None) -> Callable:
    """The distance at infinite width after so many steps of both stages.

    `share` is that of the largest stable rate in fine-tuning; the field's unless given.
    """

    def simulate(x: claims.Instance, key):
        start = limit.sample_initial_outputs(key, problem.joint_inputs(x), _kappa(x))
        rates = problem.stable_rates(x)
        rate = rates[1] if share is None else share / x.rate_share * rates[1]
        before = limit.Stage(x.source_labels, start[: x.p], rates[0], first)
        after = limit.Stage(_labels(x), start[x.p :], rate, jnp.array([second]))
        gram, loss = problem.joint_gram(x), problem.NORMALISATION
        path = limit.transfer(gram, before, after, normalisation=loss)
        return path.fine_tuning.distance[0]

    return simulate


def predict(x: claims.Instance):
    """sqrt(e^T H_Q^(-1) e)."""
    return jnp.sqrt(problem.form(problem.target_gram(x), _labels(x) - problem.transferred(x)))


def from_scratch(x: claims.Instance):
    return jnp.sqrt(problem.form(problem.target_gram(x), _labels(x)))


def _log_width(x: claims.Instance):
    """Where n_P^5 n_Q^5 / (m^(1/4) lambda_P^4 lambda_Q^4 delta^2 kappa^2) is one."""
    first, second = _eigenvalues(x)
    rest = (first * second) ** 4 * x.failure**2 * _kappa(x) ** 2
    return 4 * (jnp.log10(float(x.p * x.q) ** 5) - jnp.log10(rest))


def _excess(r):
    return jnp.maximum(r.sim - r.theory, 0)


def _square_error(r):
    """Of the squares, as a product because it is small."""
    return jnp.abs(r.sim - r.theory) * (r.sim + r.theory)


IN_KAPPA = {"scale_share": (1, 0.1, 0.01)}
LADDERS = {
    "p": (2, 4, 8),
    "q": (2, 4, 8),
    "source_spread": (1.2, 0.75, 0.48, 0.3),
    "target_spread": (1.2, 0.75, 0.48, 0.3),
    "failure": (0.5, 0.25, 0.125),
    **IN_KAPPA,
}


def _order(name: str, error, power: float, over: Mapping = LADDERS):
    """`power` 1/2: the root of the order of the squares."""

    def scale(r):
        first, second = _eigenvalues(r.x)
        square = r.x.p**2 * r.x.q * _kappa(r.x) / ((first * second) ** 2 * r.x.failure)
        return square**power

    return problem.likely_order(name, error, scale, over)


MAIN = _order("norm", _excess, 0.5)
APPENDIX = _order("squared norm", _square_error, 1.0)


theorem = claims.Theorem(
    space=problem.problem_space(
        predicted=claims.Choice(0, 1),
        scale_share=claims.Real(1e-4, 1, log=True),
        failure=problem.FAILURE,
        rate_share=claims.Real(0.3, 0.9),
    ),
    assumes=(problem.REGULAR,),
    requirements={"log10 of the width at which the last error of Eq. 48 is one": _log_width},
    simulate=_simulate(jnp.inf, jnp.inf),
    predict=predict,
    claims=(MAIN,),
    printed="main text",
    source=claims.Printed(
        "Section 6.3, Theorem 2 (Eq. 5)",
        "||W(Q) - W(P)||_F <= sqrt((y_Q - y_(P->Q))^T H_Q^(-1) (y_Q - y_(P->Q))) + O(n_P n_Q^(1/2) "
        "kappa^(1/2) / (lambda_P lambda_Q delta^(1/2))) + poly / m^(1/4)",
    ),
    aliases=("eq-5",),
    readings=(
        claims.Reading(
            "appendix",
            claims.Printed(
                "Appendix C.2, Eq. 48",
                "||W_Q(K) - W(P)||_F^2 = e^T H_Q^(-1) e + O(n_P^2 n_Q kappa / (lambda_P^2 "
                "lambda_Q^2 delta)) + O(n_P^5 n_Q^5 / (m^(1/4) lambda_P^4 lambda_Q^4 delta^2 "
                "kappa^2))",
            ),
            claims=(APPENDIX,),
        ),
        claims.Reading(
            "main text, one large step",
            claims.Finding("whether W_Q(1) obeys Eq. 5, whose W(Q) is the end of fine-tuning"),
            simulate=_simulate(jnp.inf, 1.0, 0.95),
            claims=(_order("norm", _excess, 0.5, IN_KAPPA),),
            note="one step of eta = 1.9 / lambda_max overshoots: no erratum, W(Q) is the end",
        ),
        claims.Reading(
            "appendix, few steps",
            claims.Finding("whether K = 3 steps of fine-tuning obey Eq. 48, which is of the end"),
            simulate=_simulate(jnp.inf, 3.0),
            claims=(_order("squared norm", _square_error, 1.0, IN_KAPPA),),
            note="no erratum: the K iterations of the print are all of them, since Eq. 45 sums "
            "them to H_Q^(-1)",
        ),
    ),
    mutants=(
        claims.Mutant("y_Q for y_Q - y_(P->Q)", of=("main text", "appendix"), predict=from_scratch),
    ),
    keys=128,
    instances=16,
    mutant_instances=16,
)
