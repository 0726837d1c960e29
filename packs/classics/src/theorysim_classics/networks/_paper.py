"""The paper with which these laws begin; every file names its own source."""

from theorysim.claims import Citation

citation = Citation(
    title="Exact solutions to the nonlinear dynamics of learning in deep linear neural networks",
    authors="Saxe, McClelland, Ganguli",
    year=2014,
    venue="ICLR 2014",
)
