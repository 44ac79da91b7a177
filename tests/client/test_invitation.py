"""Invitations as addresses that people pass on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.client.invitation import Invitation, invitation_address, split_address
from accord.transport.remote_address import parse_address

URL = "https://agents.example.com/agents/codex/acp"
TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=50)


@given(TEXTS, TEXTS.filter(lambda text: "." not in text))
def test_an_address_names_the_session_and_the_code(session_id: str, code: str) -> None:
    """Whatever they contain, the address is a URL, and leads to the gateway alone."""
    invitation = Invitation(session_id, code)
    address = invitation_address(f"{URL}#old", invitation)
    assert split_address(address) == (URL, invitation)
    assert parse_address(address) == parse_address(URL)
    assert "'" not in address


@pytest.mark.parametrize(
    "address",
    [URL, f"{URL}#", f"{URL}#invite=", f"{URL}#invite=.x", f"{URL}#invite=x.", f"{URL}#x.y"],
)
def test_any_other_address_is_left_alone(address: str) -> None:
    """What follows may be meant for somebody else."""
    assert split_address(address) == (address, None)


def test_a_code_is_not_shown_by_accident() -> None:
    """It is as good as a key."""
    assert "secret" not in repr(Invitation("s", "secret"))
