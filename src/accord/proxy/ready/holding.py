"""Messages that stream in pieces, for secrets that are cut in two.

The end of a piece that may be the beginning of a secret waits for the next piece.

What always holds: what waits is said before anything else of its session is, and nothing waits
that cannot be a secret's beginning.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any, Final, NamedTuple

from accord.proxy.message import Message
from accord.proxy.ready.redacting import Redactor

Json = dict[str, Any]
UPDATE: Final = "session/update"
PIECES: Final = frozenset({"agent_message_chunk", "agent_thought_chunk", "user_message_chunk"})


class _Held(NamedTuple):
    of: tuple[str, Any]
    params: Json
    text: str


class Pieces:
    """What waits, one text per session at most."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held: dict[str, _Held] = {}

    def told(self, message: Message) -> bool | None:
        """Take secrets out of what the agent tells; False where all of it waits."""
        params = message.params
        update = _piece(params) if message.method == UPDATE else None
        if update is None:
            self.release(message)
            message.params = self._bytes(self._redactor.value(params))
            return None
        session_id = message.session_id or ""
        of = update["sessionUpdate"], update.get("messageId")
        held = self._held.get(session_id)
        if held is not None and held.of != of:
            self.release(message)
        held = self._held.pop(session_id, None)
        text = ("" if held is None else held.text) + update["content"]["text"]
        safe = len(text) - self._redactor.begun(text)
        if safe < len(text):
            self._held[session_id] = _Held(of, params, text[safe:])
            if safe == 0:
                return False
        message.params = self._redactor.value(_saying(params, text[:safe]))
        return None

    def _bytes(self, params: Json) -> Json:
        """Take secrets out of the output of a terminal of v2, which is written in base64."""
        update = params.get("update")
        if not isinstance(update, dict):
            return params
        kind = update.get("sessionUpdate")
        holder = update if kind == "terminal_output_chunk" else None
        if kind == "terminal_update":
            holder = update.get("output")
        data = holder.get("data") if isinstance(holder, dict) else None
        if isinstance(holder, dict) and isinstance(data, str):
            try:
                shown = b64decode(data, validate=True).decode("utf-8", "surrogateescape")
            except ValueError:
                return params
            said = self._redactor.text(shown)
            if said != shown:
                holder["data"] = b64encode(said.encode("utf-8", "surrogateescape")).decode("ascii")
        return params

    def release(self, message: Message) -> None:
        """Say what waits in the session of this message, before it."""
        held = self._held.pop(message.session_id or "", None)
        if held is not None:
            params = self._redactor.value(_saying(held.params, held.text))
            message.client.notify(UPDATE, params)


def _piece(params: Json) -> Json | None:
    update = params.get("update")
    if not isinstance(update, dict) or update.get("sessionUpdate") not in PIECES:
        return None
    content = update.get("content")
    is_text = isinstance(content, dict) and isinstance(content.get("text"), str)
    return update if is_text else None


def _saying(params: Json, text: str) -> Json:
    update = params["update"]
    return {**params, "update": {**update, "content": {**update["content"], "text": text}}}


__all__ = ["Pieces"]
