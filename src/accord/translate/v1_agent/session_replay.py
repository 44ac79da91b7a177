"""Replays a session's history to a v2 client, with stable ids and without duplicates.

A v1 agent tells a loaded session in pieces, often without ids.  A v2 client may still hold what it
is told again, so each message begins with the news that it is empty.  The user's messages are said
whole, with the ids that their prompts were answered with (`message_ids.py`).

Memory per session: one message of at most `MESSAGE_BYTES_MAX` bytes while a past is told; behind an
agent that cannot load sessions, a log of at most `LOG_BYTES_MAX` bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, Final

from accord.schema.codec import encode, to_python
from accord.translate.message import Json
from accord.translate.v1_agent.message_ids import USER_CHUNK, MessageIds, PromptIds, first_line

MESSAGE_BYTES_MAX: Final = 1024 * 1024
LOG_BYTES_MAX: Final = 1024 * 1024

# By the kind of a chunk: the kind of its message, the key of the id, and the empty content.
_EMPTY: Final[dict[str, tuple[str, str, Json]]] = {
    USER_CHUNK: ("user_message", "messageId", {"content": []}),
    "agent_message_chunk": ("agent_message", "messageId", {"content": []}),
    "agent_thought_chunk": ("agent_thought", "messageId", {"content": []}),
    "terminal_output_chunk": ("terminal_update", "terminalId", {"output": {"data": ""}}),
}
_PIECES: Final = {whole: piece for piece, (whole, _, _) in _EMPTY.items()}


class Log:
    """The updates that a client needs to show the session again; the oldest are dropped first."""

    __slots__ = ("_bytes", "_entries")

    def __init__(self, entries: Iterable[bytes] = ()) -> None:
        self._entries = deque(entries)
        self._bytes = sum(map(len, self._entries))

    def add(self, update: Json) -> None:
        entry = encode(update)
        self._entries.append(entry)
        self._bytes += len(entry)
        while self._bytes > LOG_BYTES_MAX:
            self._bytes -= len(self._entries.popleft())

    def copy(self) -> Log:
        """Return the same history for another session."""
        return Log(self._entries)

    def replay(self) -> list[Json]:
        """Return the kept updates in order."""
        return [to_python(entry) for entry in self._entries]


class Replay:
    """One history that is replayed to the client.

    Guards: before the first piece of anything it is said to be empty; a message of the user is
    said whole as soon as something else comes, or when it is too long to wait for the rest of it.
    """

    __slots__ = ("_bytes", "_messages", "_meta", "_prompts", "_said", "_user", "_user_id")

    def __init__(self, prompts: PromptIds, messages: MessageIds) -> None:
        self._prompts = prompts
        self._messages = messages
        self._said: set[tuple[str, Any]] = set()
        # The current user message: the agent's id for it, and its blocks, as
        # they came up to the first with text, and all of them joined.
        self._user: tuple[Any, list[Json], list[Json]] | None = None
        # Its metadata: in v1 a message has none of its own, and its pieces carry it.
        self._meta: Json = {}
        self._bytes = 0
        # Our id for that message, once it is complete.
        self._user_id: str | None = None

    def add(self, update: Json) -> list[Json]:
        """Add the next update, in v2's form; return the updates to send now."""
        if update["sessionUpdate"] == USER_CHUNK:
            return self._add_user(update)
        return [*self.rest(), *self.whole(update)]

    def whole(self, update: Json) -> list[Json]:
        """Add an update that already has its ids."""
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
        """Return the updates of the user message that waited for more chunks."""
        if self._user is None:
            return []
        self.begin_turn()
        message_id, (_, _, blocks) = self._user_id, self._user
        self._user = self._user_id = None
        whole: Json = {"sessionUpdate": "user_message", "messageId": message_id, "content": blocks}
        return [{**whole, "_meta": self._meta} if self._meta else whole]

    def begin_turn(self) -> None:
        """Complete the user message, since another update follows: it began a turn."""
        if self._user is not None:
            self._begin(self._user[1])

    def _begin(self, first: list[Json]) -> str:
        if self._user_id is None:
            self._user_id = self._prompts.replayed(first)
            self._messages.begin_turn(self._user_id)
        return self._user_id

    def _add_user(self, update: Json) -> list[Json]:
        message_id, block, meta = update.get("messageId"), update["content"], update.get("_meta")
        said: list[Json] = []
        if self._user is not None and self._begins_another(self._user, message_id, block):
            said = self.rest()
        if self._user is None:
            self._user, self._meta, self._bytes = (message_id, [], []), {}, 0
        if isinstance(meta, dict):
            self._meta |= meta
            self._bytes += len(encode(meta))
        _, first, blocks = self._user
        if not any(map(first_line, first)):
            first.append(dict(block))
        if blocks and _is_plain(blocks[-1]) and _is_plain(block):
            blocks[-1]["text"] += block["text"]
        else:
            blocks.append(block)
        self._bytes += len(encode(block))
        if self._bytes > MESSAGE_BYTES_MAX:
            said += self.rest()
        return said

    def _begins_another(
        self, user: tuple[Any, list[Json], list[Json]], message_id: Any, block: Json
    ) -> bool:
        """Whether a block begins another message; otherwise it is counted for the current one."""
        known, first, blocks = user
        if known != message_id:
            return True
        if not first_line(block) or not any(map(first_line, first)):
            return False
        if self._prompts.is_over(self._begin(first), blocks, block):
            return True
        self._prompts.replayed([block])
        return False


def _is_plain(block: Json) -> bool:
    return len(block) == 2 and block["type"] == "text"
