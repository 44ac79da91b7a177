"""Runs a tool as a tool call: announces it, asks for permission, reports failures as sentences.

It must not know what the tools do.

What always holds
    * Failures that a person can cause (files, commands, servers, refusals) never leave a tool as
      exceptions; our own bugs do, and so does a lost client.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from accord.agent.session.agent_session import session_state
from accord.agent.tools.always_answers import Act, decided
from accord.agent.tools.tool_call import ToolCallControl, ToolCallHandle
from accord.builtin.modes import decision, refusal
from accord.builtin.tools.tool_result import REFUSALS, Denial, ToolResult, failed
from accord.errors import AccordError, ConnectionLost, LocalProtocolError, RequestFailed
from accord.machine.errors import (
    AccessDenied,
    AlreadyThere,
    FileFailure,
    FileMissing,
    NotAFile,
    OutsideRoots,
    TooLarge,
)
from accord.schema.struct import UNSET

if TYPE_CHECKING:
    from accord.agent.tools.permission_request import PermissionOption
    from accord.builtin.tools.tool_context import ToolContext

Work = Callable[[ToolCallHandle], Awaitable[ToolResult]]


class ToolFailed(Exception):
    """Ends a tool with a sentence; never leaves `shown`."""

    def __init__(self, text: str, *, denied: Denial | None = None, data: object = None) -> None:
        super().__init__(text)
        self.text = text
        self.denied: Denial | None = denied
        self.data = data


async def shown(call: ToolCallHandle, work: Work) -> ToolResult:
    """Run the work within the call, and end the call with its result unless the work did."""
    result = failed(REFUSALS["stopped"][0], denied="stopped")
    async with call:
        try:
            result = await work(call)
        except (ConnectionLost, LocalProtocolError):
            raise
        except ToolFailed as stop:
            result = failed(stop.text, stop.data, denied=stop.denied)
        except (AccordError, OSError) as error:
            result = failed(sentence(error))
        if not call.is_final:
            if result.ok:
                await call.start()
                await call.complete(raw_output=_raw(result))
            else:
                await call.fail(_told(result))
    return result


def _told(result: ToolResult) -> str | None:
    """The text that the tool call shows for a failure; None for what the user refused just now."""
    if result.denied is None or result.denied not in REFUSALS:
        return result.text
    if result.denied == "user":
        return None
    said = REFUSALS[result.denied][1]
    return f"{said[0].upper()}{said[1:]}."


def _raw(result: ToolResult) -> object:
    return result.data if isinstance(result.data, dict) else UNSET


def sentence(error: Exception) -> str:
    """An error as a sentence for a person."""
    match error:
        case FileNotFoundError():
            return f"There is no file {error.filename or error}."
        case FileMissing():
            return f"There is no file {error.path}."
        case OutsideRoots():
            return (
                f"{error.path} is outside the session's folders, directly or through a link."
                " Files outside are not read or changed."
            )
        case NotAFile():
            return f"{error.path} cannot be used as a file: it {_is(error.reason)}."
        case AccessDenied():
            return f"Access to {error.path} is denied: {error.reason}."
        case AlreadyThere():
            return f"{error.path} already exists, and nothing is overwritten."
        case TooLarge():
            return f"{error.path} is too large: more than {size_words(error.bytes_max)}."
        case FileFailure():
            return f"{error.path}: {error.reason}."
        case RequestFailed():
            return f"The client could not do it: {error.message} ({error.code})."
        case _:
            return f"{error}" if str(error) else type(error).__name__


def _is(reason: str) -> str:
    return reason if reason.startswith("is ") else f"is {reason}"


def size_words(count: int) -> str:
    """Format a number of bytes for a person."""
    size = float(count)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def counted(count: int, noun: str) -> str:
    """Format a number with its noun, such as "2 files"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _denial(by: str | None) -> Denial:
    found: Denial = "unknown"
    for one in REFUSALS:
        if one == by:
            found = one
    return found


async def permit(
    context: ToolContext,
    call: ToolCallHandle,
    kind: str,
    doing: str,
    reason: str | None,
    act: Act,
    *,
    options: Sequence[PermissionOption] | None = None,
    **command: Any,
) -> PermissionOption | None:
    """Require permission: by the mode, by an earlier lasting answer, or from the user now.

    A lasting answer covers the act.  An auto-executed file needs the permission of a command.

    Returns the option that the user chose; None if no question was needed.

    Raises:
        ToolFailed: it was refused; `denied` says by whom.
    """
    auto = context.turn.options.get("auto_approve") is True
    asked = "execute" if act.is_executed else kind
    verdict = decision(context.mode, asked, auto_approve=auto)
    if verdict == "refuse":
        raise ToolFailed(refusal(context.mode, doing), denied="mode")
    if verdict == "allow":
        return None
    answer = decided(session_state(context.turn.session), act)
    chosen: PermissionOption | None = None
    denied: Denial = "session"
    if answer is None:
        chosen = await ToolCallControl(call).choose_for(act, reason, options=options, **command)
        denied = _denial(call.refused_by)
        answer = chosen is not None and chosen.allows
    if not answer:
        raise ToolFailed(f"{REFUSALS[denied][0]} {doing} did not happen.", denied=denied)
    return chosen
