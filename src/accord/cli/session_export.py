"""Exports a stored session as Markdown or JSON.

What always holds: the JSON has every update as it was stored, except for secrets; no text in the
Markdown can end its code block.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from accord.machine.redaction.conversation_redactor import ConversationRedactor
from accord.machine.redaction.redactor import Redactor
from accord.schema.codec import encode, to_python
from accord.schema.method import SESSION_UPDATE
from accord.store.session_store import SessionRecord
from accord.transcript import Transcript
from accord.transcript.items.message import Message
from accord.transcript.items.plan import Plan
from accord.transcript.items.tool_call import FileDiff, ToolCall

# How much text of a tool call the Markdown shows; the JSON has all of it.
SHOWN_CHARACTERS_MAX = 4000
_SPEAKERS = {"user": "You", "agent": "Agent", "thought": "Thought"}
_TICKS = {"completed": "x"}


def described(record: SessionRecord) -> dict[str, Any]:
    """Return the facts of a session for JSON."""
    return {
        "sessionId": record.session_id,
        "cwd": record.cwd,
        "additionalDirectories": list(record.additional_directories),
        "title": record.title,
        "updatedAt": record.updated_at,
        "archived": record.archived,
        "interrupted": record.turn_open,
    }


def as_json(
    record: SessionRecord, updates: Sequence[Any], redactor: Redactor | None = None
) -> dict[str, Any]:
    """Return the record and its updates in the form of v2, oldest first."""
    plain: list[Any] = to_python(encode(list(updates)))
    if redactor is None:
        return {**described(record), "updates": plain}
    about: dict[str, Any] = redactor.value(described(record), keep_ids=True)
    return {**about, "updates": list(_without_secrets(plain, redactor))}


def _without_secrets(updates: list[Any], redactor: Redactor) -> Iterator[Any]:
    """Redact updates together, since a secret may be split over several."""
    redacting: ConversationRedactor[None] = ConversationRedactor(redactor)
    ready: list[tuple[None, bytes]] = []
    for update in updates:
        message = {"method": SESSION_UPDATE, "params": {"update": update}}
        ready += redacting.frame(None, "agent", encode(message))
    for _, raw in ready + redacting.finish():
        yield to_python(raw)["params"]["update"]


def as_markdown(record: SessionRecord, updates: Sequence[Any]) -> Iterator[str]:
    """Yield the lines of the Markdown page."""
    transcript = Transcript("v2")
    for update in updates:
        transcript.apply(update)
    yield f"# {_line(record.title or 'A session without a title')}"
    yield ""
    yield f"Session {record.session_id} in {_line(record.cwd)}"
    if record.updated_at:
        yield f"Last used {record.updated_at}"
    for entry in transcript.timeline:
        if isinstance(entry, Message):
            yield from _message(entry)
        elif isinstance(entry, ToolCall):
            yield from _tool_call(entry)
        elif isinstance(entry, Plan) and not entry.removed:
            yield from _plan(entry)


def _message(message: Message) -> Iterator[str]:
    if not message.text:
        return
    yield ""
    yield f"## {_SPEAKERS[message.role]}"
    yield ""
    if message.role == "thought":
        yield from (f"> {line}".rstrip() for line in message.text.splitlines())
    else:
        yield from message.text.splitlines()


def _tool_call(call: ToolCall) -> Iterator[str]:
    yield ""
    yield f"### {_line(call.title or call.tool_call_id)} ({call.kind}, {call.status})"
    for diff in call.diffs:
        yield ""
        yield from _fenced("\n".join(_diff(diff)), "diff")
    if call.text:
        yield ""
        text = call.text
        if len(text) > SHOWN_CHARACTERS_MAX:
            left = len(text) - SHOWN_CHARACTERS_MAX
            text = f"{text[:SHOWN_CHARACTERS_MAX]}\n… {left} more characters"
        yield from _fenced(text, "")


def _diff(diff: FileDiff) -> Iterator[str]:
    if diff.patch is not None:
        yield from diff.patch.splitlines()
    elif diff.new_text is None:
        yield f"{diff.operation} {diff.path}"
    else:
        old = (diff.old_text or "").splitlines()
        name = diff.old_path or diff.path
        new = diff.new_text.splitlines()
        yield from difflib.unified_diff(old, new, name, diff.path, lineterm="")


def _plan(plan: Plan) -> Iterator[str]:
    yield ""
    yield "### Plan"
    yield ""
    for entry in plan.entries:
        yield f"- [{_TICKS.get(entry.status, ' ')}] {_line(entry.content)}"
    if plan.markdown:
        yield from plan.markdown.splitlines()
    if plan.uri:
        yield plan.uri


def _fenced(text: str, language: str) -> Iterator[str]:
    """Yield a code block with a fence longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    yield f"{fence}{language}"
    yield from text.splitlines()
    yield fence


def _line(text: str) -> str:
    return " ".join(text.split())
