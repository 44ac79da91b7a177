"""Messages: chunks are passed on, and whole messages become the chunks that v1 needs.

v1 can only add to a message.  A whole message that goes on from what was sent is sent as what is
new in it; one that says something else is a new message that names the one it replaces; and one
that takes everything back can only be noted on the next chunk.

What always holds
    * A chunk is sent as it came, under the id of v1's message.
    * Of each session at most `MESSAGES_KEPT` messages are known, and of what they said at most
      `MESSAGE_CHARS_KEPT` characters; what is forgotten counts as something else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from accord.translate.content_blocks import block_to_v1, blocks_to_v1, size_of
from accord.translate.message import Json
from accord.translate.meta_store import OFFICIAL, keep
from accord.translate.v2_agent.client_features import TranslationContext, copied, merged_meta

MESSAGES_KEPT: Final = 1024
MESSAGE_CHARS_KEPT: Final = 1024 * 1024
REDACTIONS_KEPT: Final = 64

CHUNKS: Final = {
    "user_message": "user_message_chunk",
    "agent_message": "agent_message_chunk",
    "agent_thought": "agent_thought_chunk",
}
# A text, or another block in the form in which v1 got it.
Part = str | Json


class _Said:
    """The part of a message that v1 has."""

    __slots__ = ("chars", "meta", "parts", "replaces", "v1_id")

    def __init__(self, v1_id: str) -> None:
        self.v1_id = v1_id
        # None if the content is over the bound.
        self.parts: list[Part] | None = []
        self.chars = 0
        # Metadata of the message, which waits for the next chunk.
        self.meta: Json | None = None
        # The id of the message that v1 still shows in place of this one; the next chunk names it.
        self.replaces: str | None = None


class Messages:
    """The messages of one session."""

    def __init__(self, context: TranslationContext) -> None:
        self._context = context
        self._said: dict[tuple[str, str], _Said] = {}
        self._chars = 0
        self._redacted: list[Json] = []
        # Redactions that the client wants to get separately.
        self.to_tell: list[Json] = []

    def chunk(self, update: Json) -> Sequence[Json]:
        kind = update["sessionUpdate"]
        key = (kind, update["messageId"])
        said = self._said.get(key) or self._new(key)
        block = update["content"]
        if len(block) == 2 and block["type"] == "text":
            part: Part = block["text"]
            size = len(part) + 64
        else:
            update["content"] = block_to_v1(block, self._context.lost)
            part = copied(update["content"])
            size = size_of(part)
        parts = said.parts
        if parts is not None:
            parts.append(part)
            said.chars += size
            self._chars += size
            if self._chars > MESSAGE_CHARS_KEPT:
                self._forget_some()
        if said.v1_id != key[1] or said.meta or self._redacted:
            self._mark(update, said)
        return (update,)

    def whole(self, update: Json) -> Sequence[Json]:
        """Take a whole message, which replaces an earlier one with its id."""
        kind = CHUNKS[update["sessionUpdate"]]
        key = (kind, update["messageId"])
        said = self._said.get(key) or self._new(key)
        if "_meta" in update:
            said.meta = merged_meta(said.meta, update["_meta"])[1]
        if "content" not in update:
            return ()
        blocks = blocks_to_v1(update["content"] or [], self._context.lost)
        parts = [_part(copied(block)) for block in blocks]
        if said.replaces is None and said.parts != []:
            rest = None if said.parts is None else _rest(said.parts, parts)
            if rest is None and not blocks:
                self._redact(kind, said)
                return ()
            if rest is None:
                self._replaced(said)
            else:
                blocks = rest
        self._remember(said, parts)
        return [self._said_chunk(kind, said, block) for block in blocks]

    def is_ours(self, message_id: str, prompt: Sequence[Json]) -> None:
        """Note a user message that the client knows, because it is its own prompt."""
        key = (CHUNKS["user_message"], message_id)
        said = self._said.get(key) or self._new(key)
        blocks = blocks_to_v1([copied(block) for block in prompt], self._context.lost)
        self._remember(said, [_part(block) for block in blocks])

    def rested(self) -> None:
        """Drop the metadata that still waits for a chunk: the agent is idle."""
        for said in self._said.values():
            if said.meta:
                said.meta = None
                self._context.around.log(
                    "what was attached to a message without content is dropped"
                )

    # ---- inside

    def _new(self, key: tuple[str, str]) -> _Said:
        said = self._said[key] = _Said(key[1])
        if len(self._said) > MESSAGES_KEPT:
            oldest = next(iter(self._said))
            self._chars -= self._said.pop(oldest).chars
        return said

    def _remember(self, said: _Said, parts: list[Part]) -> None:
        self._chars -= said.chars
        said.parts = parts
        said.chars = sum(map(size_of, parts))
        self._chars += said.chars
        if self._chars > MESSAGE_CHARS_KEPT:
            self._forget_some()

    def _forget_some(self) -> None:
        for said in self._said.values():
            if self._chars <= MESSAGE_CHARS_KEPT // 2:
                return
            self._chars -= said.chars
            said.chars = 0
            said.parts = None

    def _redact(self, kind: str, said: _Said) -> None:
        """Begin a new message, whose first chunk names the one that v1 still shows."""
        self._redacted.append({"sessionUpdate": kind, "messageId": said.v1_id})
        del self._redacted[:-REDACTIONS_KEPT]
        if self._context.features.redactions:
            self.to_tell.append({"messageId": said.v1_id})
        self._replaced(said)
        self._remember(said, [])
        self._context.lost("redacted message")

    def _replaced(self, said: _Said) -> None:
        said.replaces = said.v1_id
        said.v1_id = f"m-{self._context.around.fresh()}"

    def _said_chunk(self, kind: str, said: _Said, block: Json) -> Json:
        update: Json = {"sessionUpdate": kind, "messageId": said.v1_id, "content": block}
        self._mark(update, said)
        return update

    def _mark(self, update: Json, said: _Said) -> None:
        """Take the metadata that waited for a chunk."""
        update["messageId"] = said.v1_id
        if said.meta:
            update["_meta"] = {**said.meta, **(update.get("_meta") or {})}
            said.meta = None
        if self._redacted:
            keep(update, OFFICIAL, "redacted", self._redacted)
            self._redacted = []
        if said.replaces is not None:
            keep(update, OFFICIAL, "replaces", said.replaces)
            said.replaces = None
            self._context.lost("replaced message")


def _part(block: Json) -> Part:
    return block["text"] if len(block) == 2 and block["type"] == "text" else block


def _block(part: Part) -> Json:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    block: Json = copied(part)
    return block


def _joined(parts: Sequence[Part]) -> list[Part]:
    """Join texts that follow each other: where chunks end has no meaning."""
    found: list[Part] = []
    texts: list[str] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
            continue
        if texts:
            found.append("".join(texts))
            texts = []
        found.append(part)
    if texts:
        found.append("".join(texts))
    return found


def _rest(old: Sequence[Part], new: Sequence[Part]) -> list[Json] | None:
    """Return the blocks that continue the old content; None if the new content changes it."""
    before, after = _joined(old), _joined(new)
    *whole, last = before
    if after[: len(whole)] != whole or len(after) <= len(whole):
        return None
    rest = after[len(whole) :]
    first = rest[0]
    if first == last:
        rest = rest[1:]
    elif isinstance(first, str) and isinstance(last, str) and first.startswith(last):
        rest[0] = first[len(last) :]
    else:
        return None
    return [_block(part) for part in rest]
