"""Fine-tuning converges linearly, at half the smallest eigenvalue of the target's Gram matrix.

Theorem 3 (Eq. 35) and Condition 1 of Liu et al. (2019): with probability 1 - delta,
||u_Q(k) - y_Q||^2 <= (1 - eta lambda_Q / 2)^k ||u_Q(P) - y_Q||^2 for all k, where, "under the same
conditions as in Theorem 1" (a width above an unnamed polynomial, in 1 / lambda_Q, too), eta =
O(lambda_Q / n_Q^2), kappa = O(lambda_P^2 delta / (n_P^2 sqrt(n_Q))) and m = Omega(n_P^8 n_Q^6 /
(lambda_P^16 lambda_P^4 kappa^2 delta^10)). All orders are read with the constant one. No network of
that width can be run: it follows the law of infinite width, which transferability/ntk-two-stage
checks, from outputs u(0) drawn from theirs. There it is elementary, (1 - eta lambda)^2 <= 1 - eta
lambda / 2: what the theorem says beyond that is its width, which transferability/theorem-3-choices
checks as its proof uses it, and transferability/theorem-3-widths on real networks.
"""

from theorysim import claims
from theorysim.systems import two_layer_relu_limit as limit
from theorysim.theorems.transferability import _decay as decay
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training


def simulate(x: claims.Instance, key) -> decay.Decay:
    start = limit.sample_initial_outputs(key, problem.joint_inputs(x), x.kappa)
    return decay.linear_decay(x, problem.joint_gram(x), start, x.target_steps)


def _largest_eigenvalue(x: claims.Instance):
    return problem.largest(problem.target_gram(x))


theorem = claims.Theorem(
    space=decay.decay_space(),
    assumes=(problem.REGULAR,),
    hypotheses={"kappa": lambda x: training.theorem_3_scale(x) / x.kappa - 1},
    requirements={"log10 of the width": training.log_theorem_3_width},
    simulate=simulate,
    claims=(decay.contraction,),
    printed="as printed, at infinite width",
    source=claims.Printed(
        "Appendix C.2, Theorem 3 (Eq. 35)",
        "||u_Q(k) - y_Q||_2^2 <= (1 - eta lambda_Q / 2)^k ||u_Q(P) - y_Q||_2^2",
    ),
    aliases=("condition-1", "eq-35"),
    mutants=(
        claims.Mutant(
            "the largest eigenvalue of H_Q for the smallest",
            claims=(decay.contraction.against(decay.log_bound(_largest_eigenvalue)),),
        ),
    ),
    keys=64,
    instances=16,
    mutant_instances=16,
)
