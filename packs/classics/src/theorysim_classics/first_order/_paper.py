"""The survey whose notation the rates share; every file names its own source."""

from theorysim.claims import Citation

citation = Citation(
    title="Acceleration methods",
    authors="d'Aspremont, Scieur, Taylor",
    year=2021,
    venue="Foundations and Trends in Optimization 5(1-2)",
)
