"""Evidence for the pack: independent worst cases, and what the tool finds beside them."""
