"""Scenes of "Towards Understanding the Transferability of Deep Representations"."""
