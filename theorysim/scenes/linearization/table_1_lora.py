"""The rows of the table, trained anew, against the pull."""

from theorysim.scenes.linearization import _table as table
from theorysim.scenes.picture import Picture

picture = Picture(
    title="An adapter: a stronger pull keeps the model nearer to its start",
    caption="A tanh network on digits, for RoBERTa. Dashed: the linearised model, in closed form, "
    "and the network's gap at the point to which that goes.",
    views=table.WITH_THEORY,
)
