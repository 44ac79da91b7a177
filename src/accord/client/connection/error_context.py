"""What an agent said about an error that it answered with: as its last message, or on stderr.

Agents keep their tracebacks to themselves: the peer gets a generic text and an id, and stderr
gets the rest.  Where the process is ours, both can be brought together.  Others tell the cause in
their last message and nothing of it on stderr, whose last lines are then about something else.

What always holds: it is bounded, in what is shown and in how long it takes.
"""

import anyio

from accord.client.session.transcript_span import TranscriptSpan
from accord.errors import RequestFailed
from accord.jsonrpc.error_codes import INTERNAL_ERROR
from accord.transcript import Message, Transcript

# How long stderr may lag behind the answer, and how often it is looked at meanwhile.
LAG_SECONDS_MAX = 0.5
LOOK_SECONDS = 0.01
LINES_MAX = 30
CHARACTERS_MAX = 4000
# How our own agents begin a report; the next one ends the one before.
_REPORT = "accord: error "


async def add_last_words(error: Exception, transport: object) -> None:
    """Put into an internal error what the agent's process said about it, if it is ours."""
    if not isinstance(error, RequestFailed) or error.code != INTERNAL_ERROR or error.stderr:
        return
    if not isinstance(getattr(transport, "stderr_tail", None), str):
        return
    wanted = error.correlation_id
    if wanted is None and error.said:
        return
    text = _tail(transport) if wanted is None else await _report(transport, wanted)
    error.stderr = bounded(text)


def add_last_message(error: Exception, transcript: Transcript, span: TranscriptSpan) -> None:
    """Put into an internal error what the agent said last in the turn, if it ended with that."""
    if not isinstance(error, RequestFailed) or error.code != INTERNAL_ERROR:
        return
    last = transcript.timeline[-1] if transcript.timeline else None
    if not isinstance(last, Message) or last.role != "agent" or last not in span.messages:
        return
    if error.message not in last.text:
        error.said = bounded(last.text)


def _tail(transport: object) -> str:
    text: str = getattr(transport, "stderr_tail", "")
    return text


async def _report(transport: object, correlation_id: str) -> str:
    """The lines from the one that names the id on, as soon as all of them seem to be there."""
    found, seen = "", None
    with anyio.move_on_after(LAG_SECONDS_MAX):
        while not found or found != seen:
            seen = found
            await anyio.sleep(LOOK_SECONDS)
            found = about(_tail(transport), correlation_id)
    return found


def about(text: str, correlation_id: str) -> str:
    """The lines about one error: from its id to the next report, or to the end."""
    lines = text.splitlines()
    start = next((at for at, line in enumerate(lines) if correlation_id in line), None)
    if start is None:
        return ""
    end = start + 1
    while end < len(lines) and not lines[end].startswith(_REPORT):
        end += 1
    return "\n".join(lines[start:end])


def bounded(text: str) -> str:
    """The last lines, which say most: a traceback ends with its error."""
    lines = text.rstrip().splitlines()
    kept = "\n".join(lines[-LINES_MAX:])
    return kept if len(kept) <= CHARACTERS_MAX else f"…{kept[-CHARACTERS_MAX:]}"


__all__ = ["about", "add_last_message", "add_last_words", "bounded"]
