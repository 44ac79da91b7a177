"""Adds the cause of an agent's error: from its stderr, its last message, or a stray print.

Many agents answer with a generic text and an id, and write the traceback to stderr.  If we started
the process, the two can be joined.  Other agents give the cause in their last message, and the last
lines of stderr are about something else.

What always holds: the added text and the time spent on it are bounded.
"""

import anyio

from accord.client.session.transcript_span import TranscriptSpan
from accord.errors import RequestFailed
from accord.jsonrpc.error_codes import INTERNAL_ERROR
from accord.transcript import Message, Transcript

# Added to the log message about a line that is not a message.
STDOUT_HINT = "; the agent printed this on its stdout, which is the wire: it belongs on stderr"
# How long stderr may lag behind the answer, and how often it is read meanwhile.
LAG_SECONDS_MAX = 0.5
LOOK_SECONDS = 0.01
LINES_MAX = 30
CHARACTERS_MAX = 4000
# The beginning of a report of our own agents; the next report ends the one before.
_REPORT = "accord: error "


async def add_stderr(error: Exception, transport: object) -> None:
    """Add stderr of the agent's process to an internal error, if we started the process."""
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
    """Add the agent's last message to an internal error, if the turn ended with one."""
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
    """The lines from the one with the id on, as soon as they seem complete."""
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
    """The last lines, since a traceback ends with its error."""
    lines = text.rstrip().splitlines()
    kept = "\n".join(lines[-LINES_MAX:])
    return kept if len(kept) <= CHARACTERS_MAX else f"…{kept[-CHARACTERS_MAX:]}"
