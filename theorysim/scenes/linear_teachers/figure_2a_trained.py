"""The risk of networks of several depths against the length of the target."""

from theorysim.scenes.picture import Picture, View

picture = Picture(
    title="Depth helps where the target is longer",
    caption="Gradient descent, d = 100 and 10 samples, θ_T = αθ_S + ε. Dashed: Eq. 5.",
    views=(
        View(
            "Figure 2a",
            "population loss / α²",
            lambda data: data.risk / data.factor**2,
            "factor",
            "α",
            "depth",
            "layers",
            beside=lambda data: data.predicted / data.factor**2,
            log_x=False,
        ),
    ),
)
