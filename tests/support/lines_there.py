"""What a campaign measures on a worker, in a module that workers can import."""

import os
import time


def measure(theorem, source, wait, bad=""):
    """A line that takes its time, with the process that made it; `bad` is the id that raises."""
    time.sleep(wait)
    if theorem.id == bad:
        raise ArithmeticError("no number")
    return {"theorem": theorem.id, "source": source, "pid": os.getpid()}
