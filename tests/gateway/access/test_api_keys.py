"""API keys: random, known by their hash."""

from __future__ import annotations

import hashlib
import re

from hypothesis import given
from hypothesis import strategies as st

from accord.gateway.access.api_keys import KeyRing, digest_of, new_api_key, new_token
from accord.transport.request_headers import is_token


def test_a_new_key_is_random_and_its_hash_is_what_the_configuration_takes() -> None:
    """Issue 17: at least 128 bits; stored as a hash."""
    made = new_api_key()
    assert made.key.startswith("accord_")
    # 43 characters of 6 bits.
    assert len(made.key) >= len("accord_") + 43
    assert is_token(made.key)
    assert made.hash == f"sha256:{hashlib.sha256(made.key.encode()).hexdigest()}"
    assert re.fullmatch("sha256:[0-9a-f]{64}", made.hash)
    assert len({new_token() for _ in range(100)}) == 100


@given(st.lists(st.text(min_size=1), unique=True, max_size=5), st.text())
def test_a_key_has_its_owner_and_no_other(known: list[str], given_key: str) -> None:
    """Ours."""
    ring = KeyRing({digest_of(key): f"user-{number}" for number, key in enumerate(known)})
    expected = f"user-{known.index(given_key)}" if given_key in known else None
    assert ring.owner(digest_of(given_key)) == expected
