"""Scenes of "Gradient dynamics for low-rank fine-tuning beyond kernels"."""
