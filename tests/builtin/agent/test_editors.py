"""What the editors of docs/how-to/editors.md send when they start an agent, replayed.

The messages are those that the clients are known to send, in their own words: capabilities that
they have and lack, ids, keys beyond the protocol, and what they do between the messages.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.agent.raw_client import Message, RawClient, raw_client
from tests.builtin.agent.turns import made, option, spoken
from tests.docs.blocks import ROOT, blocks_of

PAGE = ROOT / "docs" / "how-to" / "editors.md"
FILES = {"fs": {"readTextFile": True, "writeTextFile": True}}


@dataclass(frozen=True)
class Editor:
    """One client: its `initialize`, and what it adds to `session/new`."""

    initialize: Message
    new: Message = field(default_factory=dict)
    first_id: int | str = 0
    # Sent by some between two messages; a line that is empty is nothing.
    line_end: bytes = b"\n"


EDITORS = {
    "zed": Editor(
        {
            "protocolVersion": 1,
            "clientCapabilities": {
                **FILES,
                "terminal": True,
                "auth": {"terminal": True},
                "_meta": {"terminal_output": True, "terminal-auth": True},
            },
            "clientInfo": {"name": "zed", "title": "Zed", "version": "1.9.0"},
        },
        {"_meta": {"zed": {"thread": 1}}},
    ),
    "jetbrains": Editor(
        {
            "protocolVersion": 1,
            "clientCapabilities": {**FILES, "terminal": True},
            "clientInfo": {"name": "JetBrains.IntelliJ IDEA", "version": "2026.1"},
        },
        {
            "mcpServers": [
                {
                    "type": "http",
                    "name": "intellij",
                    "url": "http://127.0.0.1:9/stream",
                    "headers": [{"name": "IJ_MCP_AUTH", "value": "token-1234"}],
                }
            ]
        },
        first_id="1",
    ),
    "codecompanion": Editor(
        {
            "protocolVersion": 1,
            "clientCapabilities": FILES,
            "clientInfo": {"name": "CodeCompanion.nvim", "version": "1.0.0"},
        },
        first_id=1,
    ),
    "avante": Editor(
        {"protocolVersion": 1, "clientCapabilities": FILES},
        first_id=1,
        line_end=b"\n\n",
    ),
    "agentic.nvim": Editor(
        {
            "protocolVersion": 1,
            "clientCapabilities": {
                "fs": {"readTextFile": False, "writeTextFile": False},
                "terminal": False,
                "session": {"configOptions": {"boolean": {}}},
            },
            "clientInfo": {"name": "Agentic.nvim", "version": "0.0.1"},
        },
        first_id=1,
    ),
    "toad": Editor(
        {
            "protocolVersion": 1,
            "clientCapabilities": {**FILES, "terminal": True},
            "clientInfo": {"name": "toad", "title": "Toad", "version": "0.6.0"},
        },
        first_id=1,
    ),
    "agent-shell": Editor(
        {
            "protocolVersion": 1,
            "clientInfo": {"name": "agent-shell", "title": "Emacs Agent Shell", "version": "0.40"},
            "clientCapabilities": FILES,
        },
        first_id=1,
    ),
    "acpx": Editor(
        {
            "protocolVersion": 1,
            "clientCapabilities": {**FILES, "terminal": True},
            "clientInfo": {"name": "acpx", "version": "0.19.1"},
        },
    ),
}


async def start(client: RawClient, editor: Editor, method: str, params: Any, number: int) -> Any:
    """Send a request as this client does, and return its result."""
    first = editor.first_id
    request_id = f"{int(first) + number}" if isinstance(first, str) else first + number
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    client.send_bytes(json.dumps(message).encode() + editor.line_end)
    answer = await client.answer(request_id)
    assert "result" in answer, answer
    return answer["result"]


@pytest.mark.parametrize("name", EDITORS)
async def test_an_editor_starts_and_talks(name: str, tmp_path: Path) -> None:
    """Issue 3: the configuration in docs/how-to is checked against what the client sends."""
    editor = EDITORS[name]
    # avante hands on PATH alone; who has no HOME has an agent that works all the same.
    async with raw_client(made(in_memory=True), initialize=False, validate=False) as client:
        agent = await start(client, editor, "initialize", editor.initialize, 0)
        assert agent["protocolVersion"] == 1
        assert agent["authMethods"] == [], "nobody is sent to a login that is not needed"
        params = {"cwd": str(tmp_path), "mcpServers": [], **editor.new}
        session = await start(client, editor, "session/new", params, 1)
        before = [frame.get("method") for frame in client.frames[:2]]
        assert before == [None, None], "an update before the answer is a spinner for ever"
        assert session["modes"]["currentModeId"] == "ask"
        assert option(session, "model")["category"] == "model"
        update = await client.update("available_commands_update")
        assert update["availableCommands"]
        prompt = {
            "sessionId": session["sessionId"],
            "prompt": [
                {"type": "text", "text": "/help"},
                {"type": "resource_link", "uri": f"file://{tmp_path}/a.py", "name": "a.py"},
            ],
        }
        done = await start(client, editor, "session/prompt", prompt, 2)
        assert done["stopReason"] == "end_turn"
        assert "rename" in spoken(client)
        assert "token-1234" not in str(client.frames), "a header is a secret"


def test_every_editor_of_the_page_is_replayed() -> None:
    """Ours: a section without a test is a promise."""
    headings = re.findall(r"^## (.+)$", PAGE.read_text(), re.MULTILINE)
    text = " ".join(headings).lower()
    for name in EDITORS:
        assert name.split("-")[0] in text
    about_all = ["Sessions", "When nothing happens"]
    assert len(headings) == len(EDITORS) + len(about_all)
    assert headings[-len(about_all) :] == about_all


def test_every_configuration_of_the_page_starts_the_agent() -> None:
    """Ours: what is copied from the page is complete."""
    blocks = [
        block
        for block in blocks_of(PAGE)
        # One that is a line to add to another starts nothing.
        if block.info in ("json", "lua", "elisp") and not block.text.startswith("behaviour")
    ]
    assert [block.info for block in blocks] == ["json", "json", "lua", "lua", "lua", "elisp"]
    for block in blocks:
        assert block.text.count("{") == block.text.count("}")
        assert block.text.count("(") == block.text.count(")")
        assert "accord" in block.text
        assert '"agent"' in block.text
        if block.info == "json":
            [server] = json.loads(block.text)["agent_servers"].values()
            assert server["command"].endswith("accord")
            assert server["args"] == ["agent"]
