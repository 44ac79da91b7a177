"""A client that was taken for one of v1 until its first request showed the 2026-02 draft.

What always holds: only the first request behind `initialize` can show it.  Whoever has said
something official, and changes later, is refused as any other mixture of dialects is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from accord.connection.translation.translator_side import Port
from accord.machine.redacted_logs import logger
from accord.protocol.negotiation import looks_like_draft
from accord.proxy.relay.translators import Outside
from accord.schema.codec import encode, to_python
from accord.schema.invalid import Invalid
from accord.schema.struct import Raw
from accord.translate.message import AGENT, CLIENT, Request, Result, Translator
from accord.translate.validation import Spoken, methods_of, read_result

_log = logger("accord.proxy")

INITIALIZE = "initialize"


class TranslatingRelay(Protocol):
    """A relay whose translator can be changed."""

    client: Port
    translator: Translator | None

    def candidate(self, outside: Outside, inside: Spoken) -> Translator:
        """Return a translator between two versions."""
        ...


class LateDraft:
    """Looks at the first request of a client, and changes the translator if need be."""

    def __init__(self, relay: TranslatingRelay, asked: Request) -> None:
        self._relay = relay
        self._asked = asked
        self._opened: tuple[Spoken, bytes] | None = None
        self._is_draft = False
        relay.client.look = self._look

    def _look(self, method: str, params: bytes | Raw) -> None:
        self._relay.client.look = None
        try:
            self._is_draft = looks_like_draft(method, to_python(params))
        except Invalid:
            return
        if self._is_draft:
            _log.info("the client speaks the 2026-02 draft: %s shows it", method)
            self._relay.client.speak("draft")
            self._change()

    def opened(self, inside: Spoken, result: Any) -> None:
        """The agent has answered `initialize` with this, and the client knows."""
        self._opened = inside, encode(result)
        self._change()

    def _change(self) -> None:
        """Have both sides introduced to the right translator; they are not told a second time."""
        if self._opened is None or not self._is_draft:
            return
        inside, result = self._opened
        from accord.translate.draft.conversion.capabilities import offered_in_draft

        official = self._asked.params.get("clientCapabilities")
        params = {
            "protocolVersion": 1,
            "clientInfo": self._asked.params.get("clientInfo")
            or {"name": "unknown", "version": "0"},
            "capabilities": offered_in_draft(official if isinstance(official, Mapping) else {}),
        }
        translator = self._relay.candidate("draft", inside)
        key = self._asked.key
        for side, message in translator.receive(CLIENT, Request(key, INITIALIZE, params)):
            if side is AGENT and isinstance(message, Request):
                read = read_result(methods_of(inside)[INITIALIZE], result)
                translator.receive(AGENT, Result(message.key, read))
        self._relay.translator = translator
