"""One client, every kind of agent: v1 only, v2 only, echoing, the draft; each a process of its own.

The last is our own agent, spoken to in the draft: both ends of the dialect that are ours.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from accord.client import Client
from accord.client.options import DraftOptions
from accord.client.permissions.permissions import Permissions
from accord.errors import RequestFailed
from tests.client.draft.draft_script import PROGRAM

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)

# Raw JSON; what it answers to `initialize` is the first argument, what its turn says the second.
PLAIN = """
import json, sys
answer, words = json.loads(sys.argv[1]), json.loads(sys.argv[2])
def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        asked = message["params"]["protocolVersion"]
        send(id=message["id"], result={k: asked if v == "ECHO" else v for k, v in answer.items()})
    elif message["method"] == "session/new":
        send(id=message["id"], result={"sessionId": "s"})
    elif message["method"] == "session/prompt":
        for update in words:
            if "stop" in update:
                send(id=message["id"], result=update["stop"])
            else:
                send(method="session/update", params={"sessionId": "s", "update": update})
"""
CHUNK = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hello."}}
V1_WORDS: list[Any] = [CHUNK, {"stop": {"stopReason": "end_turn"}}]
V2_WORDS: list[Any] = [
    {"stop": {"messageId": "u"}},
    {"sessionUpdate": "state_update", "state": "running"},
    {**CHUNK, "messageId": "m"},
    {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"},
]
INFO = {"name": "plain", "version": "1"}


def plain(answer: Any, words: list[Any]) -> tuple[str, ...]:
    return (sys.executable, "-c", PLAIN, json.dumps(answer), json.dumps(words))


KINDS: dict[str, tuple[tuple[str, ...], int]] = {
    "v1 only": (plain({"protocolVersion": 1, "agentCapabilities": {}}, V1_WORDS), 1),
    "v1 that echoes the version": (
        plain({"protocolVersion": "ECHO", "agentInfo": INFO, "agentCapabilities": {}}, V1_WORDS),
        1,
    ),
    "v1 that says nothing but the version": (plain({"protocolVersion": "ECHO"}, V1_WORDS), 1),
    "v2 only": (
        plain({"protocolVersion": 2, "info": INFO, "capabilities": {"session": {}}}, V2_WORDS),
        2,
    ),
    "the draft, tolerant": (PROGRAM, 1),
    "the draft, strict": ((*PROGRAM, "--strict"), 1),
}


@pytest.mark.rule("D26-30")
@pytest.mark.parametrize("kind", list(KINDS))
async def test_every_kind_of_agent_is_driven_without_being_asked(kind: str, tmp_path: Path) -> None:
    """Issue 5: it is judged by the shape of the answer."""
    command, version = KINDS[kind]
    async with Client.spawn(*command) as client:
        assert client.protocol_version == version
        session = await client.new_session(tmp_path)
        reply = await session.ask("hello")
    assert (reply.text, reply.stop_reason) == ("Hello.", "end_turn")


OURS = """
from accord import Agent
agent = Agent("ours", version="1")

@agent.on_prompt
async def answer(turn):
    await turn.think("what to do")
    if await turn.edit("a.txt", "é\\n", reason="you said so"):
        text = await turn.read_text("a.txt", encoding="utf-8")
        done = await turn.run("echo out; echo err >&2; exit 3")
        await turn.say(repr((text, done.exit_code, done.stdout, done.stderr)))
    else:
        await turn.say("denied")
    if turn.text == "fail":
        raise ValueError("broken")

agent.run()
"""


class KnowsDraft:
    """Takes every agent for one of the draft."""

    def recall(self, agent: Sequence[str], /) -> tuple[str, str] | None:
        return "draft", "1"

    def remember(self, agent: Sequence[str], dialect: str, version: str, /) -> None:
        pass

    def forget(self, agent: Sequence[str], /) -> None:
        pass


@pytest.mark.rule("D26-32", "D26-34")
async def test_our_own_agent_and_client_understand_each_other_in_the_draft(tmp_path: Path) -> None:
    """Ours: both ends were written apart, each to the draft."""
    program = tmp_path / "ours.py"
    program.write_text(OURS)
    options: Any = {"draft": DraftOptions(dialects=KnowsDraft()), "strict": True}
    for name, permissions in (
        ("allowed", Permissions.allow_all()),
        ("denied", Permissions.deny_all()),
    ):
        folder = tmp_path / name
        folder.mkdir()
        async with Client.spawn(
            sys.executable, program, permissions=permissions, **options
        ) as client:
            session = await client.new_session(folder)
            assert session.transcript.modes is not None
            reply = await session.ask("work")
            calls = [call.status for call in reply.tool_calls]
            if "denied" in reply.text:
                assert calls == ["cancelled"]
                continue
            assert reply.text == repr(("é\n", 3, "out\n", "err\n"))
            assert calls == ["completed", "failed"]
            assert reply.tool_calls[0].diffs
            with pytest.raises(RequestFailed):
                await session.ask("fail")
    assert reply.text == "denied"
    assert (tmp_path / "allowed" / "a.txt").read_text() == "é\n"
