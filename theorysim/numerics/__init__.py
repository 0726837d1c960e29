"""Shared mathematics."""
