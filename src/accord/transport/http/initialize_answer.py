"""What the answer to `initialize` says about the connection.  Pure."""

from typing import NamedTuple

from accord.transport.http.connections.exchange import Answer
from accord.transport.http.message_routes import (
    CONNECTION_HEADER,
    MessageKeys,
    read_initialize_result,
    read_keys,
)
from accord.transport.http.refusals import initialize_reason
from accord.transport.request_headers import HiddenValues, fits_header
from accord.transport.resume.extension_messages import RESUME_HEADER, RESUME_VERSION


class Connected(NamedTuple):
    """A connection that the server has made."""

    connection_id: str
    protocol_version: int | None
    # Whether the server continues the connection after an interruption.
    resumes: bool


def read_initialize_answer(
    request: MessageKeys, answer: Answer, hidden: HiddenValues
) -> Connected | str | None:
    """Return the connection; None if the body tells the caller why there is none.

    Text is the reason why the answer cannot be used at all.
    """
    keys = read_keys(answer.body)
    is_answer = keys is not None and keys.kind == "response" and keys.id == request.id
    if answer.status != 200:
        if is_answer and keys is not None and keys.is_error:
            return None
        return initialize_reason(answer, hidden)
    if not is_answer:
        return "the answer to initialize is not valid; is this the URL of an ACP server?"
    in_result, version = read_initialize_result(answer.body)
    connection_id = answer.header(CONNECTION_HEADER) or in_result
    if connection_id is None or not fits_header(connection_id):
        return (
            "the answer to initialize has no valid Acp-Connection-Id; is this the URL of an ACP"
            " server?"
        )
    resumes = answer.header(RESUME_HEADER.lower()) == RESUME_VERSION
    return Connected(connection_id, version, resumes)


__all__ = ["Connected", "read_initialize_answer"]
