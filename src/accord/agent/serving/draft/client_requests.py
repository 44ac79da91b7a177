"""What an agent asks of a client of the 2026-02 draft: permission, files, terminals.

The draft's user says yes or no to an operation on a resource, and for how long: this once, this
session, this workspace, always.

What always holds
    * Only `granted: true` is consent, and only to an option that was offered.
    * A client that can show no dialog is not asked: nobody agreed, so the answer is no.
    * A grant never leaves its connection: another client has another user.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from accord.agent.serving.draft import files as draft_files
from accord.agent.serving.draft.terminals import ClientTerminals
from accord.agent.serving.draft.tool_calls import DraftCalls
from accord.agent.serving.wire import FileDetails
from accord.agent.session.state import REQUEST_PERMISSION, SessionState
from accord.agent.tools.permission_options import PermissionAsk, PermissionOption
from accord.errors import RequestCancelled, RequestFailed
from accord.schema import draft
from accord.schema.codec import Invalid, decode, encode, to_python
from accord.schema.struct import UNSET, Raw
from accord.translate.draft.vocabulary import FILE_OPERATIONS, choose_option, operation_of_kind

if TYPE_CHECKING:
    from accord.agent.session.turn_state import TurnState
    from accord.agent.terminals.commands import Done, Job
    from accord.agent.tools.tool_call import ToolCallHandle
    from accord.connection import Connection

Tell = Callable[[SessionState, Sequence[Any]], None]

_NO = draft.RequestPermissionResponse(granted=False)
# Where an operation names what it works on, the most telling first.
_RESOURCES = ("resource", "command", "url", "path", "uri")


class DraftWays:
    """How one client of the draft is asked; see `wire.Ways`."""

    def __init__(
        self,
        connection: Connection,
        calls: DraftCalls,
        terminals: ClientTerminals,
        *,
        has_dialogs: bool,
        tell: Tell,
    ) -> None:
        self._connection = connection
        self._calls = calls
        self._terminals = terminals
        self._has_dialogs = has_dialogs
        self._tell = tell
        self.grants = Grants()

    # ---- permission

    async def ask_permission(
        self, session: SessionState, ask: PermissionAsk
    ) -> PermissionOption | None:
        """Ask the user, and read the answer as one of the options."""
        call_id = ask.tool_call.tool_call_id
        self._tell(session, self._calls.asking(session.id, call_id))
        answer = await self._put(session, ask) if self._has_dialogs else _NO
        scope = answer.scope if isinstance(answer.scope, str) else None
        remember = answer.remember is True
        offered = [(one.option_id, one.kind) for one in ask.options]
        chosen_id = choose_option(answer.granted, scope, remember, offered)
        chosen = next((one for one in ask.options if one.option_id == chosen_id), None)
        if chosen is None or not chosen.allows:
            self._calls.refused(session.id, call_id)
        self.grants.answered(session, scope)
        return chosen

    async def _put(
        self, session: SessionState, ask: PermissionAsk
    ) -> draft.RequestPermissionResponse:
        try:
            with session.asking():
                result = await self._connection.call(
                    REQUEST_PERMISSION, encode(permission_request(session.id, ask))
                )
            return decode(draft.RequestPermissionResponse, result)
        except (RequestCancelled, Invalid):
            return _NO
        except RequestFailed as error:
            if error.reason != "permission_denied":
                raise
            return _NO

    def remembered(self, session: SessionState, keys: Sequence[str], allowed: bool) -> None:
        """See `wire.Ways.remembered`."""
        self.grants.remembered(session, keys, allowed)

    # ---- files and terminals

    async def read_text(
        self,
        session: SessionState,
        path: str,
        line: int | None,
        limit: int | None,
        details: FileDetails,
    ) -> str:
        """See `draft_files.read_text`."""
        return await draft_files.read_text(self._connection, path, line, limit, details)

    async def write_text(
        self, session: SessionState, path: str, text: str, details: FileDetails
    ) -> bool:
        """See `draft_files.write_text`."""
        return await draft_files.write_text(self._connection, path, text, details)

    async def run(self, turn: TurnState, call: ToolCallHandle, job: Job) -> Done:
        """See `draft_terminals.ClientTerminals.run`."""
        return await self._terminals.run(turn, call, job)


class Grants:
    """What the user allowed or forbade for longer than a session, on one connection."""

    def __init__(self) -> None:
        # Sessions that are served now, and the scope of the answer that each got last.
        self._sessions: dict[SessionState, str | None] = {}
        self._always: dict[str, bool] = {}
        self._workspaces: dict[str, dict[str, bool]] = {}

    def join(self, session: SessionState) -> bool:
        """A session begins: what was decided for its workspace, or for ever, holds in it.

        False when it was here already.
        """
        if session in self._sessions:
            return False
        self._sessions[session] = None
        session.adopt(self._always | self._workspaces.get(session.record.cwd, {}))
        return True

    def leave(self, session: SessionState) -> None:
        """A session is over."""
        self._sessions.pop(session, None)

    def answered(self, session: SessionState, scope: str | None) -> None:
        """The user has answered; whether that is to be remembered comes next, if at all."""
        if session in self._sessions:
            self._sessions[session] = scope

    def remembered(self, session: SessionState, keys: Sequence[str], allowed: bool) -> None:
        """The answer is kept; one for the workspace or for good counts in other sessions too."""
        scope = self._sessions.get(session)
        if scope not in ("workspace", "always"):
            return
        self._sessions[session] = None
        cwd = session.record.cwd
        answers = dict.fromkeys(keys, allowed)
        kept = self._always if scope == "always" else self._workspaces.setdefault(cwd, {})
        kept.update(answers)
        for other in self._sessions:
            if other is not session and (scope == "always" or other.record.cwd == cwd):
                other.adopt(answers)


def permission_request(session_id: str, ask: PermissionAsk) -> draft.RequestPermissionRequest:
    """The question in the draft's words; it always says why."""
    kind = ask.tool_call.kind if isinstance(ask.tool_call.kind, str) else "other"
    operation = operation_of_kind(kind)
    return draft.RequestPermissionRequest(
        session_id=session_id,
        operation=operation,
        resource=_resource(operation, ask),
        reason=_reason(ask) or UNSET,
        tool_call_id=ask.tool_call.tool_call_id,
    )


def _reason(ask: PermissionAsk) -> str:
    """Why, and what a lasting answer covers: the draft's scopes say only for how long."""
    why = ask.reason or ask.title
    return (
        why if ask.covers is None else f"{why}\nIf it is remembered, it covers only {ask.covers}."
    )


def _resource(operation: str, ask: PermissionAsk) -> str:
    places = ask.tool_call.locations
    if operation in FILE_OPERATIONS and isinstance(places, list) and places:
        path: str = places[0].path
        return path
    if operation == "terminal_execute" and ask.command is not None:
        return ask.command
    raw = ask.tool_call.raw_input
    given = to_python(raw) if isinstance(raw, Raw) else None
    members: dict[str, Any] = given if isinstance(given, dict) else {}
    for name in _RESOURCES:
        if isinstance(members.get(name), str):
            return str(members[name])
    return ask.title


__all__ = ["DraftWays", "Grants", "permission_request"]
