"""Secrets that are told in pieces inside of an array of messages."""

import json
from typing import Any

from accord.machine.redaction.conversation_redactor import ConversationRedactor
from accord.machine.redaction.redactor import Redactor
from accord.machine.redaction.secret_patterns import MARK

SECRET = "hunter2hunter2hunter2"


def chunk(text: str) -> dict[str, Any]:
    """A piece of a message."""
    content = {"type": "text", "text": text}
    update = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": content}
    return {"method": "session/update", "params": {"sessionId": "s", "update": update}}


def test_pieces_in_an_array_are_not_written_down() -> None:
    """Issue 13: no gate is passed by an array; also where the other half came before it."""
    conversation: ConversationRedactor[int] = ConversationRedactor(Redactor([SECRET]))
    frames = [
        json.dumps(chunk(SECRET[:9])).encode(),
        json.dumps([chunk(SECRET[9:]), chunk(SECRET[:12]), 5]).encode(),
        json.dumps(chunk(SECRET[12:])).encode(),
    ]
    told: list[tuple[int, bytes]] = []
    for number, frame in enumerate(frames):
        told += conversation.frame(number, "agent", frame)
    told += conversation.finish()
    assert [number for number, _ in told] == [0, 1, 2]
    texts = [one["params"]["update"]["content"]["text"] for one in json.loads(told[1][1])[:2]]
    assert texts == [MARK, MARK]


def test_other_entries_of_an_array_keep_their_text_and_lose_their_secrets() -> None:
    """Ours: an array is looked through as any message is."""
    conversation: ConversationRedactor[int] = ConversationRedactor(Redactor([SECRET]))
    call = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": f"say {SECRET} now"}
    entry = {"method": "session/update", "params": {"sessionId": "s", "update": call}}
    told = conversation.frame(0, "agent", json.dumps([entry, [], {"params": 5}]).encode())
    (kept, *others) = json.loads(told[0][1])
    assert kept["params"]["update"]["title"] == f"say {MARK} now"
    assert others == [[], {"params": 5}]
