"""Roots of both losses after fine-tuning from every stage, along both scans; what it adds."""

from theorysim.scenes.picture import Picture, View


def _view(title: str, name: str, lines: tuple[str, str]) -> View:
    return View(
        title,
        "distance ‖θ − A‖",
        lambda data: data[name] ** 0.5,
        "stage",
        "features learned, n",
        *lines,
        beside=lambda data: data[f"{name}_theory"] ** 0.5,
        log_x=False,
    )


ALPHA = ("alpha", "α =")
PULL = ("pull", "λ =")

picture = Picture(
    title="Longer pre-training helps, then harms; a pull-back delays it",
    caption=(
        "A linear network, pre-trained on batches up to every stage, then fine-tuned: to α times "
        "its features, and with pull-backs λ to 1 to 6 times. The theory is descent from the ideal "
        "stages on infinite batches."
    ),
    views=(
        View(
            "What fine-tuning adds, no pull-back",
            "Δ_pre(n)",
            lambda data: data.by_alpha - data.before,
            "stage",
            "features learned, n",
            *ALPHA,
            beside=lambda data: data.by_alpha_theory - data.by_alpha_theory.sel(alpha=1, drop=True),
            log_x=False,
        ),
        _view("Pre-training, no pull-back", "by_alpha", ALPHA),
        _view("Pre-training", "by_pull", PULL),
        _view("The task", "task_by_pull", PULL),
    ),
)
