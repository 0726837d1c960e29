"""Worst cases: by semidefinite programming, and what the tool finds beside them."""
