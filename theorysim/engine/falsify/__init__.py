"""Falsifying: search for violations, confirm them, make them small."""
