"""The author's loop: what a new theorem must pass, in the order in which it is mended."""
