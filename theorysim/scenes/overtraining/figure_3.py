"""The gap that Gaussian noise opens, and the perturbed loss, against the budget of pre-training."""

from theorysim.scenes.overtraining._tuned import PERPLEXITIES, perplexity
from theorysim.scenes.picture import Picture, View

STEPS = "pre-training, steps"

picture = Picture(
    title="The longer the pre-training, the more noise on the parameters harms",
    caption="A model of bigrams on Python's help, where the paper has OLMo-30M on C4.",
    views=(
        View(
            "Left: what the noise adds",
            f"with noise − without, {PERPLEXITIES}",
            lambda data: perplexity(data.perturbed) - perplexity(data.base),
            "budget",
            STEPS,
            "gamma",
            "scale γ of the noise",
            log_y=True,
        ),
        View(
            "Right: the perturbed model",
            "loss with noise above entropy, nats",
            lambda data: data.perturbed,
            "budget",
            STEPS,
            "gamma",
            "scale γ of the noise",
            log_y=True,
        ),
    ),
)
