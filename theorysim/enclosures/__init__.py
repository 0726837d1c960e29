"""Ball and interval arithmetic, and an interpreter that runs programs of JAX in it."""
