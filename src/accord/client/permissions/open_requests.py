"""An open permission request of the agent, from its arrival to its answer.

An option that was not offered, an error of the permissions and a withdrawn request are never
approvals: they are answered `cancelled`.
"""

import posixpath
from typing import Any

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from accord.client.permissions.path_and_host_patterns import host_of
from accord.client.permissions.request import (
    CANCELLED,
    Decision,
    PermissionOption,
    PermissionRequest,
)
from accord.client.permissions.tool_call_input import (
    input_command,
    input_folder,
    input_paths,
    is_given_more,
)
from accord.client.session.state import SessionCore
from accord.client.wire.wire_interface import PermissionAsked
from accord.protocol.extensions import DECIDED_BY
from accord.schema.codec import Invalid, encode, to_python
from accord.transcript import ToolCall


class OpenRequest:
    """One open request.  Guards: it is answered once, and `withdraw` answers it `cancelled`."""

    def __init__(self, session: SessionCore, asked: PermissionAsked, permissions: Any) -> None:
        ids = (asked.tool_call_id, asked.terminal_id)
        # The ids of its tool call and terminal, to be compared with background work.
        self.subjects = frozenset(found for found in ids if found is not None)
        self._session = session
        self._asked = asked
        self._permissions = permissions
        self._scope = anyio.CancelScope()
        # What refused the request, once it is refused.
        self._refused_by: str | None = None
        # Added at once, so that a cancel finds it before anybody is asked.
        session.question_came(self)

    def withdraw(self) -> None:
        """Answer `cancelled`, whatever is decided."""
        self._scope.cancel()

    async def answer(self) -> bytes:
        """Ask, and return the encoded result."""
        try:
            with self._scope:
                # A turn that is cancelled already needs no decision.
                await checkpoint_if_cancelled()
                decision = await self._decide()
                # A decision that never waited may not have noticed the withdrawal.
                if not self._scope.cancel_called:
                    return self.encoded(decision)
            self._refused_by = None
            return self.encoded(CANCELLED)
        finally:
            self._session.questions.discard(self)

    async def _decide(self) -> Decision:
        request = self.described()
        decision: Decision = await self._permissions.decide(request)
        option = next((one for one in request.options if one.option_id == decision.option_id), None)
        self._refused_by = None if option is not None and option.allows else decision.by
        return decision if option is not None else CANCELLED

    def described(self) -> PermissionRequest:
        """The request as a version-neutral value."""
        return describe(self._session, self._asked)

    def encoded(self, decision: Decision) -> bytes:
        """The encoded result: the chosen option or `cancelled`, and what refused it."""
        chosen: dict[str, Any] = {"outcome": "cancelled"}
        if decision.option_id is not None:
            chosen = {"outcome": "selected", "optionId": decision.option_id}
        answer: dict[str, Any] = {"outcome": chosen}
        if self._refused_by is not None:
            answer["_meta"] = {DECIDED_BY: self._refused_by}
        return encode(answer)


def describe(session: SessionCore, asked: PermissionAsked) -> PermissionRequest:
    """The request as a version-neutral value."""
    call = session.transcript.tool_call(asked.tool_call_id) if asked.tool_call_id else None
    given = _raw_input(call)
    kind = "other" if call is None else call.kind
    command = asked.command or input_command(given, kind)
    if command is not None:
        # A call with a command executes it, whatever kind it claims; some agents send no kind.
        kind = "execute"
    title = asked.title or (call.title if call is not None else "") or "Permission requested"
    return PermissionRequest(
        session_id=session.id,
        title=title,
        reason=asked.reason,
        options=tuple(PermissionOption(*option) for option in asked.options),
        # A snapshot: the answer is about what is shown now.
        tool_call=None if call is None else call.snapshot(),
        kind=kind,
        paths=_paths(call, given, session.cwd),
        command=command,
        cwd=asked.cwd or _folder({} if command is None else given, session.cwd),
        mcp_tool=_mcp_tool(call, given),
        hosts=_hosts(given),
        origin="agent",
        is_given_more=command is not None and is_given_more(given),
    )


def _raw_input(call: ToolCall | None) -> dict[str, Any]:
    if call is None or call.raw_input is None:
        return {}
    try:
        given = to_python(call.raw_input)
    except Invalid:
        return {}
    return given if isinstance(given, dict) else {"input": given}


def _paths(call: ToolCall | None, given: dict[str, Any], cwd: str) -> tuple[str, ...]:
    """The files of the call; for changes, also those that its input names."""
    if call is None:
        return ()
    found: dict[str, None] = {}
    for diff in call.diffs:
        found[diff.path] = None
        if diff.old_path is not None:
            found[diff.old_path] = None
    for location in call.locations:
        found[location.path] = None
    known = {posixpath.normpath(posixpath.join(cwd, path)) for path in found}
    for path in input_paths(given, "edit" if call.diffs and call.kind != "move" else call.kind):
        if posixpath.normpath(posixpath.join(cwd, path)) not in known:
            found[path] = None
    return tuple(found)


def _folder(given: dict[str, Any], cwd: str) -> str:
    """The folder that the command would run in."""
    folder = input_folder(given)
    return cwd if folder is None else posixpath.join(cwd, folder)


def _hosts(given: dict[str, Any]) -> tuple[str, ...]:
    """The host of the URL; an unreadable URL is kept as a host that no rule matches."""
    url = given.get("url")
    if not isinstance(url, str):
        return ()
    return (host_of(url) or url,)


def _mcp_tool(call: ToolCall | None, given: dict[str, Any]) -> str | None:
    """The tool of an MCP server that would be called, as `server/tool`.

    Agents name such calls `mcp__server__tool`; v1 has no names, and the input has both parts.
    """
    if call is None:
        return None
    if call.name is not None and call.name.startswith("mcp__"):
        server, _, tool = call.name[len("mcp__") :].partition("__")
        return f"{server}/{tool}" if tool else None
    named = (given.get("server"), given.get("tool"))
    return "/".join(map(str, named)) if all(isinstance(one, str) and one for one in named) else None
