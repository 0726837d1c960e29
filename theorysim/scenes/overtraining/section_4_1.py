"""The diagonal of U^T theta(t) V along pre-training, and the largest entry beside it."""

from theorysim.scenes.picture import Picture, View

TIME = ("time", "time t")

picture = Picture(
    title="Descent from small weights learns one feature after the other",
    caption=(
        "A linear network W₁W₂ with weights that start at exp(-14), trained on batches of 64. The "
        "theory is gradient flow from the same start; where the determinants of start and task "
        "differ in sign, it never learns the last feature."
    ),
    views=(
        View(
            "Diagonal of Uᵀθ(t)V",
            "feature that is learned",
            lambda data: data.learned,
            *TIME,
            "feature",
            "feature of the task",
            beside=lambda data: data.flow,
        ),
        View("Beside the diagonal", "largest entry", lambda data: data.beside, *TIME),
    ),
)
