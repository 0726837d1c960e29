"""Instances hold fields and sizes under any name but the few that every instance has."""

import copy
import dataclasses
import json
import pickle

import jax
import jax.numpy as jnp
import pytest

from theorysim.claims import Instance, InstanceError, Integer, Real, Size, Space, UsageError
from theorysim.claims.instance import RESERVED, field_values, size_items

# Names that the code of an instance, a space or the engine uses itself.
AWKWARD = ("values", "sizes", "names", "self", "given", "fields", "name", "instance", "data")


def space():
    return Space(size=Size(2), **{name: Real(0, 10) for name in AWKWARD})


def test_fields_may_have_any_name():
    numbers = {name: float(place) for place, name in enumerate(AWKWARD)}
    x = space().instance(**numbers)
    for name, number in numbers.items():
        assert getattr(x, name) == number
    assert dict(field_values(x)) == numbers
    assert size_items(x) == (("size", 2),)
    again = space().from_json(json.loads(json.dumps(space().to_json(x))))
    assert dict(field_values(again)) == numbers
    moved = jax.jit(lambda x: x.replace(values=x.sizes + 1, self=x.self))(x)
    assert moved.values == 2.0 and moved.self == numbers["self"]


def test_sizes_may_have_any_name():
    x = Space(values=Size(3), self=Size(5), a=Real(0, 1, shape="values")).instance(
        self=4, a=[0.0, 0.5, 1.0]
    )
    assert (x.values, x.self) == (3, 4)


@pytest.mark.parametrize("name", [*RESERVED, "_a", "__a__", "two words", "2d", "", "lambda"])
@pytest.mark.parametrize("part", [Real(0, 1), Size(2)])
def test_names_that_no_instance_can_have_are_refused_where_they_are_declared(name, part):
    with pytest.raises(ValueError, match=f"'{name}' cannot name a field or a size"):
        Space(**{name: part})


def test_the_reserved_names_are_all_that_an_instance_has_and_the_key_of_a_sweep():
    own = {name for name in dir(Instance) if not name.startswith("_")}
    own |= {f.name for f in dataclasses.fields(Instance) if not f.name.startswith("_")}
    assert {*own, "key"} == set(RESERVED)


def test_an_unknown_name_is_answered_with_those_there_are():
    x = Space(d=Size(2), a=Real(0, 1)).instance(a=0.5)
    with pytest.raises(AttributeError, match=r"no field or size 'b'; it has \('a', 'd'\)"):
        _ = x.b
    with pytest.raises(KeyError, match="no field"):
        x.replace(d=3)


def test_instances_are_copied_and_pickled():
    x = Space(d=Size(2), a=Real(0, 1)).instance(a=0.5)
    for again in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert again.a == 0.5 and again.d == 2


@pytest.mark.parametrize("number", [True, False, 2.5, "2", "two", float("nan"), float("inf"), None])
def test_what_is_no_integer_is_no_size(number):
    declared = Space(d=Size(2), a=Real(0, 1))
    with pytest.raises(UsageError, match=r"d = .* expected an integer"):
        declared.default_sizes(d=number)
    with pytest.raises(InstanceError, match="sizes: expected integers"):
        declared.from_json({"sizes": {"d": number}, "values": {"a": 0.5}})


def test_integers_in_value_are_sizes():
    declared = Space(d=Size(2), a=Real(0, 1))
    for number in (3, 3.0, jnp.asarray(3)):
        assert declared.default_sizes(d=number) == {"d": 3}


def test_true_in_a_file_is_no_one():
    declared = Space(d=Size(2), a=Real(0, 1), n=Integer(0, 3))
    for values in ({"a": True, "n": 1}, {"a": 1.0, "n": True}):
        with pytest.raises(InstanceError, match="true or false"):
            declared.from_json({"values": json.loads(json.dumps(values))})


def test_a_size_among_the_values_is_refused():
    with pytest.raises(InstanceError, match='in the object "sizes"'):
        Space(d=Size(2), a=Real(0, 1)).from_json({"sizes": {"d": 2}, "values": {"a": 1.0, "d": 2}})
