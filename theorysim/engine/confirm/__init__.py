"""Confirming violations: what more bits, or other roundings, take away was none."""
