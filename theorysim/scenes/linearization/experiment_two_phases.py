"""The distance over the radius of the ball, against time, for pulls around the threshold."""

from theorysim.scenes.picture import Picture, View

NETWORK, VALLEY = 2, 3
ALWAYS, SELECTIVE = 0, 1


def _view(title: str, scheme: int, model: int) -> View:
    return View(
        title,
        "‖θ − θ₀‖ / r",
        lambda data: data.distance.isel(scheme=scheme, model=model),
        "time",
        "time, in 1/λ₀",
        "share",
        "pull λ/λ₀",
        beside=lambda data: data.bound,
    )


picture = Picture(
    title="Two phases: in the ball for ever, or up to a time",
    caption="Small models; r is half of the way without a pull. Dashed: Theorem 2, which leaves "
    "the ball (1 on the left axis) at the time that Theorem 4 prints.",
    views=(
        _view("Always pulled: tanh network", ALWAYS, NETWORK),
        _view("Always pulled: valley", ALWAYS, VALLEY),
        _view("Selective: tanh network", SELECTIVE, NETWORK),
        _view("Selective: valley", SELECTIVE, VALLEY),
    ),
)
