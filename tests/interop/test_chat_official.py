"""The real `accord chat` in tmux with agents on the official SDKs, in both versions."""

from pathlib import Path

import pytest

from tests.interop.harness import PEERS
from tests.terminal.real.chat_screen import EMPTY, ChatScreen
from tests.terminal.tmux import needs_tmux

pytestmark = needs_tmux


@pytest.mark.parametrize("name", ["ts-v1", "ts-v2", "py-v1", "py-v2"])
def test_a_chat_with_an_agent_on_the_official_sdk(name: str, tmp_path: Path) -> None:
    """Issue 6: what is said, edits allowed and rejected, commands, plans, a stop, an end."""
    peer = PEERS[name]
    with ChatScreen(tmp_path, "chat", "--", *peer.agent) as chat:
        (chat.work / "a.txt").write_text("old words\n")
        chat.ready()
        chat.say("say Some **bold** words")
        chat.wait_for("Some bold words", EMPTY)

        chat.say("edit a.txt rejected")
        chat.answer("n", "asks for permission")
        chat.wait_for("not edited", EMPTY)
        assert (chat.work / "a.txt").read_text() == "old words\n"

        chat.say("edit a.txt allowed")
        chat.wait_for("asks for permission", "allowed")
        chat.answer("y", "asks for permission")
        chat.until(lambda shown: "\n edited" in shown and EMPTY in shown)
        assert (chat.work / "a.txt").read_text() == "allowed"

        chat.say("plan")
        chat.wait_for("Plan 1/2", EMPTY)
        chat.say("long")
        chat.wait_for("[Stop]")
        chat.press("Escape")
        chat.wait_for("You stopped the turn.", EMPTY)
        chat.leave()
