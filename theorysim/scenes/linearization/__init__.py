"""Scenes of "Linearization Explains Fine-Tuning in Large Language Models"."""
