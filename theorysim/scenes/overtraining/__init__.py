"""Scenes of "Overtrained Language Models Are Harder to Fine-Tune"."""
