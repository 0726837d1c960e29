"""What works on any theorem: finding, verifying, falsifying and sweeping it."""
