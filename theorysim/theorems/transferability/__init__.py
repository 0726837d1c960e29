"""Towards Understanding the Transferability of Deep Representations."""
