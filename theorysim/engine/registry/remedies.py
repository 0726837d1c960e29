"""What to do about an error of Python or JAX in an author's file, beside what it says."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable

from theorysim.errors import UsageError

WHERE = (
    "a Python `if`, `and`, `or`, `not` or `while` on a traced value: write jnp.where(condition, a, "
    "b), `&`, `|`, or jax.lax.cond; only sizes are Python numbers"
)
NUMPY = "NumPy (or Python's math) on a traced value: call the function of the same name in jnp"
NUMBER = (
    "float(), int(), .item() or a Python number is asked of a traced value: keep it an array; what "
    "decides a shape or a length is a Size of the space"
)
LENGTH = "a traced value as a length or an index of Python: make it a Size of the space"
MASK = "a selection has no fixed shape: keep all entries, jnp.where(condition, a, b)"
LEAKED = "a traced value outlived its run: pass it on as an argument, keep nothing in globals"

# By the name of the class of JAX's errors.
TRACED = {
    "TracerBoolConversionError": WHERE,
    "TracerArrayConversionError": NUMPY,
    "TracerIntegerConversionError": LENGTH,
    "ConcretizationTypeError": NUMBER,
    "NonConcreteBooleanIndexError": MASK,
    "UnexpectedTracerError": LEAKED,
}

# By what the message says; the groups of the pattern go into the remedy.
SAID: tuple[tuple[str, Callable[..., str]], ...] = (
    (
        r"Theorem\.__init__\(\) missing \d+ required positional arguments?: (.*)",
        lambda names: f"give the theorem {names}",
    ),
    (
        r"Theorem\.__init__\(\) got an unexpected keyword argument '(\w+)'",
        lambda name: _near(name),
    ),
    (
        r"(at_most|at_least|equal)\(\) missing .* required positional",
        lambda kind: f'the name comes first: {kind}("name", lambda r: ..., lambda r: ...)',
    ),
    (r"Only integer scalar arrays can be converted", lambda: LENGTH),
    (r"Shapes must be 1D sequences of concrete values", lambda: LENGTH),
    (
        r"JAX arrays are immutable",
        lambda: "x[i] = y is x.at[i].set(y) here; an instance is never changed",
    ),
    (
        r"'Run' object has no attribute '(\w+)'",
        lambda name: f"a run has r.x, r.sim and r.theory: r.x.{name}?",
    ),
    (
        r"No module named '([\w.]+)'",
        lambda name: _missing(name.partition(".")[0]),
    ),
    (
        r"attempted relative import with no known parent package",
        lambda: "a file beside it is imported by its name: from helpers import x",
    ),
    (
        r"does not support .* promotion|requires ndarray or scalar arguments, got .*NoneType",
        lambda: "a function lacks its `return`",
    ),
    (
        r"grad(?:ient)? requires real- or complex-valued inputs.*int",
        lambda: "start from floats: x.astype(float)",
    ),
    (
        r"Gradient only defined for scalar-output functions",
        lambda: "a loss is one number: sum or average it",
    ),
    (
        r"unsupported operand type.*'tuple'|'tuple' object has no attribute",
        lambda: "a tuple is no array; r.theory is the empty one where a theorem has no predict=",
    ),
    (
        r"has no attribute '?(?:init|update)\b",
        lambda: "an optimiser belongs there and no number: optax.sgd(rate)",
    ),
    (r"unhashable type: 'slice'", lambda: 'a dict has no rows: name an entry, r.sim["path"]'),
    (r"division by zero", lambda: "exclude it by a hypothesis, or keep it out of the space"),
)


def in_words(error: BaseException) -> str:
    """An error in one line, with the remedy where one is known; a `UsageError` says it itself."""
    first = str(error).partition("\n")[0].partition(" Instead of")[0].strip()
    if isinstance(error, UsageError):
        return first
    remedy = _remedy(error, first)
    name = type(error).__name__
    if name in TRACED:  # JAX's own words say nothing to an author
        return f"{name}: {remedy}"
    text = f"{name}: {first}" if first else name
    return f"{text.rstrip('.')}; {remedy}" if remedy else text


def _remedy(error: BaseException, first: str) -> str:
    for kind in type(error).__mro__:
        if kind.__name__ in TRACED:
            return TRACED[kind.__name__]
    for pattern, remedy in SAID:
        if found := re.search(pattern, first):
            return remedy(*found.groups())
    return ""


def _missing(name: str) -> str:
    return (
        f"install it (pip install {name}), mend its name, or, where it is the file {name}.py in "
        "the same folder, import it at the top and not in a function"
    )


def _near(name: str) -> str:
    from dataclasses import fields

    from theorysim.claims.theorem import Theorem

    names = [field.name for field in fields(Theorem)]
    near = difflib.get_close_matches(name, names, 1)
    return f"did you mean {near[0]!r}?" if near else f"a Theorem takes {', '.join(names)}"
