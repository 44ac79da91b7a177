"""The fuzz targets, for a moment: Hypothesis gives the bytes.  `make fuzz` takes longer."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.source import Source
from tests.fuzz.targets import METHODS, TARGETS

EXAMPLES = 150


@pytest.mark.parametrize("name", TARGETS)
def test_a_promise_holds_for_any_bytes(name: str) -> None:
    """Issue 4: framing, decoding, folding and recordings take whatever comes."""

    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
    @given(st.binary(max_size=400))
    def holds(data: bytes) -> None:
        TARGETS[name](data)

    holds()


@pytest.mark.parametrize(
    ("name", "data"),
    # An unassigned character on stderr.
    [("recorded", b"\x00\x00\x8c\xf4\xce\x80")],
)
def test_bytes_that_broke_a_promise_once_do_not_any_more(name: str, data: bytes) -> None:
    """Ours: what the fuzzer found."""
    TARGETS[name](data)


def test_every_method_is_decoded_by_some_bytes() -> None:
    """Issue 4: decoding of every method of every version."""
    assert len(METHODS) > 90
    for at in range(len(METHODS)):
        for rest in (b"", b"\x01" * 60, b"\x01\x04\x07" * 40):
            TARGETS["decoding"](at.to_bytes(2, "big") + rest)


def test_bytes_that_are_spent_are_the_first_choice() -> None:
    """Ours: any bytes are a value, and none of them raises for want of more."""
    source = Source(b"\x01")
    assert source.choose("ab") == "b"
    assert source.is_spent
    assert (source.choose("ab"), source.chance(1), source.rest()) == ("a", False, b"")
