"""A client of the 2026-02 draft, served by the v1 edge behind a translator in this process.

What always holds
    * The v1 edge and the agent never see the draft's shapes; what v1 has no field for comes and
      goes in `_meta`, under the key of the draft.
    * Credentials never stand in a message: the translator puts them where the login takes them.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from accord.agent.serving.draft.requests import DetailedServing
from accord.agent.serving.prompts import CANCELLED
from accord.connection import Connection, IncomingRequest
from accord.connection.connection import Work
from accord.connection.translation.peer_translator import Junction
from accord.errors import ConnectionLost
from accord.machine import clock
from accord.machine.processes.program_lookup import find_program
from accord.machine.redacted_logs import logger
from accord.schema.codec import encode, to_python
from accord.schema.struct import Raw
from accord.translate.draft.client import DraftClient
from accord.translate.draft.conversion.capabilities import offered_in_draft
from accord.translate.message import CLIENT, Json, Surroundings

if TYPE_CHECKING:
    from accord.agent.callbacks import Guard
    from accord.agent.definition import AgentDefinition
    from accord.agent.serving.wire import Features

_log = logger("accord.agent")

INITIALIZE = "initialize"


class DraftServing:
    """One client of the draft; see `serving.connection.Dialect`."""

    def __init__(
        self, agent: AgentDefinition, connection: Connection, raw: Raw, params: Mapping[str, Any]
    ) -> None:
        del params
        self._raw = raw
        self._inside = _Inside(agent)
        around = Surroundings(
            now=time.monotonic,
            stamp=clock.timestamp,
            fresh=lambda: uuid.uuid4().hex,
            read_text=_unread,
            keep_secret=self._inside.keep_secret,
            log=_log.info,
            find_program=_program,
        )
        translator = DraftClient(around, details=True)
        self._junction = Junction(
            translator,
            connection,
            side=CLIENT,
            foreign_spoken="draft",
            answers_at_close={"session/prompt": CANCELLED},
        )
        inner = Connection(
            self._junction, self._inside, limits=self._junction.limits, strict=agent.strict
        )
        inner.begin_within(connection)
        self._inside.connection = inner
        self._junction.deliver_to(inner)

    @property
    def guard(self) -> Guard:
        """Runs the functions of the program for this client."""
        return self._inside.serving.guard

    @property
    def features(self) -> Features:
        """What the client can do."""
        return self._inside.serving.features

    def initialize(self) -> bytes:
        """The agent's offer, in the draft's names."""
        answer = self._junction.request(IncomingRequest(0, INITIALIZE, self._raw))
        assert isinstance(answer, bytes), "the v1 edge answers initialize at once"
        return answer

    def request(self, request: IncomingRequest) -> bytes | Work:
        """Translate a request of the client."""
        return self._junction.request(request)

    def notification(self, method: str, params: Raw) -> None:
        """Translate a notification of the client."""
        self._junction.notification(method, params)

    def lost(self, error: ConnectionLost) -> None:
        """The client is gone."""
        self._junction.lost(error)


class _Inside:
    """The handler of the inner connection: the v1 edge, from `initialize` on."""

    def __init__(self, agent: AgentDefinition) -> None:
        self._agent = agent
        self._secrets: Json = {}
        self._serving: DetailedServing | None = None
        self.connection: Connection | None = None

    @property
    def serving(self) -> DetailedServing:
        assert self._serving is not None, "initialize must come first"
        return self._serving

    def keep_secret(self, method: str, credentials: Json) -> None:
        """Credentials of the login that is about to be asked for."""
        self._secrets = {"method": method, "credentials": credentials}

    def request(self, request: IncomingRequest) -> bytes | Work:
        if request.method == INITIALIZE:
            assert self.connection is not None
            raw, params = request.params, to_python(request.params)
            serving = DetailedServing(self._agent, self.connection, raw, params)
            answer = serving.initialize()
            self._serving = serving
            return answer
        serving = self.serving
        if request.method == "authenticate":
            serving.credentials, self._secrets = self._secrets.get("credentials") or {}, {}
        outcome = serving.request(request)
        if isinstance(outcome, bytes):
            return outcome
        return lambda: serving.guard.run(outcome())

    def notification(self, method: str, params: Raw) -> None:
        self.serving.notification(method, params)

    def lost(self, error: ConnectionLost) -> None:
        if self._serving is not None:
            self._serving.sessions.lost(error)


def serving_after_all(
    agent: AgentDefinition, connection: Connection, asked: Mapping[str, Any]
) -> DraftServing:
    """Serve a client that looked like one of v1 until its first request showed the draft."""
    official = asked.get("clientCapabilities")
    info = asked.get("clientInfo")
    params = {
        "protocolVersion": 1,
        "clientInfo": info if isinstance(info, Mapping) else {"name": "unknown", "version": "0"},
        "capabilities": offered_in_draft(official if isinstance(official, Mapping) else {}),
    }
    serving = DraftServing(agent, connection, Raw(encode(params)), params)
    serving.initialize()
    return serving


def _unread(path: str) -> str | None:
    del path
    return None


def _program(name: str) -> str | None:
    return find_program(name) if os.path.basename(name) == name else None
