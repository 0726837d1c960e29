"""How descent approaches its flow, and what the selective scheme does as steps get smaller."""

from theorysim.scenes.picture import Picture, View

CONSTANT, SWITCHED = 0, 1
NAMES = ("quadratic", "sine", "tanh network")
HALVINGS = "halvings of the step size"


def _error(title: str, schedule: int) -> View:
    return View(
        title,
        "distance of the ends, relative",
        lambda data: data.error.isel(schedule=schedule),
        "halving",
        HALVINGS,
        "model",
        "model",
        names=NAMES,
        log_x=False,
        log_y=True,
    )


picture = Picture(
    title="Descent tends to its flow; the selective scheme to a flow that slides",
    caption="Small models; below, the selective scheme alone, in a valley in which both of its "
    "flows meet. Dashed: the sliding flow, whose pull is neither 0 nor λ.",
    views=(
        _error("A constant pull", CONSTANT),
        _error("A pull that switches at given times", SWITCHED),
        View(
            "Selective: steps at which λ_t changes",
            "share of the steps",
            lambda data: data.switches,
            "halving",
            HALVINGS,
            beside=lambda data: data.sliding_switches,
            log_x=False,
        ),
        View(
            "Selective: mean of λ_t",
            "in units of λ",
            lambda data: data.pull,
            "halving",
            HALVINGS,
            beside=lambda data: data.sliding_pull,
            log_x=False,
        ),
    ),
)
