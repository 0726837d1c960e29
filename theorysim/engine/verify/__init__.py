"""Verifying: draw instances, measure the claims on them, judge, report."""
