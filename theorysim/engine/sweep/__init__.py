"""Sweeping the claims of theorems."""
