"""`session/prompt`: hand the agent a message of the user."""

from accord.schema.struct import UNSET, E, NonEmpty, Omit, Patch, WireStruct
from accord.schema.v2.content import ContentBlock
from accord.schema.v2.identifiers import MessageId, SessionId
from accord.schema.v2.state import StopReason


class PromptRequest(WireStruct, frozen=True, kw_only=True):
    """The user's message: at least one block."""

    session_id: SessionId
    prompt: NonEmpty[ContentBlock]


class PromptResponse(WireStruct, frozen=True, kw_only=True):
    """The message is part of the conversation now, under this id; the state is reported separately.

    Who answers must give `message_id`.  It may be missing only on input: peers of August 2026
    answer `{}`, and the first drafts of v2 answered when the work had ended, with `stopReason`,
    which nobody sends any more.
    """

    message_id: Omit[MessageId] = UNSET
    stop_reason: E[Patch[StopReason]] = UNSET
