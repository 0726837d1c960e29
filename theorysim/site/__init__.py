"""The catalogue as a static site that needs no network, made of what was recorded."""
