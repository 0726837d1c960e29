"""Exact dynamics and real runs of learning systems, one file each."""
