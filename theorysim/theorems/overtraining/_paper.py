"""The paper."""

from theorysim import claims

citation = claims.Citation(
    title="Overtrained Language Models Are Harder to Fine-Tune",
    authors=(
        "Jacob Mitchell Springer, Sachin Goyal, Kaiyue Wen, Tanishq Kumar, Xiang Yue, "
        "Sadhika Malladi, Graham Neubig, Aditi Raghunathan"
    ),
    year=2025,
    venue="preprint",
)
