"""`python -m theorysim`."""

from theorysim.cli import main

main()
