"""What checks, in the tests, that functions are called with the shapes and types they announce."""

from beartype import BeartypeConf, beartype

# As type checkers read them: a float may be an integer.
checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
