"""What a session is doing in the foreground, and what goes on behind it.

The protocol tags a state by `state` and, inside `idle`, by `stopReason`.  Nothing is gained by a
struct per combination: all fields are optional and tolerant, so one flat struct holds them all,
and a state or reason that we do not know is simply another string.
"""

from typing import TYPE_CHECKING, Literal, TypeAlias

from accord.schema.struct import (
    UNSET,
    E,
    Patch,
    U,
    Uint64,
    UnknownVariant,
    UnstableStruct,
    WireStruct,
    check_uint64,
)
from accord.schema.v2.errors import Error
from accord.schema.v2.identifiers import SessionId, TerminalId, ToolCallId

# `unknown` is unstable; any state that is not on the list counts as busy.
StateKind: TypeAlias = Literal["running", "idle", "requires_action", "unknown"] | str
StopReason: TypeAlias = (
    Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"] | str
)


class Usage(UnstableStruct, frozen=True, kw_only=True):
    """Tokens that the work which just ended has cost."""

    total_tokens: Uint64
    input_tokens: Uint64
    output_tokens: Uint64
    thought_tokens: E[Patch[Uint64]] = UNSET
    cached_read_tokens: E[Patch[Uint64]] = UNSET
    cached_write_tokens: E[Patch[Uint64]] = UNSET

    def __post_init__(self) -> None:
        check_uint64(self.total_tokens, self.input_tokens, self.output_tokens)
        check_uint64(self.thought_tokens, self.cached_read_tokens, self.cached_write_tokens)


class BackgroundTerminal(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="terminal"):
    """A terminal whose process is running; that process is not listed as anything else."""

    terminal_id: TerminalId


class BackgroundToolCall(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="tool_call"):
    """A tool call that has no final status yet."""

    tool_call_id: ToolCallId


class BackgroundSubagent(
    UnstableStruct, frozen=True, kw_only=True, tag_field="type", tag="subagent"
):
    """A child session in which anything is running."""

    session_id: SessionId


if TYPE_CHECKING:
    BackgroundWork: TypeAlias = (
        BackgroundTerminal | BackgroundToolCall | BackgroundSubagent | UnknownVariant
    )
else:
    BackgroundWork = BackgroundTerminal | BackgroundToolCall | BackgroundSubagent


class StateSnapshot(WireStruct, frozen=True, kw_only=True):
    """The whole foreground state at one moment, as a plain object.

    `stop_reason`, `error` and `usage` belong to `idle`, `error` to the stop reason `error`.
    `background` is the complete list of what runs; absent, null and malformed are "not reported",
    which is not the same as `[]`.
    """

    state: StateKind
    stop_reason: E[Patch[StopReason]] = UNSET
    error: E[Patch[Error]] = UNSET
    usage: U[E[Patch[Usage]]] = UNSET
    background: E[Patch[list[BackgroundWork]]] = UNSET


class StateUpdate(
    StateSnapshot, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="state_update"
):
    """The snapshot as an update of the session; a repetition changes nothing."""
