"""An agent of the 2026-02 draft behind the translator, which runs in this process.

The link keeps its connection to the agent, and gets a second one that speaks v1.  Between the two
stands `DraftAgent`.

What always holds
    * The link, the sessions and the services never see the draft's shapes; what v1 has no field
      for comes and goes in `_meta`, under the key of the draft.
    * Credentials never stand in a message of v1: the translator fetches them from here.
"""

import logging
import time
import uuid
from typing import Any

from accord.client.connection.agent_connection import AgentLink, AgentLinkHandler
from accord.connection.connection import Connection, IncomingRequest, Work
from accord.connection.dialect import Dialect
from accord.connection.translation.peer_translator import Junction
from accord.connection.unknown_keys import message_decoder
from accord.errors import ConnectionLost, RequestError
from accord.machine import clock
from accord.machine.redacted_logs import logger
from accord.schema import draft
from accord.schema.codec import Invalid, decode
from accord.schema.draft.methods import CLIENT_METHODS
from accord.schema.method import SESSION_UPDATE
from accord.schema.struct import Raw
from accord.translate.draft.agent import DraftAgent
from accord.translate.message import AGENT, Json, Surroundings

_log = logger("accord.client")


class Translation:
    """The handler of the connection to a draft agent, and the connection that speaks v1."""

    def __init__(self, link: AgentLink[Any], handler: AgentLinkHandler) -> None:
        self._peer = peer = link.connection
        self._handler = handler
        self._strict = link.options.strict
        self._credentials: Json = {}
        around = Surroundings(
            now=time.monotonic,
            stamp=clock.timestamp,
            fresh=lambda: uuid.uuid4().hex,
            read_text=_unread,
            keep_secret=_unkept,
            recall_secret=self._recalled,
            log=_log.info,
        )
        self._translator = DraftAgent(around, details=True)
        self._junction = Junction(
            self._translator,
            peer,
            side=AGENT,
            foreign_spoken="draft",
            check_result=message_decoder(strict=self._strict, report=peer.tolerate),
        )
        self.connection = Connection(self._junction, handler, limits=self._junction.limits)
        self.connection.begin_within(peer)
        # A mistake of the agent's that shows here ends the connection to it.
        self.connection.tolerate = peer.tolerate
        # Nothing can be taken back from such an agent.
        self.connection.agree_on(Dialect(_unchanged, _unchanged))
        self._junction.deliver_to(self.connection)
        peer.hand_over(self)

    def leave(self) -> Connection:
        """Speak to the agent directly again; the connection to it."""
        self._junction.leave()
        self._peer.hand_over(self._handler)
        return self._peer

    def forget(self, session_id: str) -> None:
        """A session was closed here, which the draft has no message for."""
        self._translator.forget(session_id)

    def keep(self, credentials: Json) -> None:
        """Keep the credentials of the login that is asked for next."""
        self._credentials = credentials

    def _recalled(self, method: str) -> Json:
        del method
        credentials, self._credentials = self._credentials, {}
        return credentials

    # ---- the handler of the agent's connection

    def request(self, request: IncomingRequest) -> bytes | Work:
        """Translate a request of the agent."""
        method = CLIENT_METHODS.get(request.method)
        if self._strict and method is not None:
            try:
                decode(method.params, request.params, strict=True)
            except Invalid as error:
                raise RequestError.invalid_params(error.reason, error.path) from None
        return self._junction.request(request)

    def notification(self, method: str, params: Raw) -> None:
        """Translate a notification of the agent, if it can be read."""
        if method == SESSION_UPDATE:
            notes: list[str] = []
            try:
                envelope = decode(
                    draft.SessionNotification, params, notes=notes, strict=self._strict
                )
                draft.decode_update(envelope, notes=notes, strict=self._strict)
            except Invalid as error:
                ignored = "" if self._strict else ", which is ignored"
                text = f"the agent sent a malformed {method}{ignored}: {error}"
                self._peer.tolerate(text, logging.WARNING)
                return
            for note in notes:
                self._peer.tolerate(f"SessionNotification: {note}")
        self._junction.notification(method, params)

    def lost(self, error: ConnectionLost) -> None:
        """The agent is gone."""
        self.connection.broken = self._peer.broken
        self._junction.lost(error)


def _unchanged(method: str, code: int, data: Any) -> tuple[int, Any]:
    """The translator maps error numbers."""
    del method
    return code, data


def _unread(path: str) -> str | None:
    """No file is read: our transcript shows a diff without the texts."""
    del path
    return None


def _unkept(method: str, credentials: Json) -> None:
    """An agent sends no credentials."""
    del method, credentials
