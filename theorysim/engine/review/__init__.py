"""Reviewing: what a referee asks of a statement, stage by stage, one file a stage."""
