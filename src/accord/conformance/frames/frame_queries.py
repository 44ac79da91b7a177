"""Queries over the frames of one conversation, for any rule.

Must not know: ids of rules.  Functions take frames and yield what is wrong, as (frame, sentence).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from accord.conformance.frames.raw_peer import Frame, Message, as_json, same

Complaint = tuple[Frame, str]

# Data of the sender: its keys follow no convention of the protocol.
OPAQUE = frozenset(
    {"_meta", "rawInput", "rawOutput", "data", "properties", "env", "headers", "content_schema"}
)
# Input and output of tools, and other data of the sender.
FOREIGN = frozenset({"_meta", "rawInput", "rawOutput", "input", "output", "value", "credentials"})
_CAMEL = re.compile(r"^(_meta|jsonrpc|[a-z][a-zA-Z0-9]*)$")
_SNAKE = re.compile(r"^(_?[a-z][a-z0-9_]*|_.*)$")
_BEGINNING = re.compile(rb'\s*\{.*"jsonrpc"')
_ID = re.compile(rb'"id":("[^"]*"|-?\d+)')
TAGS = frozenset({"sessionUpdate", "type", "status", "kind", "stopReason", "outcome", "state"})
# The number of consecutive lines that are tried as one message.
PIECES_MAX = 64
# Requests that wait for a turn, a person or a program.
PATIENT = frozenset(
    {
        "session/prompt", "authenticate", "auth/login", "session/request_permission",
        "elicitation/create", "terminal/wait_for_exit",
    }
)  # fmt: skip
TRACE = re.compile(r"Traceback \(most recent call last\)|\n\s+at \S+ \(?.*:\d+:\d+\)?|panicked at")


def received(frames: Sequence[Frame]) -> list[Frame]:
    """Return the frames that the judged program sent."""
    return [frame for frame in frames if not frame.sent]


def noise(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Find lines that are not messages."""
    pieces = {id(frame) for frame in pieces_of_messages(frames)}
    for frame in received(frames):
        if not frame.raw.strip():
            continue
        if frame.flaw == "not JSON" and id(frame) not in pieces:
            yield frame, "a line on stdout is not a message"
        elif not frame.flaw and not isinstance(frame.message, dict | list):
            yield frame, "a line on stdout is a bare JSON value"


