"""Files and terminals that write to the audit log, and the log's entries for decisions.

Must not know where the log is.

What always holds: every read, write and command that a client serves is in the log, whether or not
somebody had to decide about it, and how it ended.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from accord.client.audit.log import AuditLog
from accord.client.permissions.request import Decided
from accord.client.permissions.rules import Rule
from accord.client.services.files import FileService
from accord.client.services.terminals import TerminalService
from accord.machine.terminals.terminals import OutputListener
from accord.transcript import ToolCall

if TYPE_CHECKING:
    from accord.machine.filesystem.encoded_files import TextPart
    from accord.machine.filesystem.local_files import Stored

T = TypeVar("T")


class AuditedFiles(FileService):
    """The files of this computer; each access is logged, never the contents."""

    def __init__(self, log: AuditLog) -> None:
        super().__init__()
        self._log = log

    async def read_text(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None
    ) -> str:
        what = {"operation": "read", "path": path, "line": line, "limit": limit}
        reading = super().read_text(session_id, path, line, limit)
        return await _told(self._log, session_id, what, reading, _size)

    async def write_text(
        self, session_id: str, path: str, content: str, *, at: str | None = None
    ) -> None:
        what = {"operation": "write", "path": path, **_size(content)}
        writing = super().write_text(session_id, path, content, at=at)
        await _told(self._log, session_id, what, writing, None)

    async def read_part(
        self, session_id: str, path: str, encoding: str, start: int | None, end: int | None
    ) -> TextPart:
        what = {"operation": "read", "path": path, "line": start, "endLine": end}
        reading = super().read_part(session_id, path, encoding, start, end)
        return await _told(self._log, session_id, what, reading, lambda part: _size(part.text))

    async def write_encoded(
        self,
        session_id: str,
        path: str,
        content: str,
        encoding: str,
        *,
        at: str | None = None,
        create_directories: bool = True,
        overwrite: bool = True,
    ) -> Stored:
        what = {"operation": "write", "path": path, **_size(content)}
        writing = super().write_encoded(
            session_id,
            path,
            content,
            encoding,
            at=at,
            create_directories=create_directories,
            overwrite=overwrite,
        )
        return await _told(self._log, session_id, what, writing, None)


class AuditedTerminals(TerminalService):
    """Commands on this computer; each start is logged, with the names of its variables."""

    def __init__(self, log: AuditLog) -> None:
        super().__init__()
        self._log = log

    async def create(
        self,
        session_id: str,
        command: str,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        output_byte_limit: int | None = None,
        on_output: OutputListener | None = None,
        on_stderr: OutputListener | None = None,
    ) -> str:
        what = {
            "operation": "run",
            "command": " ".join((command, *args)),
            "cwd": cwd,
            "variables": sorted(env) if env else None,
        }
        starting = super().create(
            session_id,
            command,
            args,
            env=env,
            cwd=cwd,
            output_byte_limit=output_byte_limit,
            on_output=on_output,
            on_stderr=on_stderr,
        )
        return await _told(self._log, session_id, what, starting, None)


def record_decision(log: AuditLog, decided: Decided, agent: str | None) -> None:
    """Write a decision to the log."""
    request = decided.request
    log.record(
        "decision",
        agent=agent or None,
        session=request.session_id,
        outcome="allowed" if decided.allowed else "cancelled" if decided.cancelled else "denied",
        by=decided.by,
        rule=None if decided.rule is None else shown_rule(decided.rule),
        why=decided.why,
        scope=decided.scope,
        origin=request.origin,
        kind=request.kind,
        title=request.title,
        paths=request.paths or None,
        command=request.command,
        mcpTool=request.mcp_tool,
        hosts=request.hosts or None,
        toolCall=None if request.tool_call is None else request.tool_call.tool_call_id,
    )


def record_tool_call(log: AuditLog, session_id: str, call: ToolCall) -> None:
    """Write a tool call to the log that the agent reports as done on its own."""
    log.record(
        "tool_call",
        session=session_id,
        toolCall=call.tool_call_id,
        kind=call.kind,
        title=call.title,
        status=call.status,
        paths=[place.path for place in call.locations] or None,
    )


def shown_rule(rule: Rule) -> str:
    """A rule on one line: its effect, then its subject."""
    given = [
        f"{field.name}={getattr(rule, field.name)}"
        for field in fields(rule)
        if field.name not in ("effect", "exact") and getattr(rule, field.name) is not None
    ]
    return " ".join((rule.effect, *given, *(["exactly"] if rule.exact else [])))


def why_denied(decided: Decided) -> str:
    """The reason of a refusal, for the user."""
    asks = decided.rule is not None and decided.rule.effect == "ask"
    by = {
        "user": "you said no",
        "rule": "one of your rules says no",
        "remembered": "you said no before, and that is remembered",
        "default": "a rule asks, and nobody could answer" if asks else "nothing allows it",
        "cancelled": "the question was cancelled",
    }.get(decided.by, "it was not allowed")
    if decided.rule is None:
        return by
    said = f"{by}: {shown_rule(decided.rule)}"
    return said if decided.why is None else f"{said}; {decided.why}"


async def _told(
    log: AuditLog,
    session_id: str,
    what: Mapping[str, Any],
    work: Awaitable[T],
    measure: Callable[[T], Mapping[str, Any]] | None,
) -> T:
    try:
        done = await work
    except Exception as error:
        log.record("operation", session=session_id, **what, outcome="failed", reason=str(error))
        raise
    more = {} if measure is None else measure(done)
    log.record("operation", session=session_id, **what, **more, outcome="done")
    return done


def _size(text: str) -> dict[str, int]:
    return {"characters": len(text)}
