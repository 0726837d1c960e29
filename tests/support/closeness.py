"""How close computed numbers come to their truths, by precision and by how much was computed.

Absolute for numbers of order one, relative else.
"""

# Single precision has a unit of 1.2e-7: one operation; a few; sums and products of dozens of
# numbers; hundreds of steps, or a factorisation; thousands of steps.
ONE_SINGLE, FEW_SINGLE, SUMS_SINGLE, STEPS_SINGLE, LONG_SINGLE = 1e-7, 1e-6, 1e-5, 1e-4, 1e-3

# Double precision, unit 2.2e-16: small sums; sums and steps; what a solver or a quadrature leaves.
FEW_DOUBLE, SUMS_DOUBLE, SOLVED_DOUBLE = 1e-12, 1e-10, 1e-9
