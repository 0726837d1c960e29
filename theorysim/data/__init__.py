"""Data that needs no network: text that comes with Python, digits that come with a package."""
