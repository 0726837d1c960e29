"""Rates of first-order methods, whose worst cases are known exactly."""
