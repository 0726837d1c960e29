"""The paper."""

from theorysim import claims

citation = claims.Citation(
    title="Linearization Explains Fine-Tuning in Large Language Models",
    authors="Zahra Rahimi Afzal, Tara Esmaeilbeig, Mojtaba Soltanalian, Mesrob I. Ohannessian",
    year=2025,
    venue="NeurIPS",
    arxiv="2602.08239",
    read_from="lecture slides on the paper by others (EECE695D, Group 1), not its own text",
)
