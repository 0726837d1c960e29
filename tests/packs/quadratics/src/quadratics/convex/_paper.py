"""The source."""

from theorysim.claims import Citation

citation = Citation(
    title="Some methods of speeding up the convergence of iteration methods",
    authors="Polyak",
    year=1964,
    venue="USSR Computational Mathematics and Mathematical Physics 4(5)",
)
