"""Along Gaussian noise the loss lies above its quadratic approximation, once the noise is large.

Figure 9 of Springer et al. (2025), for OLMo-30M at its three largest budgets: L(theta + lambda eps)
for one draw eps of noise is well approximated by the second-order Taylor polynomial where lambda is
"extremely close to zero" (left), and substantially higher where it is large (right): sharpness is
not all. Appendix D calls the models OLMo-30B. The paper's lambdas are not in its text: here the
left one is 2^-16, since the ReLU has kinks, which the Hessian does not see and noise of a 64th
crosses (OLMo's activation is smooth). A model of bigrams of characters learns the text of Python's
help.
"""

from theorysim import claims
from theorysim.theorems.overtraining import _language_taylor as taylor

theorem = claims.Experiment(
    **taylor.setting(lambda r: r.sim.noisy_above),
    source=claims.Printed(
        "Appendix D and Figure 9",
        "while the loss is well-approximated by the Hessian when [...] is small (left), the "
        "approximation breaks down when [...] is large (right), and the actual loss is "
        "substantially higher than the quadratic approximation.",
    ),
    note="a model of bigrams of characters on Python's help, for OLMo-30M on C4",
)
