"""Fields of an instance, one class each; a field of a user's own extends `Field`."""

from theorysim.claims.fields.base import Box as Box
from theorysim.claims.fields.base import Cube as Cube
from theorysim.claims.fields.base import Extent as Extent
from theorysim.claims.fields.base import Field as Field
from theorysim.claims.fields.base import Interval as Interval
from theorysim.claims.fields.base import Options as Options
from theorysim.claims.fields.base import Sizes as Sizes
from theorysim.claims.fields.base import extent as extent
from theorysim.claims.fields.choice import Choice as Choice
from theorysim.claims.fields.extremal import Extremal as Extremal
from theorysim.claims.fields.gaussian import Gaussian as Gaussian
from theorysim.claims.fields.integer import Integer as Integer
from theorysim.claims.fields.ordered import Ordered as Ordered
from theorysim.claims.fields.orthogonal import Orthogonal as Orthogonal
from theorysim.claims.fields.piecewise_linear import PiecewiseLinear as PiecewiseLinear
from theorysim.claims.fields.real import Real as Real
from theorysim.claims.fields.spectrum import Spectrum as Spectrum
from theorysim.claims.fields.unit_vector import UnitVector as UnitVector
