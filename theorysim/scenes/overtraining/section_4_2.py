"""The loss under Gaussian noise at every stage of pre-training."""

from theorysim.scenes.picture import Picture, View

picture = Picture(
    title="Under noise the loss rises from the first feature on that the noise outweighs",
    caption=(
        "A linear network, pre-trained on batches up to every stage. Twice the variance, times the "
        "width, lies between two features. The theory is the closed form at the ideal stages."
    ),
    views=(
        View(
            "The perturbed network",
            "pre-training loss, mean over noise",
            lambda data: data.loss,
            "stage",
            "features learned, n",
            "gamma",
            "deviation γ of the noise",
            beside=lambda data: data.theory,
            log_x=False,
            log_y=True,
        ),
    ),
)
