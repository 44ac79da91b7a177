"""Content blocks of v2."""

from typing import Any

import pytest

from accord.schema import v2
from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import UNSET


def read(union: Any, raw: bytes) -> Any:
    """Read a member of a union, which type checkers do not take for a class."""
    return decode(union, raw)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"type":"text","text":"x","annotations":{"audience":["user","_robot"],"priority":0.5}}',
        b'{"type":"image","data":"AAE=","mimeType":"image/png","uri":"file:///a"}',
        b'{"type":"audio","data":"","mimeType":"audio/wav"}',
        b'{"type":"resource_link","name":"n","uri":"file:///a","icons":[{"src":"data:,x"}],"size":7}',
        b'{"type":"resource","resource":{"uri":"file:///a","text":""}}',
        b'{"type":"resource","resource":{"uri":"file:///a","blob":"AAE="}}',
    ],
)
def test_every_block_round_trips(raw: bytes) -> None:
    """The schema: five types."""
    assert encode(read(v2.ContentBlock, raw)) == raw


def test_hints_that_make_no_sense_are_dropped() -> None:
    """The schema: all of `annotations` is tolerant."""
    value = read(
        v2.ContentBlock,
        b'{"type":"text","text":"x","annotations":{"audience":[1,"user"],"priority":2,'
        b'"lastModified":5}}',
    )
    assert value.annotations == v2.Annotations(audience=["user"])


def test_a_resource_has_text_or_a_blob() -> None:
    """The schema: told apart by the key; null is not content."""
    for fields in (b"", b',"text":null', b',"blob":null', b',"text":5', b',"blob":"?"'):
        with pytest.raises(Invalid):
            decode(v2.EmbeddedResourceResource, b'{"uri":"u"' + fields + b"}")


def test_the_size_of_a_link_has_64_bits() -> None:
    """The schema: uint64; what is bigger is dropped and the link kept."""
    head = b'{"type":"resource_link","name":"n","uri":"u","size":'
    fits = read(v2.ContentBlock, head + b"18446744073709551615}")
    assert fits.size == 2**64 - 1
    too_big = read(v2.ContentBlock, head + b"18446744073709551616}")
    assert too_big.size is UNSET
    with pytest.raises(ValueError, match="2\\*\\*64"):
        v2.ResourceLink(name="n", uri="u", size=2**64)


@pytest.mark.rule("V2-GEN-07")
def test_a_text_block_without_text_is_an_error_with_its_path() -> None:
    """V2-GEN-07: the agent answers -32602 and says where."""
    with pytest.raises(Invalid) as caught:
        decode(v2.PromptRequest, b'{"sessionId":"s","prompt":[{"type":"text"}]}')
    assert caught.value.path == "$.prompt[0].text"
