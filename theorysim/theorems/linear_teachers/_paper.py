"""The paper."""

from theorysim import claims

citation = claims.Citation(
    title="A Theoretical Analysis of Fine-tuning with Linear Teachers",
    authors="Gal Shachaf, Alon Brutzkus, Amir Globerson",
    year=2021,
    venue="NeurIPS",
    read_from="its main text; the supplement with the proofs was not at hand",
)
