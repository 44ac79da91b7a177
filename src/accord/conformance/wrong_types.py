"""Messages with a value of a wrong type in one field, for every field of every method.

Made from the tables of `accord.schema`, so that a field that is added there is tried here.

Must not know: what becomes of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from accord.conformance.rule import Version
from accord.conformance.shapes import tables
from accord.conformance.wire import Message

# One of each JSON type; most are wrong for any given field, and the others do no harm.
ODD_VALUES: tuple[Any, ...] = (
    None, True, -1, 2**70, 1.5, "", "\u0000", "x" * 5_000, [], [None], {}, {"type": 5},
)  # fmt: skip
# Starting work or ending the session by accident would hide what comes after.
LEFT_OUT = frozenset({"initialize", "session/delete", "session/close", "logout", "auth/logout"})


def wrong_types(version: Version, session: str, folder: str) -> Iterator[tuple[str, Message]]:
    """Requests for the agent, each with one odd value; the other fields are good."""
    for_agent, _ = tables(version)
    for name, method in for_agent.items():
        if method.kind != "request" or name in LEFT_OUT or name.startswith(("nes/", "document/")):
            continue
        good = _good(method.params, session, folder)
        for field in _fields(method.params):
            for value in ODD_VALUES:
                if not _starts_work(name, field, value):
                    yield name, good | {field: value}


def _fields(params: Any) -> tuple[str, ...]:
    """The keys of a params object, whichever variant of it."""
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
    }
    return {key: known[key] for key in _fields(params) if key in known}


def _starts_work(method: str, field: str, value: Any) -> bool:
    """Whether this would be a prompt like any other."""
    return method == "session/prompt" and (field == "_meta" or (field == "prompt" and value == []))
