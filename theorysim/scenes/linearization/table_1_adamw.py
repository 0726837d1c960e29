"""The rows of the table, trained anew with cross-entropy and AdamW, against the pull."""

from theorysim.scenes.linearization import _table as table
from theorysim.scenes.picture import Picture

picture = Picture(
    title="As the paper trains: an adapter, cross-entropy, AdamW",
    caption="A tanh network on digits, for RoBERTa. No theorem speaks of this training.",
    views=(
        table.row("Distance from the start", "‖θ − θ₀‖", lambda data: data.distance),
        table.row(
            "Gap to the linearised model", "‖f − f_linear‖", lambda data: data.gap, log_y=True
        ),
        table.SHARE,
        table.ACCURACY,
    ),
)
