"""Pretraining helps where inputs and labels of the source are like those of the target.

Figure 8 and Section 5.1 of Liu et al. (2019). Inputs: LeNet, pretrained on MNIST, on MNIST upside
down or on clothes, learns 600 images of house numbers. Labels: ResNet-50 learns objects in photos
after other objects, or after the colour of the upper half. Here a small network learns ten digits
from noisy images after the same digits, these upside down or with permuted pixels, their parity,
the brightness of their upper half, or labels that say nothing. What is said to "barely" help is
read as nearer to no pretraining than to the same source, "slightly worse" as nearer to that, and
"no improvement" as what it says: not better than no pretraining. The head is that of pretraining,
which after the same digits solves the target already: what is said of accuracy then stands where
the labels of the target are shuffled, as a null says. With a new head in addition. Beside it,
networks of Section 6 move as far as infinite width predicts.
"""

from collections.abc import Callable

from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.transferability import _digits_sources as sources
from theorysim.theorems.transferability._digits_section_6 import about_the_mean, unexplained
from theorysim.theorems.transferability._digits_seen import seen


def _gain(r: claims.Run, head: int, source: int) -> Float[Array, " run"]:
    """Of accuracy, over no pretraining."""
    return r.sim.accuracy[:, head, source] - r.sim.accuracy[:, head, sources.NONE]


def _of_head(head: int) -> tuple[claims.Claim, ...]:
    name = f"{sources.HEADS[head]} head"

    def half(r: claims.Run) -> Float[Array, " run"]:
        return _gain(r, head, sources.SAME) / 2

    def moved(source: int) -> Callable[[claims.Run], Float[Array, " run"]]:
        return lambda r: r.sim.deviation[:, head, source]

    return (
        claims.on_average(
            f"{name}: the same source improves accuracy",
            lambda r: 0.0,
            lambda r: _gain(r, head, sources.SAME),
        ),
        claims.on_average(
            f"{name}: upside down it is worse",
            lambda r: _gain(r, head, sources.UPSIDE_DOWN),
            lambda r: _gain(r, head, sources.SAME),
        ),
        claims.on_average(
            f"{name}: upside down it is only slightly worse",
            half,
            lambda r: _gain(r, head, sources.UPSIDE_DOWN),
            statement="more than half of the gain of the same source is left",
        ),
        claims.on_average(
            f"{name}: other pixels barely improve it",
            lambda r: _gain(r, head, sources.PERMUTED),
            half,
            statement="by less than half of the gain of the same source",
        ),
        claims.on_average(
            f"{name}: labels by brightness do not improve it",
            lambda r: _gain(r, head, sources.BRIGHTNESS),
            lambda r: 0.0,
            statement="accuracy is below that of no pretraining",
        ),
        claims.on_average(
            f"{name}: weights deviate less from the same source than from no pretraining",
            moved(sources.SAME),
            moved(sources.NONE),
        ),
        claims.on_average(
            f"{name}: weights deviate less from the same source than from other pixels",
            moved(sources.SAME),
            moved(sources.PERMUTED),
        ),
        claims.on_average(
            f"{name}: other pixels do not improve the deviation",
            moved(sources.NONE),
            moved(sources.PERMUTED),
            statement="it is above that of no pretraining",
        ),
    )


TRANSFER = (*_of_head(0), *_of_head(1))
TOLD = claims.on_average(
    "in the network of Section 6 infinite width tells distances apart",
    lambda r: unexplained(r.sim.distance, r.sim.predicted_distance),
    lambda r: about_the_mean(r.sim.distance),
    statement="predicted distances leave less of the measured ones than their mean does",
    printed=False,
)

theorem = claims.Experiment(
    space=sources.SPACE,
    simulate=sources.simulate,
    claims=(*TRANSFER, TOLD),
    source=claims.Printed(
        "Figure 8 and Section 5.1",
        "Compared to training from scratch, MNIST pretrained features improve generalization "
        "significantly. Upside-down MNIST shows slightly worse generalization performance than the "
        "original one. In contrast, fine-tuning from Fashion-MNIST barely improves generalization. "
        "[...] The weight matrices and convolutional kernel deviation of Fashion-MNIST pretraining "
        "show no improvement over training from scratch. [...] the latter one provides no "
        "improvement over training on Webcam from scratch, while pretraining on standard "
        "Caltech-101 significantly boosts performance.",
    ),
    note="small networks on digits, for LeNet and ResNet-50; permuted pixels stand for "
    "clothes, and brightness for colour",
    mutants=(
        claims.Mutant("all sources are the same", simulate=sources.from_the_same_source),
        claims.Mutant("the labels of the target are shuffled", simulate=sources.without_a_task),
        claims.Mutant("predictions of other sources", claims=seen((TOLD,), sources.of_the_next)),
    ),
    data=("digits",),
    axes=sources.axes,
    work=sources.work,
    paper_sizes=sources.PAPER_SIZES,
)
