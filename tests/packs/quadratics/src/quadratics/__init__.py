"""An example of a third-party pack of theorems."""
