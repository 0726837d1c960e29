"""How often the selective schemes pull, and how far they go, against the pull."""

from theorysim.scenes.picture import Picture, View

ALL, BATCHES = 0, 1
NAMES = ("always", "selective, old", "selective, intermediate")


def _view(title: str, label: str, quantity, beside=None) -> View:
    return View(
        title, label, quantity, "strength", "pull λ", "scheme", "scheme", beside=beside, names=NAMES
    )


picture = Picture(
    title="The selective scheme pulls only where batches are noisy",
    caption="A tanh network on digits; the condition is taken before (old) or after (intermediate) "
    "the gradient step. Dashed: the linearised model, in closed form.",
    views=(
        _view(
            "All examples: steps that pull",
            "share of the steps",
            lambda data: data.active.isel(training=ALL),
        ),
        _view(
            "Batches of 16: steps that pull",
            "share of the steps",
            lambda data: data.active.isel(training=BATCHES),
        ),
        _view(
            "All examples: distance",
            "‖θ − θ₀‖",
            lambda data: data.distance.isel(training=ALL),
            lambda data: data.linear_distance,
        ),
        _view(
            "Batches of 16: distance",
            "‖θ − θ₀‖",
            lambda data: data.distance.isel(training=BATCHES),
        ),
    ),
)
