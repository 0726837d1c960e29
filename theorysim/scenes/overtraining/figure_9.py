"""The loss along one draw of noise, and its quadratic approximation."""

from theorysim.scenes.overtraining._taylor import views
from theorysim.scenes.picture import Picture

picture = Picture(
    title="Along Gaussian noise the loss is above its quadratic approximation",
    caption=(
        "A model of bigrams on Python's help, where the paper has OLMo-30M on C4. The theory is "
        "the second-order Taylor polynomial at λ = 0."
    ),
    views=views(
        lambda data: data.noisy,
        lambda data: data.noisy_taylor,
        lambda data: data.noisy_above,
        "λ, in scales of initialisation",
    ),
)
