"""The paper."""

from theorysim import claims

citation = claims.Citation(
    title="Linearization Explains Fine-Tuning in Large Language Models",
    authors="Afzal, Esmaeilbeig, Soltanalian, Ohannessian",
    year=2025,
    venue="NeurIPS",
)
