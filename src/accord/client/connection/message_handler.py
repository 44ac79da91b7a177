"""Handles messages of the agent: updates in wire order, and requests to the client's services.

Must not know: how files, terminals, permissions or forms work; those are services.

What always holds
    * An update is in its session's transcript before the next frame is handled.
    * A request for a method that we did not offer is answered -32601, and nothing else happens.
    * Nothing is served before the handshake is done.
"""

import logging
from collections.abc import Awaitable, Callable

from accord.client.callbacks import guarded
from accord.client.connection.agent_connection import AgentLink
from accord.client.options import Options
from accord.client.permissions.open_requests import OpenRequest
from accord.client.services.service_interfaces import Outcome, Service
from accord.client.session.state import SessionCore
from accord.client.session.unclaimed_updates import log_ended_session, report_unknown_session
from accord.client.wire.wire_interface import Incoming, KnownValues, report_unknown
from accord.connection.connection import IncomingRequest
from accord.connection.notification_shortcut import Shortcut
from accord.errors import ConnectionLost, RequestError
from accord.jsonrpc.fast_notifications import notification_reader, notifications_reader
from accord.machine.redacted_logs import logger
from accord.schema.codec import Invalid, encode
from accord.schema.method import SESSION_UPDATE
from accord.schema.struct import Raw

_log = logger("accord.client")

# While one of these is open, updates may come for a session that we do not know yet.
OPENING = ("session/new", "session/load", "session/resume", "session/fork")


class MessageHandler:
    """Handles the messages of one link."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._services: dict[str, Service] | None = None
        self.link: AgentLink[SessionCore]
        # Looked up for every update; set by `agreed`.
        self._read_update: Callable[[Raw], Incoming] | None = None
        self._sessions: dict[str, SessionCore] = {}
        self._known_values: KnownValues = {}

    def agreed(self, link: AgentLink[SessionCore]) -> None:
        """Serve what comes from now on: the handshake is done."""
        self._read_update = link.wire.read_update
        self._sessions = link.sessions
        self._known_values = link.wire.known_values
        wanted = link.wire.update_params
        if not self._options.strict and wanted is not None:
            # Strict reading checks every member and cannot take the shortcut.
            depth_max = self._options.limits.depth
            read = notification_reader(SESSION_UPDATE, wanted, depth_max=depth_max)
            read_all = notifications_reader(SESSION_UPDATE, wanted, depth_max=depth_max)
            link.connection.shortcut = Shortcut(SESSION_UPDATE, read, read_all, self._update)

    # ---- requests

    def request(self, request: IncomingRequest) -> Outcome:
        """Answer a request, or return the work that answers it."""
        if self._read_update is None:
            if request.method == "initialize":
                self.link.is_echo = True
            raise RequestError.invalid_request(f"{request.method} came before initialize was done")
        if self._services is None:
            self._services = self._offered()
        service = self._services.get(request.method)
        outcome = (
            self._options.extensions.answer(request.method, request.params)
            if service is None
            else service(request)
        )
        if outcome is None:
            raise RequestError.method_missing(request.method)
        if not callable(outcome):
            return outcome
        work = outcome
        # Services and extensions may be the program's own.
        return lambda: guarded(work())

    def _offered(self) -> dict[str, Service]:
        services = self.link.services
        table: dict[str, Service] = {"session/request_permission": self._permission}
        if self.link.translation is not None:
            table.update(_detailed_requests(self.link))
        elif self.link.wire.uses_client_services:
            table.update(_v1_requests(self.link, self._options.strict))
        if services.elicitation is not None:
            table["elicitation/create"] = self._elicitation
        return table

    def _permission(self, request: IncomingRequest) -> Outcome:
        asked = self.link.wire.read_permission(request.params)
        session = self.link.session(asked.session_id)
        if asked.tool_call is not None:
            session.apply_subject(asked.tool_call)
        question = OpenRequest(session, asked, self.link.services.permissions)
        request.on_cancel = question.withdraw
        return question.answer

    def _elicitation(self, request: IncomingRequest) -> Outcome:
        asked = self.link.wire.read_elicitation(request.params)
        elicitation = self.link.services.elicitation
        assert elicitation is not None, "the method is offered only with the service"

        async def work() -> bytes:
            answer = await elicitation.create(asked)
            if answer.content is None:
                return encode({"action": answer.action})
            return encode({"action": answer.action, "content": answer.content})

        return work

    # ---- notifications

    def notification(self, method: str, params: Raw) -> None:
        """Handle a notification at once."""
        read_update = self._read_update
        if method != SESSION_UPDATE or read_update is None:
            self._other_notification(method, params)
            return
        try:
            incoming = read_update(params)
        except Invalid as error:
            self._malformed(method, error)
            return
        self._update(incoming)

    def _update(self, incoming: Incoming) -> None:
        update = incoming.update
        if type(update) in self._known_values:
            report_unknown(update, self._known_values, self.link.connection.tolerate)
        session = self._sessions.get(incoming.session_id)
        if session is not None:
            session.apply(update)
        else:
            self._without_session(incoming.session_id, update)

    def _without_session(self, session_id: str, update: object) -> None:
        """Keep updates of a session that may be opening; report those of unknown sessions."""
        link = self.link
        if not link.connection.is_calling(OPENING):
            if session_id in link.former_ids:
                log_ended_session(session_id)
                return
            if not self._is_child(session_id):
                report_unknown_session(session_id, link.connection)
        link.early.add(session_id, update)

    def _is_child(self, session_id: str) -> bool:
        """Whether this is the child of an open session; nobody shows its updates yet."""
        return any(
            child.session_id == session_id
            for session in self._sessions.values()
            for child in session.transcript.subagents
        )

    def _other_notification(self, method: str, params: Raw) -> None:
        rest = None
        try:
            if method == "elicitation/complete" and self._read_update is not None:
                elicitation = self.link.services.elicitation
                if elicitation is not None:
                    elicitation.complete(self.link.wire.read_completed(params))
            elif method == "auth/status_update" and self._read_update is not None:
                self._auth_status(params)
            else:
                rest = self._options.extensions.tell(method, params)
        except Invalid as error:
            self._malformed(method, error)
            return
        if rest is not None:
            self.link.connection.run(lambda: _finish(method, rest))

    def _auth_status(self, params: Raw) -> None:
        status = self.link.wire.read_auth_status(params)
        if status is None:
            return
        self.link.auth_status = status
        if self._options.on_auth_status is not None:
            self._options.on_auth_status(status)

    def _malformed(self, method: str, error: Invalid) -> None:
        ignored = "" if self._options.strict else ", which is ignored"
        text = f"the agent sent a malformed {method}{ignored}: {error}"
        self.link.connection.tolerate(text, logging.WARNING)

    def lost(self, error: ConnectionLost) -> None:
        """End everything that waits for the agent: the connection is lost."""
        if self.link.connection.broken is not None:
            # Perhaps nothing waits that could raise it.
            _log.error("the connection ends: %s", error.message)
        for session in tuple(self.link.sessions.values()):
            session.over()
        self.link.services.lost()


def _v1_requests(link: AgentLink[SessionCore], strict: bool) -> dict[str, Service]:
    from accord.client.wire.v1.files import offered

    return offered(link, strict)


def _detailed_requests(link: AgentLink[SessionCore]) -> dict[str, Service]:
    from accord.client.wire.draft.files import offered

    return offered(link)


async def _finish(method: str, rest: Awaitable[object]) -> None:
    try:
        await guarded(rest)
    except Exception:  # noqa: BLE001 - a mistake of the program must not end the connection
        _log.exception("handling the notification %s failed", method)
