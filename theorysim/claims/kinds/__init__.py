"""The kinds of claims: one class and one file each, with its sides, its check and its judge."""

from theorysim.claims.kinds.average import OnAverage as OnAverage
from theorysim.claims.kinds.average import on_average as on_average
from theorysim.claims.kinds.base import RELATIONS as RELATIONS
from theorysim.claims.kinds.base import Attack as Attack
from theorysim.claims.kinds.base import Claim as Claim
from theorysim.claims.kinds.constant import BoundedConstant as BoundedConstant
from theorysim.claims.kinds.constant import exists_constant as exists_constant
from theorysim.claims.kinds.equality import Equality as Equality
from theorysim.claims.kinds.equality import equal as equal
from theorysim.claims.kinds.existence import Existence as Existence
from theorysim.claims.kinds.existence import exists as exists
from theorysim.claims.kinds.inequality import AtLeast as AtLeast
from theorysim.claims.kinds.inequality import AtMost as AtMost
from theorysim.claims.kinds.inequality import at_least as at_least
from theorysim.claims.kinds.inequality import at_most as at_most
from theorysim.claims.kinds.limit import Limit as Limit
from theorysim.claims.kinds.limit import tends_to as tends_to
from theorysim.claims.kinds.monotone import Decreasing as Decreasing
from theorysim.claims.kinds.monotone import Increasing as Increasing
from theorysim.claims.kinds.monotone import decreasing as decreasing
from theorysim.claims.kinds.monotone import increasing as increasing
from theorysim.claims.kinds.pointwise import Pointwise as Pointwise
from theorysim.claims.kinds.power import PowerLaw as PowerLaw
from theorysim.claims.kinds.power import scales_as as scales_as
from theorysim.claims.kinds.probability import Probable as Probable
from theorysim.claims.kinds.probability import with_probability as with_probability
