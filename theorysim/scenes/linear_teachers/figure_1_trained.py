"""The risk of either alignment against the number of samples, and the bounds of Eq. 3."""

from theorysim.scenes.picture import Picture, View

SAMPLES, NAMES = "samples n / d", ("Top Eigen Align", "Bottom Eigen Align")


def _view(title: str, label: str, name: str, beside: str = "") -> View:
    return View(
        title,
        label,
        lambda data: data[name],
        "share",
        SAMPLES,
        "alignment",
        "θ_T − θ_S",
        beside=(lambda data: data[beside]) if beside else None,
        names=NAMES,
        log_x=False,
        log_y=True,
    )


picture = Picture(
    title="Agree on the top eigenvectors first, then on the bottom",
    caption="Regression by gradient descent; d = 200, eigenvalues 1.5 and 0.3. Dashed: Eq. 2.",
    views=(
        _view("Figure 1", "population loss", "risk", "predicted"),
        _view("Eq. 3 with the realised |Σ̃ − Σ|", "bound on it", "bound"),
    ),
)
