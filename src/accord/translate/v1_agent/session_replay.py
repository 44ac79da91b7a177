"""The past of a session as a v2 client is told it: with lasting ids, and nothing twice.

A v1 agent tells a loaded session in pieces, often without ids.  A v2 client may still hold what it
is told again, so each message begins with the news that it is empty.  The user's messages are said
whole, with the ids that their prompts were answered with.  An id is made of the session's id, the
first line of the prompt and how often that was said before, so that a later process finds the same
one; agents are known to add to what the user said, but hardly before it.

Memory per session: at most `PROMPTS_KEPT` ids, and one message of at most `MESSAGE_BYTES_MAX`
bytes while a past is told.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

from accord.schema.codec import encode
from accord.translate.message import Json

PROMPTS_KEPT: Final = 1024
MESSAGE_BYTES_MAX: Final = 1024 * 1024
USER_CHUNK: Final = "user_message_chunk"

# By the kind of a piece: the kind of what it belongs to, the name of its id, and the empty content.
_EMPTY: Final[dict[str, tuple[str, str, Json]]] = {
    USER_CHUNK: ("user_message", "messageId", {"content": []}),
    "agent_message_chunk": ("agent_message", "messageId", {"content": []}),
    "agent_thought_chunk": ("agent_thought", "messageId", {"content": []}),
    "terminal_output_chunk": ("terminal_update", "terminalId", {"output": {"data": ""}}),
}
_PIECES: Final = {whole: piece for piece, (whole, _, _) in _EMPTY.items()}


class PromptIds:
    """The ids of a session's user messages, by what they begin with and in their order."""

    __slots__ = ("_count", "_ids", "_is_known", "_session_id", "_told")

    def __init__(self, session_id: str, *, is_known: bool) -> None:
        """`is_known`: all that was said before in the session is known here."""
        self._session_id = session_id
        self._is_known = is_known
        self._ids: dict[bytes, list[str]] = {}
        self._count = 0
        # How many of each beginning were told since the past began to be told.
        self._told: dict[bytes, int] = {}

    def fresh(self, blocks: list[Json], otherwise: str) -> str:
        """The id of a prompt that is said now; `otherwise` where it could be one of the past."""
        key = _beginning(blocks)
        made = self._made(key, len(self._ids.get(key, ()))) if self._is_known else otherwise
        self._keep(key, made)
        return made

    def begin_past(self) -> None:
        """Everything is told from the start."""
        self._told.clear()

    def end_past(self) -> None:
        """All of it was told."""
        self._told.clear()
        self._is_known = self._count <= PROMPTS_KEPT

    def replayed(self, blocks: list[Json]) -> str:
        """The id of the next user message of the past."""
        key = _beginning(blocks)
        at = self._told.get(key, 0)
        self._told[key] = at + 1
        ids = self._ids.get(key, ())
        if at < len(ids):
            return ids[at]
        made = self._made(key, at)
        self._keep(key, made)
        return made

    def _made(self, key: bytes, at: int) -> str:
        said = b"\0".join((self._session_id.encode("utf-8", "replace"), key, b"%d" % at))
        return f"u-{sha256(said).hexdigest()[:32]}"

    def _keep(self, key: bytes, made: str) -> None:
        self._count += 1
        if self._count <= PROMPTS_KEPT:
            self._ids.setdefault(key, []).append(made)
        else:
            # From now on an id could be one that was given before.
            self._is_known = False


def _beginning(blocks: list[Json]) -> bytes:
    """What a message begins with: its first line of text, else its first block."""
    line = next(filter(None, map(_line, blocks)), None)
    begins = encode(blocks[:1]) if line is None else line.encode("utf-8", "replace")
    return sha256(begins).digest()[:16]


def _line(block: Json) -> str:
    text: str = block["text"] if block.get("type") == "text" else ""
    return text.strip().partition("\n")[0].rstrip()


class Replay:
    """One past on its way to the client.

    Guards: before the first piece of anything it is said to be empty; a message of the user is
    said whole as soon as something else comes, or when it is too long to wait for the rest of it.
    """

    __slots__ = ("_bytes", "_ids", "_said", "_user")

    def __init__(self, ids: PromptIds) -> None:
        self._ids = ids
        self._said: set[tuple[str, Any]] = set()
        # The user's message that is under way: its id in the agent's words, and its blocks, as
        # they came up to the first with text, and all of them put together.
        self._user: tuple[Any, list[Json], list[Json]] | None = None
        self._bytes = 0
        ids.begin_past()

    def add(self, update: Json) -> list[Json]:
        """The next update in v2's form, as what the client is told now."""
        if update["sessionUpdate"] == USER_CHUNK:
            return self._add_user(update.get("messageId"), update["content"])
        return [*self.rest(), *self.whole(update)]

    def whole(self, update: Json) -> list[Json]:
        """An update whose ids are right already."""
        kind: str = update["sessionUpdate"]
        empty = _EMPTY.get(kind)
        if empty is None:
            piece = _PIECES.get(kind)
            if piece is not None:
                _, name, content = _EMPTY[piece]
                if content.keys() <= update.keys():
                    self._said.add((piece, update[name]))
            return [update]
        whole, name, content = empty
        key = (kind, update[name])
        if key in self._said:
            return [update]
        self._said.add(key)
        return [{"sessionUpdate": whole, name: update[name], **content}, update]

    def rest(self) -> list[Json]:
        """The user's message that has waited for more."""
        if self._user is None:
            return []
        _, first, blocks = self._user
        self._user = None
        message_id = self._ids.replayed(first)
        return [{"sessionUpdate": "user_message", "messageId": message_id, "content": blocks}]

    def _add_user(self, message_id: Any, block: Json) -> list[Json]:
        said: list[Json] = []
        if self._user is not None and self._user[0] != message_id:
            said = self.rest()
        if self._user is None:
            self._user, self._bytes = (message_id, [], []), 0
        _, first, blocks = self._user
        if not any(map(_line, first)):
            first.append(dict(block))
        if blocks and _is_plain(blocks[-1]) and _is_plain(block):
            blocks[-1]["text"] += block["text"]
        else:
            blocks.append(block)
        self._bytes += len(encode(block))
        if self._bytes > MESSAGE_BYTES_MAX:
            said += self.rest()
        return said


def _is_plain(block: Json) -> bool:
    return len(block) == 2 and block["type"] == "text"
