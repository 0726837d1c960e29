"""Dayi, Chen: Gradient dynamics for low-rank fine-tuning beyond kernels."""
