"""Programs of JAX as data: their structure, their fingerprint, their arithmetic disturbed."""
