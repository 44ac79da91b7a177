"""What the claims of a token allow."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.gateway.configuration.oauth import OauthGrant, OauthSettings

SCOPE = OauthGrant(claim=("scope",), value="accord:codex", rights={"codex": "editor"})
ROLE = OauthGrant(claim=("realm_access", "roles"), value="staff", rights={"*": "admin"})

CLAIMS: list[tuple[OauthGrant, dict[str, Any], bool]] = [
    (SCOPE, {"scope": "accord:codex"}, True),
    (SCOPE, {"scope": "openid accord:codex email"}, True),
    (SCOPE, {"scope": "accord:codex2"}, False),
    (SCOPE, {"scope": ["accord:codex"]}, True),
    (SCOPE, {"scope": [["accord:codex"]]}, False),
    (SCOPE, {"scope": {"accord:codex": True}}, False),
    (SCOPE, {"scope": True}, False),
    (SCOPE, {}, False),
    (ROLE, {"realm_access": {"roles": ["staff", "x"]}}, True),
    (ROLE, {"realm_access": {"roles": "staff"}}, True),
    (ROLE, {"realm_access": ["roles"]}, False),
    (ROLE, {"roles": ["staff"]}, False),
]


@pytest.mark.parametrize(("grant", "claims", "applies"), CLAIMS)
def test_a_grant_looks_for_its_value(
    grant: OauthGrant, claims: dict[str, Any], applies: bool
) -> None:
    """Issue 17: claims and scopes give rights."""
    assert grant.applies_to(claims) is applies


def test_grants_add_up() -> None:
    """Ours: a token has what every token has, and what its claims add."""
    settings = OauthSettings(
        issuer="https://i.example",
        audience=("a",),
        rights={"codex": "viewer"},
        grants=(SCOPE, ROLE),
    )
    assert settings.rights_of({}) == {"codex": "viewer"}
    assert settings.rights_of({"scope": "accord:codex"}) == {"codex": "editor"}
    everything = {"scope": "accord:codex", "realm_access": {"roles": ["staff"]}}
    assert settings.rights_of(everything) == {"codex": "admin", "*": "admin"}


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["scope", "realm_access", "roles"]), inner)
    ),
)


@given(st.dictionaries(st.sampled_from(["scope", "realm_access"]), JSON))
def test_any_claims_are_read(claims: dict[str, Any]) -> None:
    """Ours: bad input is not an exception."""
    assert SCOPE.applies_to(claims) in (True, False)
    assert ROLE.applies_to(claims) in (True, False)
