"""Certifying: claims decided by enclosures, at one instance or over a box."""
