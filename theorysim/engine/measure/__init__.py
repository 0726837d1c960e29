"""Drawing instances and evaluating claims on them, with their numerical errors."""
