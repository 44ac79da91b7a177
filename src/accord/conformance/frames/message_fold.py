"""Folds the message updates of a v2 session, also for a receiver with earlier messages.

A whole message replaces its content, a chunk appends to it.  Must not know: any rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from accord.conformance.frames.raw_peer import Message

KINDS = ("user_message", "agent_message", "agent_thought")
# Kind and id of a message -> its text, in the order in which they were first seen.
Texts = dict[tuple[str, str], str]


def fold(updates: Iterable[Message], before: Texts | None = None) -> Texts:
    """Return the texts after these updates; `before` has the earlier ones, and is unchanged."""
    texts = dict(before or {})
    for update in updates:
        kind = str(update.get("sessionUpdate"))
        piece = kind.endswith("_chunk")
        key = kind.removesuffix("_chunk"), str(update.get("messageId"))
        if key[0] not in KINDS:
            continue
        if piece:
            texts[key] = texts.get(key, "") + text_of([update.get("content")])
        elif "content" in update:
            texts[key] = text_of(update["content"])
        else:
            texts.setdefault(key, "")
    return texts


def text_of(blocks: Any) -> str:
    """Return the text of a list of content blocks."""
    return "".join(
        str(one.get("text", ""))
        for one in (blocks if isinstance(blocks, list) else [])
        if isinstance(one, dict) and one.get("type") == "text"
    )
