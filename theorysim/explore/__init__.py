"""Live sessions: a statement's numbers are moved, and its own code computes what follows."""
