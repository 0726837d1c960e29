"""Classics: rates of first-order optimisation with their tight constants, and laws of networks."""
