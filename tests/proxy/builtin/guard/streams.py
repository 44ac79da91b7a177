"""A conversation through what keeps secrets back, and each kind of stream that an agent tells."""

import json
from base64 import b64decode, b64encode
from typing import Any, cast

from accord.machine.redaction.redactor import Redactor
from accord.proxy import message as messages
from accord.proxy.builtin.guard.stream_redaction import StreamRedactor
from accord.proxy.message import Message
from accord.schema.codec import encode
from tests.proxy.wires import Json

VALUE = "zwölf-hunter-é2"
KEY = "sk-abcdefghijklmnop"
REDACTOR = Redactor([VALUE])


class Conversation:
    """A client that keeps what it is told; stands in for the link to it."""

    def __init__(self) -> None:
        self.pieces = StreamRedactor(REDACTOR)
        self.heard: list[Json] = []

    @property
    def link(self) -> messages.Conversation:
        return cast("messages.Conversation", self)

    def notify(self, who: str, method: str, params: bytes) -> None:
        assert who == "client"
        assert method == "session/update"
        self.heard.append(json.loads(params))

    def message(self, session_id: Any = "s", /, **update: Any) -> Message:
        params = encode({"sessionId": session_id, "update": update})
        return Message(self.link, "agent", "session/update", params)

    def tell(self, session_id: Any = "s", /, **update: Any) -> None:
        message = self.message(session_id, **update)
        if self.pieces.told(message) is not False:
            self.heard.append(message.params)

    def heard_of(self, kind: str) -> list[Json]:
        updates = [one["update"] for one in self.heard]
        return [one for one in updates if one["sessionUpdate"] == kind]

    def take(self) -> list[Json]:
        heard, self.heard = [one["update"] for one in self.heard], []
        return heard


def text(words: str, **more: Any) -> Json:
    return {"type": "text", "text": words, **more}


def b64(data: bytes) -> str:
    return b64encode(data).decode()


# Each kind of stream: how a piece of it is told.
def agent(name: str, data: bytes) -> Json:
    kind = "agent_message_chunk"
    return {"sessionUpdate": kind, "messageId": name, "content": text(data.decode())}


def thought(name: str, data: bytes) -> Json:
    kind = "agent_thought_chunk"
    return {"sessionUpdate": kind, "messageId": name, "content": text(data.decode())}


def tool(name: str, data: bytes) -> Json:
    content = {"type": "content", "content": text(data.decode())}
    return {"sessionUpdate": "tool_call_content_chunk", "toolCallId": name, "content": content}


def terminal(name: str, data: bytes) -> Json:
    return {"sessionUpdate": "terminal_output_chunk", "terminalId": name, "data": b64(data)}


def told_terminal(name: str, data: bytes) -> Json:
    output = {"terminal_id": name, "data": data.decode()}
    call = {"sessionUpdate": "tool_call_update", "toolCallId": "c"}
    return {**call, "_meta": {"terminal_output": output}}


def summary(name: str, data: bytes) -> Json:
    kind = "compaction_summary_chunk"
    return {"sessionUpdate": kind, "compactionId": name, "content": text(data.decode())}


KINDS = {
    "agent": agent,
    "thought": thought,
    "tool": tool,
    "terminal": terminal,
    "told": told_terminal,
    "summary": summary,
}


def shown(updates: list[Json], kind: str, name: str) -> bytes:
    """What is told of one stream in all."""
    whole = b""
    for update in updates:
        sample = KINDS[kind](name, b"")
        ids = {key: value for key, value in sample.items() if key.endswith("Id")}
        if any(
            update.get(key) != one
            for key, one in {**ids, "sessionUpdate": sample["sessionUpdate"]}.items()
        ):
            continue
        if kind == "terminal":
            whole += b64decode(update["data"])
        elif kind == "told":
            output = update["_meta"]["terminal_output"]
            whole += output["data"].encode() if output["terminal_id"] == name else b""
        else:
            content = update["content"]
            whole += (content["content"] if kind == "tool" else content)["text"].encode()
    return whole
