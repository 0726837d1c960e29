"""The paper."""

from theorysim import claims

citation = claims.Citation(
    title="Overtrained Language Models Are Harder to Fine-Tune",
    authors="Springer, Goyal, Wen, Kumar, Yue, Malladi, Neubig, Raghunathan",
    year=2025,
    venue="preprint",
)
