"""Checks of clients, v1: sessions that are listed, archived and reopened.

Nothing is driven here: the monitors see what a client does on its own, or was started for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from accord.conformance.check_definition import Findings, monitor
from accord.conformance.checks.client.v1.initialize import ROOTS, SYSTEM_PROMPT, is_on, offered
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.raw_peer import Frame, Message, as_json

AGAIN = ("session/load", "session/resume")
# How often the same first page may be requested in a row; a user may look twice.
SAME_PAGE_MAX = 2


def known_places(frames: Sequence[Frame]) -> Iterator[tuple[Frame, Message]]:
    """Return each request that reopens a session, with what the client sent or got before.

    What it gave itself counts; of a session that it knows by a list, the list does.
    """
    given: dict[Any, Message] = {}
    listed: dict[Any, Message] = {}
    for frame, result in queries.served_calls(frames):
        if frame.method == "session/new" and result is not None:
            given[result.get("sessionId")] = {"mcpServers": [], **frame.params}
        for entry in _entries(result) if frame.method == "session/list" else ():
            listed[entry.get("sessionId")] = entry
        if frame.method in (*AGAIN, "session/fork"):
            name = frame.params.get("sessionId")
            yield frame, given.get(name, listed.get(name, {}))


def _entries(result: Message | None) -> list[Message]:
    found = (result or {}).get("sessions")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def missing_roots(params: Message, known: Message) -> list[Any]:
    """Return the folders of a session that are not sent again, in any spelling."""
    sent = [os.path.normpath(str(one)) for one in params.get("additionalDirectories") or []]
    before = known.get("additionalDirectories") or []
    return [one for one in before if os.path.normpath(str(one)) not in sent]


@monitor("V1-SESS-15", "V1-SESS-27", "V1-LOAD-02", role="client")
def taken_up_again(frames: Sequence[Frame], judge: Findings) -> None:
    """A session is reopened with its id, folder and servers, all roots and the system prompt."""
    can = offered(frames, "agentCapabilities")
    for frame, known in known_places(frames):
        if frame.method == "session/load":
            missing = [key for key in ("sessionId", "cwd", "mcpServers") if key not in frame.params]
            judge.judge("V1-LOAD-02", not missing, f"{missing} is missing", came=frame)
        if frame.method in AGAIN and is_on(can, ROOTS) and known.get("additionalDirectories"):
            lost = missing_roots(frame.params, known)
            said = f"the session has {as_json(lost)} too"
            judge.judge("V1-SESS-15", not lost, said, sent=known, came=frame)
        if is_on(can, SYSTEM_PROMPT) and known.get("systemPrompt"):
            same = frame.params.get("systemPrompt") == known["systemPrompt"]
            said = "the system prompt is another, or not sent again"
            judge.judge("V1-SESS-27", same, said, sent=known, came=frame)


@monitor("V1-SESS-19", role="client")
def spellings(frames: Sequence[Frame], judge: Findings) -> None:
    """A folder has the same spelling in all messages."""
    known: dict[str, str] = {}
    for frame, result in queries.served_calls(frames):
        if frame.method not in (*queries.OPENS, "session/list"):
            continue
        for path in _folders(frame.params):
            before = known.get(os.path.normpath(path))
            known.setdefault(os.path.normpath(path), path)
            if before is not None:
                said = f"the folder {as_json(before)} is written {as_json(path)} here"
                judge.judge("V1-SESS-19", before == path, said, came=frame)
        for entry in _entries(result):
            for path in _folders(entry):
                known.setdefault(os.path.normpath(path), path)


def _folders(params: Message) -> list[str]:
    roots = params.get("additionalDirectories")
    found = [params.get("cwd"), *(roots if isinstance(roots, list) else [])]
    return [one for one in found if isinstance(one, str) and os.path.isabs(one)]


@monitor("V1-CLOSE-25", "V1-CLOSE-23", role="client")
def statuses(frames: Sequence[Frame], judge: Findings) -> None:
    """Neither a status nor the archive replaces loading a session before it is prompted."""
    told: dict[str, Frame] = {}
    archived: set[Any] = set()
    ever: set[Any] = set()
    for frame, opened in queries.with_open_sessions(frames):
        if frame.sent or not frame.is_request:
            continue
        name = frame.params.get("sessionId")
        if frame.method == "session/status" and name not in opened:
            told[str(name)] = frame
        elif frame.method == "session/archive":
            archived.add(name)
            ever.add(name)
        elif frame.method == "session/unarchive":
            archived.discard(name)
        elif frame.method in AGAIN and name in ever:
            said = f"the session {as_json(name)} is still in the archive"
            judge.judge("V1-CLOSE-23", name not in archived, said, came=frame)
        elif frame.method == "session/prompt" and name in told:
            said = "a status was taken for a session that is open on this connection"
            judge.judge("V1-CLOSE-25", name in opened, said, sent=told[str(name)], came=frame)


@monitor("V1-CLOSE-06", "V1-CLOSE-07", role="client")
def cursors(frames: Sequence[Frame], judge: Findings) -> None:
    """A cursor is that of the page before, and a page without one is the last."""
    page: Message | None = None
    followed = False
    same, last = 0, None
    for frame, result in queries.served_calls(frames):
        if frame.method != "session/list":
            same = 0
            continue
        cursor, given = frame.params.get("cursor"), (page or {}).get("nextCursor")
        same = same + 1 if frame.params == last and given is None else 0
        last = frame.params
        if cursor is not None and page is not None and given is None:
            judge.failed("V1-CLOSE-06", "a page was asked for after the last", came=frame)
        elif cursor is not None:
            followed = cursor == given
            judge.judge("V1-CLOSE-07", followed, "the cursor was changed", sent=given, came=frame)
        elif same >= SAME_PAGE_MAX:
            judge.failed("V1-CLOSE-06", "the last page is asked for again and again", came=frame)
        page = page if result is None else result
        if followed and (page or {}).get("nextCursor") is None:
            judge.passed("V1-CLOSE-06")


@monitor("V1-CFG-02", role="client")
def mode_options(frames: Sequence[Frame], judge: Findings) -> None:
    """Where a session has modes and an option for them, the option is set."""
    both: set[Any] = set()
    for frame, result in queries.served_calls(frames):
        options = (result or {}).get("configOptions")
        if frame.method in queries.OPENS and (result or {}).get("modes") and options:
            both.add((result or {}).get("sessionId", frame.params.get("sessionId")))
        if frame.params.get("sessionId") in both:
            if frame.method == "session/set_mode":
                judge.failed("V1-CFG-02", "session/set_mode was called", came=frame)
            elif frame.method == "session/set_config_option":
                judge.passed("V1-CFG-02")
