"""Messages with a wrong type in one field, for every field of every method.

Made from the tables of `accord.schema`, so that a field that is added there is tried here.

Must not know: what becomes of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from accord.conformance.frames.raw_peer import Message
from accord.conformance.frames.schema_validation import tables
from accord.conformance.rule_definition import Version

# One of each JSON type; most are wrong for any given field, and the others do no harm.
ODD_VALUES: tuple[Any, ...] = (
    None, True, -1, 2**70, 1.5, "", "\u0000", "x" * 5_000, [], [None], {}, {"type": 5},
)  # fmt: skip
# Starting work or ending the session by accident would hide what follows.
LEFT_OUT = frozenset({"initialize", "session/delete", "session/close", "logout", "auth/logout"})

# Methods that would run a command, write a file, or wait for a person.
LEFT_OUT_OF_CLIENTS = frozenset(
    {"terminal/create", "fs/write_text_file", "elicitation/create", "session/request_permission"}
)


def wrong_types(version: Version, session: str, folder: str) -> Iterator[tuple[str, Message]]:
    """Make requests for the agent, each with one wrong value; the other fields are valid."""
    for_agent, _ = tables(version)
    for name, method in for_agent.items():
        if method.kind != "request" or name in LEFT_OUT:
            continue
        good = _good(method.params, session, folder)
        for field in _fields(method.params):
            for value in ODD_VALUES:
                if not _starts_work(name, field, value):
                    yield name, good | {field: value}


def wrong_types_for_clients(
    version: Version, session: str, folder: str
) -> Iterator[tuple[str, str, Message]]:
    """Make messages for a client (which, method, params), each with one wrong value.

    Nothing is started by them, and questions that a person would have to answer are left out.
    """
    _, for_client = tables(version)
    for name, method in for_client.items():
        if name in LEFT_OUT_OF_CLIENTS:
            continue
        good = _good(method.params, session, folder)
        for field in _fields(method.params):
            if field != "_meta":
                yield from ((method.kind, name, good | {field: value}) for value in ODD_VALUES)
    for kind in ("agent_message_chunk", "tool_call", "tool_call_update", "plan", "usage_update"):
        for key in ("content", "toolCallId", "status", "entries", "used", "messageId"):
            for value in ODD_VALUES:
                update: Message = {"sessionUpdate": kind, key: value}
                yield "notification", "session/update", {"sessionId": session, "update": update}


def _fields(params: Any) -> tuple[str, ...]:
    """Return the keys of a params object, of all its variants."""
    names: list[str] = []
    for variant in getattr(params, "__args__", (params,)):
        names += getattr(variant, "__struct_encode_fields__", ())
    return tuple(dict.fromkeys(names))


def _good(params: Any, session: str, folder: str) -> Message:
    known: Message = {
        "sessionId": session,
        "cwd": folder,
        "mcpServers": [],
        "prompt": [{"type": "text", "text": "hello"}],
        "methodId": "accord-check-nobody",
        "modeId": "accord-check-nobody",
        "modelId": "accord-check-nobody",
        "configId": "accord-check-nobody",
        "type": "id",
        "value": "accord-check-nobody",
        "title": "accord check",
        "toolCallId": "accord-check-nobody",
        "terminalId": "accord-check-nobody",
        "path": f"{folder}/accord-check-nothing.txt",
        # Of the draft.
        "workingDirectory": folder,
        "content": [{"type": "text", "text": "hello"}],
        "method": "custom",
        "credentials": {},
        "mode": "accord-check-nobody",
        "key": "accord-check-nobody",
        "data": "accord check",
    }
    return {key: known[key] for key in _fields(params) if key in known}


def _starts_work(method: str, field: str, value: Any) -> bool:
    """Whether this would be a valid prompt."""
    if method != "session/prompt":
        return False
    no_blocks = field in ("prompt", "content") and value == []
    no_files = field == "attachments" and value in (None, [])
    return field == "_meta" or no_blocks or no_files
