"""Error codes: each constant has its text, and an unknown code is a generic error."""

from __future__ import annotations

import pytest

from accord.jsonrpc import error_codes as codes


def test_every_code_has_a_text_of_its_own() -> None:
    """Ours: a code that is added without a text fails here."""
    constants = {name: value for name, value in vars(codes).items() if isinstance(value, int)}
    assert set(constants.values()) == set(codes.TEXTS)
    assert len(constants) == len(codes.TEXTS) == len(set(codes.TEXTS.values()))


def test_the_codes_that_the_protocol_fixes_have_its_numbers() -> None:
    """JSON-RPC 2.0 section 5.1, and the error codes of ACP v1 and v2."""
    assert codes.text_of(-32700) == "Parse error"
    assert codes.text_of(-32601) == "Method not found"
    assert codes.text_of(-32800) == "Request cancelled"
    assert codes.text_of(-32000) == "Authentication required"
    assert codes.text_of(-32002) == "Resource not found"
    assert codes.text_of(-32022) == "Unsupported protocol version"


@pytest.mark.rule("V1-GEN-11")
def test_a_code_that_nobody_knows_is_a_generic_error() -> None:
    """V1: unrecognised codes are handled as generic errors."""
    assert codes.text_of(-32077) == "Error -32077"
