"""Real numbers known up to an enclosure, JAX programs run on them, and what is certain then."""
