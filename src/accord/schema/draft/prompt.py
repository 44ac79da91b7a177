"""One prompt of the 2026-02 draft and how it ends."""

from typing import Literal, TypeAlias

from accord.schema.draft.content import Attachment, ContentBlock
from accord.schema.struct import UNSET, Omit, Uint64, WireStruct, Z

StopReason: TypeAlias = Literal["end_turn", "cancelled", "max_tokens", "error"] | str


class Usage(WireStruct, frozen=True, kw_only=True):
    """Tokens that the turn cost."""

    input_tokens: Uint64
    output_tokens: Uint64


class PromptRequest(WireStruct, frozen=True, kw_only=True):
    """A prompt of the user."""

    session_id: str
    content: list[ContentBlock]
    attachments: Z[Omit[list[Attachment]]] = UNSET


class PromptResponse(WireStruct, frozen=True, kw_only=True):
    """The end of the turn.  A failure after the turn began is the stop reason `error`."""

    stop_reason: StopReason
    usage: Z[Omit[Usage]] = UNSET
