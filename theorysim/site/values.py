"""The values of an instance as a reader writes them down: special vectors and matrices in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup

# Larger arrays are told by their shape; the file of the instance has their entries.
ENTRIES = 40


def number(value: float | None) -> str:
    """Four digits, or all of an integer of up to six; a dash for what is no number."""
    if value is None or np.isnan(value):
        return "–"
    if float(value).is_integer() and abs(value) < 1e6:
        return _minus(f"{value + 0.0:.0f}")
    return _minus(f"{value:.4g}")


def quantity(value: float | None) -> Markup:
    """A number as text, powers of ten as such."""
    digits, e, power = number(value).partition("e")
    return Markup(f"{digits}·10<sup>{_power(power)}</sup>" if e else digits)


def written(value: Any) -> Markup:
    """A number, a vector or a matrix as MathML; words for what is constant, unit or long."""
    array = np.asarray(value, float)
    if array.ndim == 0:
        return Markup(f"<math>{_number(array)}</math>")
    shape = " × ".join(map(str, array.shape))
    if array.size > 2 and np.all(array == array.flat[0]):
        return Markup(f"all {shape} entries <math>{_number(array.flat[0])}</math>")
    if (
        array.ndim == 2
        and array.shape[0] == array.shape[1] > 1
        and np.array_equal(array, np.eye(len(array)))
    ):
        return Markup(f"the identity, {shape}")
    if array.size > ENTRIES or array.ndim > 2:
        return Markup(f"{shape} numbers from {number(array.min())} to {number(array.max())}")
    fence = '<mo stretchy="true">{}</mo>'.format
    if array.ndim == 1:
        entries = "<mo>,</mo>".join(map(_number, array))
        return Markup(f"<math><mrow>{fence('(')}{entries}{fence(')')}</mrow></math>")
    body = "".join(
        f"<mtr>{''.join(f'<mtd>{_number(n)}</mtd>' for n in row)}</mtr>" for row in array
    )
    return Markup(f"<math><mrow>{fence('(')}<mtable>{body}</mtable>{fence(')')}</mrow></math>")


def _number(value: Any) -> str:
    """A number as MathML, powers of ten as such."""
    digits, e, power = number(float(value) + 0.0).partition("e")
    if not e:
        return f"<mn>{digits}</mn>"
    ten = f"<msup><mn>10</mn><mn>{_power(power)}</mn></msup>"
    return f"<mrow><mn>{digits}</mn><mo>·</mo>{ten}</mrow>"


def _power(digits: str) -> str:
    """The exponent of a number in scientific notation without its leading zeros."""
    return _minus(str(int(digits.replace("−", "-"))))


def _minus(text: str) -> str:
    return text.replace("-", "−")
