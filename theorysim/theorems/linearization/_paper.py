"""The paper."""

from theorysim.claims import Citation

citation = Citation(
    title="Linearization Explains Fine-Tuning in Large Language Models",
    authors="Afzal, Esmaeilbeig, Soltanalian, Ohannessian",
    year=2025,
    venue="NeurIPS",
)
