"""Content blocks between v1 and v2."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from accord.schema import v1, v2
from accord.schema.codec import encode, to_python
from accord.schema.struct import UNSET, UnknownVariant
from accord.translate.content_blocks import to_v1, to_v2
from tests.schema.generation import FromTypes


def _resource(schema: Any) -> Any:
    """Contents have text or bytes; without either they do not exist."""

    def strategy(types: FromTypes) -> st.SearchStrategy[Any]:
        wanted = schema.EmbeddedResourceResource
        return types.plain_struct(wanted, text=st.text(max_size=5)) | types.plain_struct(
            wanted, blob=st.binary(max_size=5)
        )

    return strategy


def _annotations(schema: Any) -> Any:
    """Priorities are between 0 and 1."""
    priorities = st.none() | st.just(UNSET) | st.floats(0, 1, width=32)
    return lambda types: types.plain_struct(schema.Annotations, priority=priorities)


def _link(schema: Any) -> Any:
    """Sizes that both versions can say: v1 counts with a sign, v2 without."""
    sizes = st.none() | st.just(UNSET) | st.sampled_from([0, 2**53 + 1, 2**63 - 1])
    return lambda types: types.plain_struct(schema.ResourceLink, size=sizes)


def _blocks(schema: Any) -> st.SearchStrategy[Any]:
    types = FromTypes(
        {
            schema.EmbeddedResourceResource: _resource(schema),
            schema.Annotations: _annotations(schema),
            schema.ResourceLink: _link(schema),
        }
    )
    return types.value(schema.ContentBlock)


@given(_blocks(v1))
def test_a_block_of_v1_says_the_same_in_v2_and_comes_back_equal(block: Any) -> None:
    """translate: the two are alike on the wire."""
    there = to_v2(block)
    assert type(there).__name__ == type(block).__name__
    assert type(there).__module__.startswith("accord.schema.v2")
    assert to_python(encode(there)) == to_python(encode(block))
    assert to_v1(there) == block


@given(_blocks(v2))
def test_a_block_of_v2_says_the_same_in_v1_but_for_its_icons(block: Any) -> None:
    """translate: v1 has no icons; all else stays."""
    there = to_v1(block)
    assert type(there).__module__.startswith("accord.schema.v1")
    wanted = to_python(encode(block))
    wanted.pop("icons", None)
    assert to_python(encode(there)) == wanted


def test_a_block_that_neither_version_knows_is_passed_on_as_it_is() -> None:
    """Ours: unknown variants are kept whole."""
    unknown = UnknownVariant("type", "video", b'{"type":"video","x":1}')
    assert to_v1(unknown) is unknown
    assert to_v2(unknown) is unknown