def broken_lines(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Find messages that are not on one line."""
    for frame in pieces_of_messages(frames):
        yield frame, "a message is not on one line"
    for frame in received(frames):
        if is_unended(frame):
            yield frame, frame.flaw


def is_unended(frame: Frame) -> bool:
    """Whether this is a whole message without its newline.

    A part of one says nothing: the kit ends programs while they write.
    """
    return frame.flaw == "the last line has no newline" and frame.message is not None


def pieces_of_messages(frames: Sequence[Frame]) -> list[Frame]:
    """Find lines that are a JSON message only when they are joined."""
    found: list[Frame] = []
    run: list[Frame] = []
    for frame in [*received(frames), None]:
        if frame is not None and frame.flaw == "not JSON":
            run.append(frame)
        else:
            found += _pieces(run)
            run = []
    # The beginning of a message is a piece of it, whatever follows.
    begun = [
        one for one in received(frames) if one.flaw == "not JSON" and _BEGINNING.match(one.raw)
    ]
    return found + [one for one in begun if one not in found]


def _pieces(run: Sequence[Frame]) -> list[Frame]:
    """Return the longest range of lines that is one message, up to a bound."""
    run = run[:PIECES_MAX]
    for length in range(len(run), 1, -1):
        for first in range(len(run) - length + 1):
            stretch = run[first : first + length]
            if _is_object(b"\n".join(frame.raw for frame in stretch)):
                return list(stretch)
    return []


def _is_object(raw: bytes) -> bool:
    try:
        return isinstance(json.loads(raw.decode("utf-8", "replace"), strict=False), dict)
    except (ValueError, RecursionError):
        return False


def not_jsonrpc(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Find objects without the version of JSON-RPC 2.0, and bytes that are not UTF-8."""
    for frame in received(frames):
        if frame.flaw == "not UTF-8":
            yield frame, frame.flaw
        elif isinstance(frame.message, dict) and frame.message.get("jsonrpc") != "2.0":
            yield frame, 'a message has no "jsonrpc": "2.0"'


def arrays(frames: Sequence[Frame]) -> Iterator[tuple[Frame, list[Message]]]:
    """Find arrays of requests and notifications that the program sent, with their entries."""
    for frame in received(frames):
        if isinstance(frame.message, list):
            calls = [one for one in frame.message if isinstance(one, dict) and "method" in one]
            if calls:
                yield frame, calls


def bad_responses(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Find responses with both or none of result and error, or with a malformed error."""
    for frame in received(frames):
        found = frame.object
        if not found or frame.method is not None or "id" not in found:
            continue
        if ("result" in found) == ("error" in found):
            yield frame, "a response has not exactly one of result and error"
        elif "error" in found:
            error = found["error"]
            if not isinstance(error, dict) or type(error.get("code")) is not int:
                yield frame, "an error has no code that is an integer"
            elif not isinstance(error.get("message"), str):
                yield frame, "an error has no message"


def unasked_responses(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Find second responses, and those without a request.  Errors with id null do not count."""
    open_ids: list[str] = []
    for frame in frames:
        key = json.dumps(frame.object.get("id"))
        if frame.sent and frame.is_request:
            open_ids.append(key)
        elif frame.sent and isinstance(frame.message, list):
            open_ids += [
                json.dumps(one["id"])
                for one in frame.message
                if isinstance(one, dict) and "id" in one and "method" in one
            ]
        elif frame.sent and frame.message is None:
            # Too deep for our own parser; the id is near the front.
            open_ids += [one.decode("utf-8", "replace") for one in _ID.findall(frame.raw[:200])]
        elif not frame.sent and frame.is_response:
            if key in open_ids and "id" in frame.object:
                open_ids.remove(key)
            elif not (key == "null" and "error" in frame.object):
                what = (
                    f"the id {key}, which no open request has" if "id" in frame.object else "no id"
                )
                yield frame, f"a response has {what}"


def null_answers(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Find errors with id null, except those for messages without a readable id.

    That a notification is answered is another matter, where no request is left without an answer.
    """
    unreadable = notes = 0
    lost = {id(one) for _, one in _waited_for(frames)}
    waits = False
    for frame in frames:
        if frame.sent:
            unreadable += _unreadable(frame)
            notes += frame.is_notification
            waits = waits or id(frame) in lost
        elif frame.is_response and frame.object.get("id", 0) is None and "error" in frame.object:
            if unreadable:
                unreadable -= 1
            elif notes and not waits:
                notes -= 1
            else:
                yield frame, "an error has the id null, and every id could be read"


def _unreadable(frame: Frame) -> int:
    """Count lines and entries of the kit without a readable id."""
    if isinstance(frame.message, list):
        return max(1, len(frame.message))
    if not isinstance(frame.message, dict):
        return max(1, frame.raw.count(b"\n"))
    request_id = frame.object.get("id", 0)
    odd = isinstance(request_id, bool) or not isinstance(request_id, int | str)
    return int(odd and not frame.is_response)


def odd_ids(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Find requests of the program whose id is null, a fraction or something else."""
    for frame in received(frames):
        if frame.is_request:
            request_id = frame.object.get("id")
            if type(request_id) not in (int, str):
                yield frame, f"a request has the id {as_json(request_id)}"


def reused_ids(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Find requests of the program with the id of another open request."""
    open_ids: set[str] = set()
    for frame in frames:
        key = json.dumps(frame.object.get("id"))
        if not frame.sent and frame.is_request:
            if key in open_ids:
                yield frame, f"the id {key} is taken by a request that is still open"
            open_ids.add(key)
        elif frame.sent and frame.is_response:
            open_ids.discard(key)


def open_together(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Find requests of the program that were sent while another one was open."""
    open_ids: set[str] = set()
    for frame in frames:
        key = json.dumps(frame.object.get("id"))
        if not frame.sent and frame.is_request:
            if open_ids:
                yield frame, ""
            open_ids.add(key)
        elif frame.sent and frame.is_response:
            open_ids.discard(key)


def odd_names(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Find keys that are not camelCase, and tags that are not snake_case."""
    for frame in received(frames):
        for part in ("params", "result"):
            for path, why in _names(frame.object.get(part), ""):
                yield frame, f"{path} {why}"


def _names(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for one in value:
            yield from _names(one, path)
    if not isinstance(value, dict):
        return
    for key, member in value.items():
        here = f"{path}.{key}"
        if not _CAMEL.match(key):
            yield here, "is not camelCase"
        if key in TAGS and isinstance(member, str) and not _SNAKE.match(member):
            yield here, f"has the tag {as_json(member)}, which is not snake_case"
        if key not in OPAQUE:
            yield from _names(member, here)


def traces(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Find errors that show a stack trace."""
    for frame in received(frames):
        error = frame.object.get("error")
        if isinstance(error, dict) and TRACE.search(json.dumps(error).replace("\\n", "\n")):
            yield frame, "an error shows a stack trace"


def errors(frames: Sequence[Frame], code: int | None = None) -> list[tuple[Frame, Message]]:
    """Return the error responses of the program, those with one code if it is given."""
    found: list[tuple[Frame, Message]] = []
    for frame in received(frames):
        error = frame.object.get("error")
        if isinstance(error, dict) and (code is None or error.get("code") == code):
            found.append((frame, error))
    return found


def updates(frames: Sequence[Frame], *kinds: str) -> Iterator[tuple[int, Frame, str, Message]]:
    """Return the updates of these kinds, or all: position, frame, session, update."""
    for at, frame in enumerate(frames):
        if frame.sent or frame.method != "session/update":
            continue
        update = frame.params.get("update")
        if isinstance(update, dict) and (not kinds or update.get("sessionUpdate") in kinds):
            yield at, frame, str(frame.params.get("sessionId")), update


def children(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Return updates that announce a child of a session."""
    return ((frame, "") for _, frame, _, _ in updates(frames, "subagent_update"))


def unannounced_children(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Find updates of sessions that were not opened, before a parent has announced them.

    A session may say something before the answer to the request that opens it.
    """
    known = {str(frame.params.get("sessionId")) for frame in frames if frame.sent}
    known |= {str(at(one.object, "result.sessionId")) for one in received(frames)}
    for _, frame, session, update in updates(frames):
        if session not in known and isinstance(frame.params.get("sessionId"), str):
            yield frame, f"an update of the session {session}, which was not announced"
        if update.get("sessionUpdate") == "subagent_update":
            known.add(str(update.get("sessionId")))


def answers(frames: Sequence[Frame], method: str) -> Iterator[tuple[int, int, Frame, Message]]:
    """Return the results of the kit's requests: position of request and answer, frame, result.

    Null stands for an empty object, as in older documents.
    """
    asked: dict[str, int] = {}
    for at, frame in enumerate(frames):
        key = json.dumps(frame.object.get("id"))
        if frame.sent and frame.is_request and frame.method == method:
            asked[key] = at
        elif not frame.sent and frame.is_response and key in asked:
            place, result = asked.pop(key), frame.object.get("result")
            if result is None and "error" not in frame.object:
                result = {}
            if isinstance(result, dict):
                yield place, at, frame, result


def refusals(frames: Sequence[Frame], method: str) -> Iterator[tuple[int, int, Frame]]:
    """Return the errors that the kit's requests got: position of request and answer, frame."""
    asked: dict[str, int] = {}
    for at, frame in enumerate(frames):
        key = json.dumps(frame.object.get("id"))
        if frame.sent and frame.is_request and frame.method == method:
            asked[key] = at
        elif not frame.sent and frame.is_response and key in asked:
            place = asked.pop(key)
            if "error" in frame.object:
                yield place, at, frame


def is_alone(frames: Sequence[Frame], asked: int, answered: int) -> bool:
    """Whether no other prompt of its session was open while this one was, by their positions."""
    session = frames[asked].params.get("sessionId")
    open_ids: set[str] = set()
    for at, frame in enumerate(frames[:answered]):
        key = json.dumps(frame.object.get("id"))
        if frame.sent and frame.is_request and frame.method == "session/prompt":
            if frame.params.get("sessionId") == session and at != asked:
                open_ids.add(key)
        elif not frame.sent and frame.is_response and at < asked:
            open_ids.discard(key)
    return not open_ids


def odd_meta(frames: Sequence[Frame]) -> Iterator[Complaint]:
    """Find messages with a `_meta` that is not an object, at any depth."""
    for frame in received(frames):
        left: list[Any] = [frame.object]
        while left:
            one = left.pop()
            if isinstance(one, list):
                left += one
            elif isinstance(one, dict):
                if not isinstance(one.get("_meta", {}), dict):
                    yield frame, f"_meta is {as_json(one['_meta'])}"
                left += [inner for key, inner in one.items() if key not in FOREIGN]


def _waited_for(frames: Sequence[Frame]) -> Iterator[tuple[int, Frame]]:
    """Return the requests of the kit that got no answer in time, with their positions."""
    for at, frame in enumerate(frames):
        if frame.unanswered and not _answered(frames, at):
            yield at, frame


def _answered(frames: Sequence[Frame], at: int) -> bool:
    """Whether a request of the kit got an answer later."""
    name = frames[at].object["id"]
    return any(
        not one.sent and one.is_response and same(one.object.get("id"), name) for one in frames[at:]
    )


def _told(frames: Sequence[Frame], at: int, *methods: str) -> bool:
    """Whether the kit later sent one of these notifications to the session of a request."""
    session = frames[at].params.get("sessionId")
    return any(
        one.sent and one.method in methods and one.params.get("sessionId") == session
        for one in frames[at:]
    )


def _withdrawn(frames: Sequence[Frame], at: int) -> bool:
    """Whether the kit later cancelled a request."""
    return any(
        one.sent
        and one.method == "$/cancel_request"
        and same(one.params.get("requestId"), frames[at].object["id"])
        for one in frames[at:]
    )


def unended_turns(frames: Sequence[Frame], *, answer_ends: bool = True) -> Iterator[Frame]:
    """Return the prompts whose turns had to end by themselves and did not.

    What becomes of a turn that is cancelled or closed is another matter, and so is what a
    notification right before it leads to.  In v2 an answer does not end the turn.
    """
    for at, frame in enumerate(frames):
        if not frame.unanswered or (answer_ends and _answered(frames, at)):
            continue
        stopped = _told(frames, at, "session/cancel", "session/close")
        stopped = stopped or (at > 0 and frames[at - 1].sent and frames[at - 1].is_notification)
        if frame.method == "session/prompt" and not stopped:
            yield frame


def unanswered_cancels(frames: Sequence[Frame]) -> Iterator[Frame]:
    """Return the prompts of cancelled turns that got no answer; not cancelled requests."""
    for at, frame in _waited_for(frames):
        cancelled = _told(frames, at, "session/cancel") and not _told(frames, at, "session/close")
        if frame.method == "session/prompt" and cancelled and not _withdrawn(frames, at):
            yield frame


def unanswered_requests(frames: Sequence[Frame], *, may_end: bool) -> Iterator[Frame]:
    """Return the requests without an answer, except those that may wait for a person or for work.

    Not those before the connection is made, and none of unknown methods: other rules are about
    these.  `may_end` says that a program which ends with requests open does no harm by it.
    """
    first = next((at for at, one in enumerate(frames) if "result" in one.object), len(frames))
    for at, frame in _waited_for(frames):
        known = frame.method not in PATIENT and not (frame.method or "_").startswith("_")
        if at > first and known and not (may_end and frame.ended):
            yield frame


def served_calls(frames: Sequence[Frame]) -> list[tuple[Frame, Message | None]]:
    """Return the requests of the program in order, each with the kit's result."""
    found: list[tuple[Frame, Message | None]] = []
    open_calls: dict[str, int] = {}
    for frame in frames:
        key = json.dumps(frame.object.get("id"))
        if not frame.sent and frame.is_request:
            open_calls[key] = len(found)
            found.append((frame, None))
        elif frame.sent and frame.is_response and key in open_calls:
            at, result = open_calls.pop(key), frame.object.get("result")
            found[at] = (found[at][0], result if isinstance(result, dict) else None)
    return found


# The methods that open a session on a connection, and those that end it.
OPENS = frozenset({"session/new", "session/load", "session/resume", "session/fork"})
ENDS = frozenset({"session/close", "session/delete"})


def with_open_sessions(frames: Sequence[Frame]) -> Iterator[tuple[Frame, frozenset[str]]]:
    """Return each frame with the sessions that the client had opened before it."""
    asked: dict[str, Frame] = {}
    opened: frozenset[str] = frozenset()
    for frame in frames:
        yield frame, opened
        key = json.dumps(frame.object.get("id"))
        if not frame.sent and frame.is_request:
            asked[key] = frame
        elif frame.sent and frame.is_response and "result" in frame.object and key in asked:
            request = asked.pop(key)
            name = {str(at(frame.object, "result.sessionId") or request.params.get("sessionId"))}
            if request.method in OPENS:
                opened |= name
            elif request.method in ENDS:
                opened -= name


def hello(frames: Sequence[Frame]) -> Message:
    """Return the params of the last `initialize` that succeeded."""
    last: Message = {}
    for asked, _, _, _ in answers(frames, "initialize"):
        last = frames[asked].params
    return last


def quoted(text: str, words: str) -> str:
    """Return the quoted text right after these words; empty without them."""
    found = re.search(rf"{words} '([^']*)'", text)
    return found[1] if found else ""


def open_at_cancel(frames: Sequence[Frame], method: str) -> list[tuple[Frame, Frame | None]]:
    """Return the kit's requests that were open at a cancel, with their answers."""
    found: list[tuple[Frame, Frame | None]] = []
    waiting: dict[str, Frame] = {}
    cancelled: dict[str, int] = {}
    for frame in frames:
        key = repr(frame.object.get("id"))
        if frame.sent and frame.is_request and frame.method == method:
            waiting[key] = frame
        elif frame.sent:
            continue
        elif frame.method == "session/cancel":
            name = frame.params.get("sessionId")
            for key, request in waiting.items():
                if request.params.get("sessionId") == name and key not in cancelled:
                    cancelled[key] = len(found)
                    found.append((request, None))
        elif frame.is_response and key in waiting:
            request = waiting.pop(key)
            if key in cancelled:
                found[cancelled[key]] = (request, frame)
    return found


def at(value: Any, path: str) -> Any:
    """Return the member at a dotted path; None if there is none."""
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value
