"""What a program sees of a client, a session and a turn, and nothing of how they work."""

from __future__ import annotations

import pytest

from accord.client import Client, PromptTurn, Session

SEEN = {
    Client: "agent_info auth_methods authenticate call_extension capabilities close_session connect"
    " delete_session extensions fork_session list_page list_sessions load_session logout"
    " new_session notify_extension protocol_version resume_session sessions spawn unstable"
    " wait_closed",
    Session: "ask cancel cancel_subagent cancel_terminal cancel_tool_call client close cwd delete"
    " fork id is_busy is_closed prompt roots set_mode set_option transcript updates",
    PromptTurn: "cancel error is_over reply stop_reason usage wait",
}


@pytest.mark.parametrize("seen", list(SEEN), ids=lambda seen: seen.__name__)
def test_a_public_class_shows_what_programs_need_and_no_more(seen: type) -> None:
    """Ours: versions are counted over these names; what the library needs has its own objects."""
    assert [name for name in dir(seen) if not name.startswith("_")] == sorted(SEEN[seen].split())
    for name in SEEN[seen].split():
        assert getattr(seen, name).__doc__, f"{seen.__name__}.{name} has no docstring"
