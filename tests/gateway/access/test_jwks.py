"""The keys of an issuer: which of them may check which token."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.gateway.access.jwks import KEYS_MAX, BadKeys, read_key_set
from accord.gateway.configuration.oauth import ALGORITHMS
from tests.gateway.access.issuer import key_set, private_key, public_jwk

EVERY = tuple(ALGORITHMS)


def algorithms_of(entry: object) -> set[str]:
    """What a key may check."""
    return {key.algorithm for key in read_key_set(key_set(entry), EVERY).keys}


ONE_RSA = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
PINNED: dict[str, tuple[Any, set[str]]] = {
    "RSA": (public_jwk(private_key("RSA")), ONE_RSA),
    "RSA for one algorithm": (public_jwk(private_key("RSA"), alg="PS256"), {"PS256"}),
    "RSA for HS256": (public_jwk(private_key("RSA"), alg="HS256"), set()),
    "RSA for none": (public_jwk(private_key("RSA"), alg="none"), set()),
    "RSA for encryption": (public_jwk(private_key("RSA"), use="enc"), set()),
    "RSA for signing only": (public_jwk(private_key("RSA"), key_ops=["sign"]), set()),
    "RSA of 1024 bits": (public_jwk(private_key("RSA1024")), set()),
    "P-256": (public_jwk(private_key("P-256")), {"ES256"}),
    "P-384": (public_jwk(private_key("P-384")), {"ES384"}),
    "Ed25519": (public_jwk(private_key("Ed25519")), {"EdDSA"}),
    "a shared secret": ({"kty": "oct", "k": "c2VjcmV0", "kid": "k1"}, set()),
    "a private key": (public_jwk(private_key("RSA"), d="AQAB"), set()),
    "half a key": ({"kty": "RSA", "n": "AQAB", "kid": "k1"}, set()),
    "not base64": ({"kty": "RSA", "n": "*", "e": "AQAB"}, set()),
    "a point off the curve": ({"kty": "EC", "crv": "P-256", "x": "AAAA", "y": "AAAA"}, set()),
    "a number for a kid": (public_jwk(private_key("RSA"), kid=None) | {"kid": 1}, set()),
    "text": ("key", set()),
}


@pytest.mark.parametrize(("entry", "algorithms"), PINNED.values(), ids=PINNED)
def test_a_key_checks_the_algorithms_of_its_type_and_no_other(
    entry: object, algorithms: set[str]
) -> None:
    """RFC 8725, 3.1 and 3.2."""
    assert algorithms_of(entry) == algorithms


def test_only_algorithms_that_are_wanted_are_there() -> None:
    """Ours."""
    found = read_key_set(key_set(public_jwk(private_key("RSA"))), ["RS256", "ES256"])
    assert [key.algorithm for key in found.keys] == ["RS256"]


def test_a_key_is_chosen_by_its_id_and_algorithm() -> None:
    """RFC 7517: several types of keys may have one id."""
    found = read_key_set(
        key_set(
            public_jwk(private_key("RSA"), "k1"),
            public_jwk(private_key("P-256"), "k1"),
            public_jwk(private_key("P-256", 1), "k2"),
        ),
        ["RS256", "ES256"],
    )
    one = found.choose("k1", "ES256")
    assert one is not None
    assert (one.kid, one.algorithm) == ("k1", "ES256")
    assert found.choose("k3", "ES256") is None
    assert found.choose("k2", "RS256") is None
    # Without an id there must be only one.
    assert found.choose(None, "ES256") is None
    assert found.choose(None, "RS256") is not None


TOO_MANY = json.dumps({"keys": [{}] * (KEYS_MAX + 1)}).encode()


@pytest.mark.parametrize(
    "document",
    [b"", b"\xff", b"[]", b"{}", b'{"keys": {}}', b"[" * 100_000, TOO_MANY],
    ids=["empty", "bytes", "a list", "no keys", "an object", "deep", "too many"],
)
def test_what_is_not_a_set_of_keys_is_said(document: bytes) -> None:
    """Ours: bad input is one exception."""
    with pytest.raises(BadKeys):
        read_key_set(document, EVERY)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
ENTRY = st.dictionaries(
    st.sampled_from(["kty", "crv", "x", "y", "n", "e", "kid", "use", "key_ops", "alg"]),
    st.sampled_from(["RSA", "EC", "OKP", "P-256", "Ed25519", "sig", "AQAB", "ES256", ""]) | JSON,
)


@given(st.lists(ENTRY | JSON, max_size=3))
def test_any_entries_are_keys_or_are_left_out(entries: list[Any]) -> None:
    """Ours: the issuer's document is input, too."""
    read_key_set(key_set(*entries), EVERY)
