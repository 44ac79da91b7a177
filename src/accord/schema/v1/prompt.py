"""`session/prompt`: one turn from the user's words to the stop reason."""

from typing import Literal, TypeAlias

from accord.schema.struct import (
    UNSET,
    E,
    Patch,
    U,
    Uint64,
    UnstableStruct,
    WireStruct,
    check_uint64,
)
from accord.schema.v1.content import ContentBlock

StopReason: TypeAlias = (
    Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"] | str
)


class Usage(UnstableStruct, frozen=True, kw_only=True):
    """Tokens that were used."""

    total_tokens: Uint64
    input_tokens: Uint64
    output_tokens: Uint64
    thought_tokens: E[Patch[Uint64]] = UNSET
    cached_read_tokens: E[Patch[Uint64]] = UNSET
    cached_write_tokens: E[Patch[Uint64]] = UNSET

    def __post_init__(self) -> None:
        check_uint64(
            self.total_tokens,
            self.input_tokens,
            self.output_tokens,
            self.thought_tokens,
            self.cached_read_tokens,
            self.cached_write_tokens,
        )


class PromptRequest(WireStruct, frozen=True, kw_only=True):
    """A prompt of the user."""

    session_id: str
    prompt: list[ContentBlock]


class PromptResponse(WireStruct, frozen=True, kw_only=True):
    """The turn is over."""

    stop_reason: StopReason
    usage: U[E[Patch[Usage]]] = UNSET
