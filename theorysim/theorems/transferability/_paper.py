"""The paper."""

from theorysim import claims

citation = claims.Citation(
    title="Towards Understanding the Transferability of Deep Representations",
    authors="Liu, Long, Wang, Jordan",
    year=2019,
    venue="preprint",
)
