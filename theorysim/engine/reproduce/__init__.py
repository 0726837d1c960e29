"""Experiments: running what a figure or a table shows, and judging what it is said to show."""
