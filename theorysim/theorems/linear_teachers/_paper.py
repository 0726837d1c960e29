"""The paper."""

from theorysim import claims

citation = claims.Citation(
    title="A Theoretical Analysis of Fine-tuning with Linear Teachers",
    authors="Shachaf, Brutzkus, Globerson",
    year=2021,
    venue="NeurIPS",
)
