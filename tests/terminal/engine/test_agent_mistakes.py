"""What is logged while chats run: told in the chat, never on the terminal."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

from accord.terminal.engine.agent_mistakes import ChatLog, hears_mistakes, logging_in_chats
from accord.terminal.engine.launch_options import LaunchOptions
from tests.terminal.engine.controller_harness import ready, remarks, running_controller, until

pytestmark = pytest.mark.usefixtures("own_places")

CARELESS = r"""
import json, sys
def tell(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        tell(id=asked["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
    elif asked["method"] == "session/new":
        tell(id=asked["id"], result={"sessionId": "s"})
        image = {"type": "image", "data": "!\x1b[31m", "mimeType": "image/png"}
        update = {"sessionUpdate": "agent_message_chunk", "content": image}
        for _ in range(2):
            tell(method="session/update", params={"sessionId": "s", "update": update})
"""


async def test_what_cannot_be_read_is_told_in_the_chat_and_nowhere_else(
    work: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Issue 6: nothing that an agent sends is dropped without a word, nor written unfiltered."""
    agent = work.parent / "careless.py"
    agent.write_text(CARELESS, "utf-8")
    async with running_controller() as controller:
        launch = LaunchOptions(command=(sys.executable, str(agent)), folder=str(work))
        chat = await controller.open_chat(launch=launch)
        await until(chat, lambda chat: ready(chat) and "malformed" in remarks(chat))
        assert remarks(chat).count("The agent sent a malformed session/update") == 1
        assert "base64" in remarks(chat)
    assert capfd.readouterr().err == ""


def test_other_lines_are_for_nobody_and_words_are_clean(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: only mistakes of an agent, and only where there is a chat for them."""
    heard: list[str] = []
    log = logging.getLogger("accord.connection")
    with logging_in_chats():
        log.warning("tolerated: nobody hears this")
        token = hears_mistakes.set(heard.append)
        log.warning("tolerated: an odd \x1b]0;word\x07\nof it")
        log.warning("something else")
        log.info("tolerated: a trifle")
        hears_mistakes.reset(token)
    assert len(heard) == 1
    assert heard[0].startswith("An odd ")
    assert heard[0].isprintable()
    assert caplog.text == ""
    assert not any(isinstance(one, ChatLog) for one in logging.getLogger("accord").handlers)
