"""Runs a tool as a tool call: announces it, asks for permission, makes its result a sentence.

A result is limited to a length that a model can read; a failure or a refusal becomes one, too.

It must not know what the tools do.

What always holds
    * Failures that a person can cause (files, commands, servers, refusals) never leave a tool as
      exceptions; our own bugs do, and so does a lost client.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from accord.agent.session.agent_session import session_state
from accord.agent.tools.always_answers import Act, decided
from accord.agent.tools.tool_call import ToolCallControl, ToolCallHandle
from accord.builtin.modes import decision, refusal
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
from accord.machine.redaction.redactor import Redactor
from accord.schema.struct import UNSET

if TYPE_CHECKING:
    from accord.agent.tools.permission_request import PermissionOption
    from accord.agent.turn import Turn
    from accord.builtin.workspace import Workspace


class ToolContext:
    """What every tool of one turn is given.  `mode` overrides the session's mode."""

    def __init__(self, turn: Turn, workspace: Workspace, mode: str | None = None) -> None:
        self.turn = turn
        self.workspace = workspace
        self._mode = mode
        # Files must stay unchanged, so only known values are redacted.
        self.redactor = Redactor.of_environment(*workspace.settings.secrets).by_value

    @property
    def mode(self) -> str | None:
        """The mode that decides which actions need permission."""
        return self._mode or self.turn.mode


RESULT_CHARACTERS_MAX = 50_000
"""The longest text that a tool returns; what is beyond is left out, and the text says so."""

Denial = Literal[
    "user", "session", "remembered", "rule", "default", "cancelled", "unknown", "stopped", "mode"
]
"""The cause of a refusal: the user now, for this session, or earlier; a rule; no answer was
possible; the question was withdrawn; the client does not say; the user stopped it; the mode."""

BY_USER = frozenset({"user", "session"})
"""Refusals that come from the user at this moment."""

REFUSALS: dict[Denial, tuple[str, str]] = {
    "user": ("The user said no.", "you said no"),
    "session": ("The user rejected this for the session.", "you said no for this session"),
    "remembered": (
        "The user said no before, and that answer is remembered.",
        "you said no before, and that is remembered",
    ),
    "rule": ("A rule does not allow this.", "a rule does not allow it"),
    "default": (
        "Nothing allows this, and nobody could be asked.",
        "nothing allows it, and nobody could be asked",
    ),
    "cancelled": ("The question was cancelled.", "the question was cancelled"),
    "unknown": ("This was not allowed.", "it was not allowed"),
    "stopped": ("It was stopped by the user.", "it was stopped"),
}
"""Each refusal as a sentence for the model and the tool call, and as the end of a sentence for the
user.  The mode has a sentence of its own."""


@dataclass(frozen=True)
class ToolResult:
    """Outcome of a tool.  `text` is for a model or a person, `data` for a program."""

    ok: bool
    text: str
    data: object = None
    # What refused it, where it was refused and did not fail.
    denied: Denial | None = None
    # The notes in `text` about what was left out, for callers that write their own text.
    notes: tuple[str, ...] = ()


def capped(text: str, characters_max: int = RESULT_CHARACTERS_MAX) -> str:
    """The text within the bound: its beginning and its end, and between them what is missing."""
    if len(text) <= characters_max:
        return text
    left_out = len(text) - characters_max
    note = f"\n[… {left_out:,} characters left out …]\n"
    head = characters_max * 2 // 3
    return text[:head] + note + text[len(text) - (characters_max - head) :]


def ended(text: str) -> str:
    """The text with a full stop unless it already ends a sentence."""
    text = text.rstrip()
    return text if text.endswith((".", "!", "?", "…", ".)", "?)")) else f"{text}."


def done(text: str, data: object = None, notes: Sequence[str] = ()) -> ToolResult:
    """A result of a tool that succeeded."""
    return ToolResult(True, capped(text), data, notes=tuple(notes))


def failed(text: str, data: object = None, *, denied: Denial | None = None) -> ToolResult:
    """A result of a tool that failed; the text says why."""
    return ToolResult(False, capped(text), data, denied)


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
