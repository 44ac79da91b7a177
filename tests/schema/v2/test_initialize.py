"""Initialization and capabilities of v2."""

import pytest

from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import UNSET
from accord.schema.v2 import (
    AgentCapabilities,
    ClientCapabilities,
    Implementation,
    InitializeProxyRequest,
    InitializeRequest,
    InitializeResponse,
    PromptCapabilities,
    PromptImageCapabilities,
)

INFO = Implementation(name="a", version="1")


@pytest.mark.rule("V2-INIT-01")
def test_info_is_required_on_both_sides() -> None:
    """V2-INIT-01: -32602 if a client asks for exactly 2 without it."""
    for wanted in (InitializeRequest, InitializeResponse):
        with pytest.raises(Invalid) as caught:
            decode(wanted, b'{"protocolVersion":2}')
        assert caught.value.path == "$.info"


@pytest.mark.parametrize("version", [b'"2"', b"-1", b"65536", b"1.5", b"null"])
def test_a_version_is_a_number_of_16_bits(version: bytes) -> None:
    """The schema: a whole number from 0 to 65535, never a string."""
    with pytest.raises(Invalid):
        decode(
            InitializeRequest,
            b'{"protocolVersion":%s,"info":{"name":"a","version":"1"}}' % version,
        )


@pytest.mark.rule("V2-INIT-09")
def test_a_capability_that_is_no_object_is_no_support() -> None:
    """V2-INIT-09: v1's `true` says nothing in v2."""
    notes: list[str] = []
    value = decode(PromptCapabilities, b'{"image":true,"audio":null}', notes=notes)
    assert value == PromptCapabilities(audio=None)
    assert notes == ["malformed, read as absent: Expected `object` (at $.image)"]
    assert decode(PromptCapabilities, b'{"image":{}}').image == PromptImageCapabilities()


def test_malformed_capabilities_count_as_none() -> None:
    """The schema: default on error."""
    value = decode(
        InitializeRequest,
        b'{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":[]}',
    )
    assert value.capabilities is UNSET


def test_empty_capabilities_are_an_empty_object_on_the_wire() -> None:
    """Ours: `{}` and absence differ, above all for `session`."""
    value = InitializeResponse(protocol_version=2, info=INFO, capabilities=AgentCapabilities())
    assert b'"capabilities":{}' in encode(value)
    assert b"capabilities" not in encode(InitializeRequest(protocol_version=2, info=INFO))
    assert decode(ClientCapabilities, b"{}") == ClientCapabilities()


def test_a_proxy_is_initialized_by_the_same_fields() -> None:
    """The schema: the shape of `initialize`, under another name."""
    value = InitializeProxyRequest(protocol_version=2, info=INFO)
    assert encode(value) == encode(InitializeRequest(protocol_version=2, info=INFO))
