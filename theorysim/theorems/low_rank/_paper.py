"""The paper."""

from theorysim import claims

citation = claims.Citation(
    title="Gradient dynamics for low-rank fine-tuning beyond kernels",
    authors="Dayi, Chen",
    year=2024,
    venue="arXiv 2411.15385",
)
