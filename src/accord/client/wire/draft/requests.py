"""What agents of the 2026-02 draft ask of a client: which of it is served, and for which session.

Requests about files and terminals name no session there.

Must not know: how files, terminals and permissions work.

What always holds
    * A request in the form of another version of the protocol is refused, -32602.
    * A method whose capability we did not offer is refused as such.
    * Where it is not clear whose a request is, it is refused; nobody's rights are lent to another.
"""

from accord.client.connection.agent_connection import AgentLink
from accord.client.services.requests import Outcome, Service
from accord.client.session.state import SessionCore
from accord.client.wire.draft.owners import Owners
from accord.client.wire.draft.permission_requests import DraftOpenRequest
from accord.connection.connection import IncomingRequest
from accord.errors import RequestError
from accord.jsonrpc.error_codes import METHOD_NOT_FOUND
from accord.schema import draft
from accord.schema.codec import Invalid, decode, to_python

# Members that say the same in official words: who sends them speaks another dialect, or mixes two.
FOREIGN: dict[str, frozenset[str]] = {
    "session/request_permission": frozenset({"options", "toolCall", "subject"}),
    "fs/read_text_file": frozenset({"sessionId", "line", "limit"}),
    "fs/write_text_file": frozenset({"sessionId"}),
    "terminal/create": frozenset({"sessionId", "outputByteLimit"}),
    "terminal/wait_for_exit": frozenset({"sessionId"}),
    "terminal/kill": frozenset({"sessionId"}),
    "terminal/release": frozenset({"sessionId"}),
}


def offered(link: AgentLink[SessionCore], strict: bool) -> dict[str, Service]:
    """The methods that are served."""
    owners = Owners(link)
    table: dict[str, Service] = {
        "session/request_permission": Permitting(link, strict).ask,
        "terminal/output": _polled,
    }
    services = link.services
    if services.files is not None:
        from accord.client.wire.draft.files import FileRequests

        files = FileRequests(services, owners, strict)
        if hasattr(services.files, "read_text"):
            table["fs/read_text_file"] = files.read
        if hasattr(services.files, "write_text"):
            table["fs/write_text_file"] = files.write
    if services.terminals is not None:
        from accord.client.wire.draft.terminals import TerminalRequests

        terminals = TerminalRequests(services, owners, strict)
        table["terminal/create"] = terminals.create
        table["terminal/wait_for_exit"] = terminals.wait_for_exit
        table["terminal/kill"] = terminals.kill
        table["terminal/release"] = terminals.release
    for method in FOREIGN:
        table[method] = _in_own_words(table.get(method, _not_offered))
    return table


def _in_own_words(service: Service) -> Service:
    def serve(request: IncomingRequest) -> Outcome:
        _check_dialect(request)
        return service(request)

    return serve


def _check_dialect(request: IncomingRequest) -> None:
    try:
        members = to_python(request.params)
    except Invalid:
        # Whoever reads it says what is wrong with it.
        return
    if isinstance(members, dict):
        foreign = sorted(FOREIGN[request.method] & members.keys())
        if foreign:
            raise RequestError.invalid_params(
                f"{', '.join(foreign)}: the 2026-02 draft is spoken here, which has no such member",
                f"$.{foreign[0]}",
            )


def _not_offered(request: IncomingRequest) -> Outcome:
    raise RequestError(
        METHOD_NOT_FOUND,
        f"{request.method} was not offered by this client",
        {"method": request.method, "reason": "capability_not_supported"},
    )


def _polled(request: IncomingRequest) -> Outcome:
    raise RequestError.invalid_params(
        "terminal/output: the 2026-02 draft is spoken here, in which output is sent to the agent"
    )


class Permitting:
    def __init__(self, link: AgentLink[SessionCore], strict: bool) -> None:
        self._link = link
        self._strict = strict

    def ask(self, request: IncomingRequest) -> Outcome:
        asked = decode(draft.RequestPermissionRequest, request.params, strict=self._strict)
        session = self._link.sessions.get(asked.session_id)
        if session is None:
            raise RequestError.session_missing(asked.session_id)
        question = DraftOpenRequest(session, asked, self._link.services.permissions)
        request.on_cancel = question.withdraw
        return question.answer


__all__ = ["FOREIGN", "offered"]
