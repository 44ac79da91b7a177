"""Ids for the messages of v1 agents that send none; every process makes the same ones.

A v2 client may still hold the messages of a session that it resumes, and is told them again; under
another id it would show them twice.  So an id follows from what a later process can see as well.
The id of a prompt is made of the session's id, the first line of the prompt and how often that was
said before; agents are known to add to what the user said, but hardly before it.  The id of any
other message is made of the prompt that began its turn, its kind, and how many of that kind the
turn had before.

Two prompts with nothing between them, as after a cancelled turn, are replayed like one prompt of
two blocks.  They are told apart if both were sent in this process; else they become one message.
Therefore every text block counts as a prompt, whether it began one or not.

What always holds
    * No two messages of a session have the same id.  Where a later message could get the id of one
      that was said before, since not all of the past is known, it has one that no other process
      gives.

Memory per session: of at most `PROMPTS_KEPT` prompts the id, the length and a digest, and a few
numbers.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from accord.schema.codec import encode
from accord.translate.message import Json

PROMPTS_KEPT: Final = 1024
USER_CHUNK: Final = "user_message_chunk"
# The prefix of the id of a message.
_LETTERS: Final = {"agent_message_chunk": "m", "agent_thought_chunk": "t", USER_CHUNK: "p"}
MESSAGES: Final = _LETTERS.keys()
# The prefix of a turn before the first prompt of a session.
_NO_PROMPT: Final = ""


class PromptIds:
    """The ids of a session's user messages, from how they begin and their order."""

    __slots__ = ("_count", "_ids", "_is_known", "_last", "_next", "_session_id", "_sizes", "_told")

    def __init__(self, session_id: str, *, is_known: bool) -> None:
        """`is_known`: all earlier messages of the session are known here."""
        self._session_id = session_id
        self._is_known = is_known
        self._ids: dict[bytes, list[str]] = {}
        self._count = 0
        # How many messages with each beginning were replayed so far.
        self._told: dict[bytes, int] = {}
        # By the id of a prompt that was sent here: the length of its text, and how the prompt
        # after it begins.
        self._sizes: dict[str, int] = {}
        self._next: dict[str, bytes] = {}
        self._last: str | None = None

    def fresh(self, blocks: list[Json], otherwise: str) -> str:
        """Return the id of a new prompt; `otherwise` if it could be the id of an earlier one."""
        key = _beginning(blocks)
        made = self._made(key, len(self._ids.get(key, ()))) if self._is_known else otherwise
        if self._last is not None:
            self._next[self._last] = key
        self._last = made if self._keep(key, made) else None
        if self._last is not None:
            self._sizes[made] = _text_size(blocks)
        for block in list(filter(first_line, blocks))[1:]:
            more = _beginning([block])
            self._keep(more, self._made(more, len(self._ids.get(more, ()))))
        return made

    def begin_past(self) -> None:
        """Start to replay the history from its beginning."""
        self._told.clear()

    def end_past(self) -> None:
        """End the replay of the whole history."""
        self._told.clear()
        self._is_known = self._count <= PROMPTS_KEPT

    def replayed(self, blocks: list[Json]) -> str:
        """Return the id of the next replayed user message."""
        key = _beginning(blocks)
        at = self._told.get(key, 0)
        self._told[key] = at + 1
        ids = self._ids.get(key, ())
        if at < len(ids):
            return ids[at]
        made = self._made(key, at)
        self._keep(key, made)
        return made

    def is_over(self, prompt_id: str, blocks: list[Json], block: Json) -> bool:
        """Whether the replayed `blocks` are a whole prompt, and `block` begins the next."""
        size = self._sizes.get(prompt_id)
        return (
            size is not None
            and _text_size(blocks) >= size
            and self._next.get(prompt_id) == _beginning([block])
        )

    def _made(self, key: bytes, at: int) -> str:
        return _lasting("u", self._session_id.encode("utf-8", "replace"), key, b"%d" % at)

    def _keep(self, key: bytes, made: str) -> bool:
        self._count += 1
        if self._count <= PROMPTS_KEPT:
            self._ids.setdefault(key, []).append(made)
            return True
        # From now on an id could be one that was used before.
        self._is_known = False
        return False


class MessageIds:
    """The ids of a session's other messages, counted by kind in each turn."""

    __slots__ = ("_before", "_counts", "_session_id", "_start", "_turn")

    def __init__(self, session_id: str, otherwise: str, *, is_known: bool) -> None:
        """`is_known`: the session has no earlier messages; otherwise `otherwise` is in the ids."""
        self._session_id = session_id
        self._start = self._turn = _NO_PROMPT if is_known else otherwise
        self._counts: dict[str, int] = {}
        # The turn and the counts from before the replay.
        self._before: tuple[str, dict[str, int]] | None = None

    def begin_turn(self, prompt_id: str) -> None:
        """Begin the turn of this prompt."""
        self._turn, self._counts = prompt_id, {}

    def fresh(self, kind: str) -> str:
        """Return the id of the next message of this kind."""
        count = self._counts[kind] = self._counts.get(kind, 0) + 1
        named = (self._session_id, self._turn, str(count))
        return _lasting(_LETTERS[kind], *(one.encode("utf-8", "replace") for one in named))

    def begin_past(self) -> None:
        """Start to replay the history from its beginning."""
        if self._before is None:
            self._before = self._turn, self._counts
        self.begin_turn(_NO_PROMPT)

    def end_past(self, *, is_whole: bool) -> None:
        """End the replay, whether or not it was complete."""
        if self._before is None:
            return
        turn, counts = self._before
        self._before = None
        if turn == self._turn:
            for kind, count in counts.items():
                self._counts[kind] = max(count, self._counts.get(kind, 0))
        elif counts or turn != self._start or not is_whole:
            # The replay ended before the known end of the history.
            self._turn, self._counts = turn, counts


def _lasting(letter: str, *parts: bytes) -> str:
    digest = sha256(b"\0".join(parts)).hexdigest()
    return f"{letter}-{digest[:32]}"


def _beginning(blocks: list[Json]) -> bytes:
    """Return how a message begins: its first line of text, or else its first block."""
    line = next(filter(None, map(first_line, blocks)), None)
    begins = encode(blocks[:1]) if line is None else line.encode("utf-8", "replace")
    return sha256(begins).digest()[:16]


def _text_size(blocks: list[Json]) -> int:
    return sum(len(block["text"].strip()) for block in blocks if block.get("type") == "text")


def first_line(block: Json) -> str:
    """Return the first line of a text block that is not blank; empty for other blocks."""
    text: str = block["text"] if block.get("type") == "text" else ""
    return text.strip().partition("\n")[0].rstrip()
