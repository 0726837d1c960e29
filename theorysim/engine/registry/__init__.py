"""Finding theorems by their ids, and reading what their files say, without JAX."""

from theorysim.engine.registry.entries import Catalogue as Catalogue
from theorysim.engine.registry.entries import Entry as Entry
from theorysim.engine.registry.faults import fault_in_a_file as fault_in_a_file
from theorysim.engine.registry.headers import RegistryError as RegistryError
from theorysim.engine.registry.index import LOCAL as LOCAL
from theorysim.engine.registry.index import AmbiguousTheorem as AmbiguousTheorem
from theorysim.engine.registry.index import UnknownTheorem as UnknownTheorem
from theorysim.engine.registry.index import catalogue as catalogue
from theorysim.engine.registry.index import citation as citation
from theorysim.engine.registry.index import file_of as file_of
from theorysim.engine.registry.index import find as find
from theorysim.engine.registry.index import load as load
from theorysim.engine.registry.index import statement_name as statement_name
from theorysim.engine.registry.index import theorem as theorem
