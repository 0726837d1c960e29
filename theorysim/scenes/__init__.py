"""Authored pictures of statements: one file a statement, named as the statement's own file."""
