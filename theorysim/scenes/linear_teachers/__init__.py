"""Scenes of "A Theoretical Analysis of Fine-tuning with Linear Teachers"."""
