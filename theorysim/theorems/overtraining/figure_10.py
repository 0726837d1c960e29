"""The loss on the way to a fine-tuned model, and its quadratic approximation.

Figure 10 of Springer et al. (2025), for OLMo-30M at its three largest budgets and fine-tuning on
ag_news: from the base model (lambda = 0) to the fine-tuned one (lambda = 1) the loss of
pre-training is not well approximated by its second-order Taylor polynomial where lambda is large,
and substantially higher. Here a model of bigrams of characters learns the text of Python's help,
then that of Python's library; each run takes the rate that is best for the other half of the runs.
"""

import jax
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _language_taylor as taylor
from theorysim.theorems.overtraining._language_readings import at_the_best_rate, on_programs


def _above(r: claims.Run) -> Float[Array, "run lambda budget"]:
    of_each_lambda = jax.vmap(at_the_best_rate, (1, None), 1)
    return of_each_lambda(r.sim.towards_above, on_programs(r.sim.ft))


theorem = claims.Experiment(
    **taylor.setting(_above),
    source=claims.Printed(
        "Appendix D and Figure 10",
        "Similar to the Gaussian case, we observe that the loss is not well-approximated by the "
        "Hessian when [...] is large, and the actual loss is substantially higher than the "
        "quadratic approximation (right).",
    ),
    note="a model of bigrams of characters, on Python's help and then its library",
)
