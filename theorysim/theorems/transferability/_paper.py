"""The paper."""

from theorysim import claims

citation = claims.Citation(
    title="Towards Understanding the Transferability of Deep Representations",
    authors="Hong Liu, Mingsheng Long, Jianmin Wang, Michael I. Jordan",
    year=2019,
    venue="preprint",
    arxiv="1909.12031",
)
