"""Arithmetics of enclosures: balls, intervals, and intervals that know their slopes."""

from theorysim.enclosures.arithmetic.balls import BALLS as BALLS
from theorysim.enclosures.arithmetic.base import Arithmetic as Arithmetic
from theorysim.enclosures.arithmetic.base import Undecided as Undecided
from theorysim.enclosures.arithmetic.intervals import INTERVALS as INTERVALS
from theorysim.enclosures.arithmetic.intervals import Interval as Interval
from theorysim.enclosures.arithmetic.numbers import UNDEFINED as UNDEFINED
from theorysim.enclosures.arithmetic.numbers import exact_number as exact_number
from theorysim.enclosures.arithmetic.numbers import literal as literal
from theorysim.enclosures.arithmetic.numbers import short_decimal as short_decimal
from theorysim.enclosures.arithmetic.slopes import Sloped as Sloped
from theorysim.enclosures.arithmetic.slopes import slopes_arithmetic as slopes_arithmetic
