"""Statements on convex quadratics."""
