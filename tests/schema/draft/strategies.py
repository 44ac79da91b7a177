"""Hypothesis strategies that follow a wire type's own description."""

from typing import Any

from hypothesis import strategies as st
from msgspec import inspect

from accord.schema.codec import to_raw
from accord.schema.struct import UNSET

_TEXT = st.text(max_size=8)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | _TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXT, inner, max_size=2),
    max_leaves=4,
)


def values(wanted: Any) -> st.SearchStrategy[Any]:
    """Legal values of a wire type, optional fields present or not."""
    return _of(inspect.type_info(wanted))


def _of(node: inspect.Type) -> st.SearchStrategy[Any]:
    match node:
        case inspect.Metadata(type=inner):
            return _of(inner)
        case inspect.StructType(cls=cls, fields=fields):
            return _struct(cls, fields)
        case inspect.UnionType(types=types):
            return st.one_of([_of(member) for member in types])
        case inspect.ListType(item_type=item):
            return st.lists(_of(item), max_size=2)
        case inspect.DictType(value_type=item):
            return st.dictionaries(_TEXT, _of(item), max_size=2)
        case inspect.LiteralType(values=literals):
            return st.sampled_from(literals)
        case inspect.StrType(pattern=str()):
            return _TEXT.map(lambda tail: "/" + tail)
        case inspect.IntType(ge=low, le=high):
            return st.integers(low, 2**63 - 1 if high is None else high)
        case _:
            return _PLAIN[type(node)]


_PLAIN: dict[type[inspect.Type], st.SearchStrategy[Any]] = {
    inspect.StrType: _TEXT,
    inspect.BoolType: st.booleans(),
    inspect.FloatType: st.floats(allow_nan=False, allow_infinity=False),
    inspect.BytesType: st.binary(max_size=8),
    inspect.NoneType: st.none(),
    inspect.RawType: _JSON.map(to_raw),
}


def _struct(cls: type[Any], fields: tuple[inspect.Field, ...]) -> st.SearchStrategy[Any]:
    parts = {
        one.name: _of(one.type) if one.required else st.just(UNSET) | _of(one.type)
        for one in fields
    }
    return (
        st.fixed_dictionaries(parts)
        .filter(lambda kwargs: _legal(cls, kwargs))
        .map(lambda kwargs: cls(**kwargs))
    )


def _legal(cls: type[Any], kwargs: dict[str, Any]) -> bool:
    """Whether the type's own check takes the combination, such as a source without data."""
    try:
        cls(**kwargs)
    except ValueError:
        return False
    return True
