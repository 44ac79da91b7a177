"""Modes and options of a session with an agent of the 2026-02 draft.

The agent tells a change twice, in its answer and by an update, in either order; the answer is taken
without a word, so that who looks is told once.
"""

from typing import Any

from accord.client.session.state import Conversation
from accord.client.wire.draft.wire import WireDraft
from accord.errors import LocalProtocolError


async def set_mode(conversation: Conversation, mode_id: str) -> None:
    """Switch to a mode that the agent has."""
    wire = conversation.link.wire
    assert isinstance(wire, WireDraft)
    answer = await conversation.read(wire.set_mode(conversation.id, mode_id), wire.read_mode)
    conversation.transcript.session_setup(answer)


async def set_option(conversation: Conversation, option_id: str, value: Any) -> None:
    """Set an option to any value; which ones it takes, only the agent knows.

    Raises:
        LocalProtocolError: there is no such option.
    """
    known = [option.option_id for option in conversation.transcript.config_options]
    if option_id not in known:
        raise LocalProtocolError(f"the session has no option {option_id!r}; it has {known}")
    wire = conversation.link.wire
    assert isinstance(wire, WireDraft)
    request = wire.set_option(conversation.id, option_id, value)
    answer = await conversation.read(request, wire.read_options)
    conversation.transcript.session_setup(answer)


__all__ = ["set_mode", "set_option"]
