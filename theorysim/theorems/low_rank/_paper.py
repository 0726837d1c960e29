"""The paper."""

from theorysim import claims

citation = claims.Citation(
    title="Gradient dynamics for low-rank fine-tuning beyond kernels",
    authors="Arif Kerem Dayi, Sitan Chen",
    year=2024,
    venue="preprint",
    arxiv="2411.15385",
)
