"""The mutant that every rate with a tight constant refutes."""

from theorysim import claims

SHARE = 0.99
NAME = "a constant 1 % too small"


def too_small(*bounds: claims.Claim) -> claims.Mutant:
    """Bounds whose right sides are 1 % smaller than printed."""
    return claims.Mutant(NAME, claims=tuple(bound.scaled(SHARE) for bound in bounds))
