"""What a user can do wrong, as exceptions whose text names the value, the limit and the remedy."""


class UsageError(ValueError):
    """A request that cannot be served as it stands; the message says what to change."""


class InstanceError(UsageError):
    """A value handed in for an instance does not belong to its space."""


class SizeError(UsageError):
    """The sizes asked for do not fit into memory."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether NumPy or a device of JAX had too little memory."""
    return isinstance(error, MemoryError) or str(error).startswith("RESOURCE_EXHAUSTED")
