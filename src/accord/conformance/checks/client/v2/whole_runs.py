"""Checks of clients, v2: whole runs, reopened sessions, and older agents."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from typing import Any

from accord.conformance.check_definition import Findings, check, monitor
from accord.conformance.checks.client.v1.initialize import block_types, without
from accord.conformance.checks.client.v1.reopened_sessions import known_places, missing_roots
from accord.conformance.checks.client.v1.whole_runs import RUNS_SECONDS_MAX, Need, used
from accord.conformance.checks.client.v2.wire_and_initialize import ALL, KEY
from accord.conformance.client.check_environment import ClientStage
from accord.conformance.client.fake_agent import NUMBERS, Offer
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.raw_peer import Frame, Message, Unanswered, as_json

MEDIA = {"image": "image", "audio": "audio", "resource": "embeddedContext"}


def needs_of(frame: Frame) -> Iterator[Need]:
    """Return the capabilities of the agent that a message of the client needs."""
    if frame.method == "session/delete":
        yield "session.delete", "V2-SESS-21"
    if frame.params.get("additionalDirectories") is not None:
        yield "session.additionalDirectories", "V2-SESS-23"
    if frame.method == "session/prompt":
        kinds = [MEDIA[one] for one in block_types(frame) if one in MEDIA]
        yield from ((f"session.prompt.{one}", "V2-PROMPT-01") for one in kinds)


def marked(whole: Message, path: str, marker: Any) -> Message:
    """Return these capabilities with another value at a dotted path."""
    first, _, rest = path.partition(".")
    return whole | {first: marked(whole[first], rest, marker) if rest else marker}


@check(
    "V2-SESS-21", "V2-SESS-23", "V2-PROMPT-01", "V2-INIT-09", "V2-SESS-20",
    role="client", version="2",
)  # fmt: skip
async def uses_on_its_own_only_what_is_offered(stage: ClientStage) -> None:
    """A capability that a client uses unasked is not used if only that one is off.

    Nor where the marker is `true`, which is none.
    """
    end = time.monotonic() + RUNS_SECONDS_MAX
    talk = await stage.whole_run(Offer(capabilities=ALL, auth_methods=[KEY]))
    judge_last_page(stage, talk.peer.frames, ended=talk.peer.closed.is_set())
    # With an agent without logins and capabilities, monitors judge what the client does.
    await stage.whole_run(stage.offer())
    for path, rule in used(talk.peer.frames, needs_of):
        offers = {rule: without(ALL, path), "V2-INIT-09": marked(ALL, path, True)}
        for broken, capabilities in offers.items():
            if time.monotonic() > end:
                break
            other = await stage.whole_run(Offer(capabilities=capabilities))
            came = used(other.peer.frames, needs_of).get((path, rule))
            said = f"{path} was not offered"
            if not stage.judge.judge(broken, came is None, said, came=[came] if came else []):
                # A client that does not use the marker does not misread it.
                break
    stage.leave_open("the client does not use this on its own")


def judge_last_page(stage: ClientStage, frames: Sequence[Frame], *, ended: bool) -> None:
    """An empty cursor is followed by a client that follows cursors, unless it was interrupted."""
    calls = queries.served_calls(frames)
    pages = [at for at, (frame, _) in enumerate(calls) if frame.method == "session/list"]
    for at in pages:
        frame, page = calls[at]
        if (page or {}).get("nextCursor") != "" or frame.params.get("cursor") is None:
            continue
        after = next((calls[one][0] for one in pages if one > at), None)
        if after is not None or ended or at + 1 < len(calls):
            ok = after is not None and after.params.get("cursor") == ""
            came = [frame] if after is None else [frame, after]
            said = "an empty cursor ends the list"
            stage.judge.judge("V2-SESS-20", ok, said, sent=page, came=came)


@monitor("V2-SESS-06", role="client", version="2")
def taken_up_again(frames: Sequence[Frame], judge: Findings) -> None:
    """A session is resumed with its own folder, all its roots and all its servers."""
    for frame, known in known_places(frames):
        if frame.method != "session/resume" or not known:
            continue
        cwd = frame.params.get("cwd")
        ok = os.path.normpath(str(cwd)) == os.path.normpath(str(known.get("cwd")))
        judge.judge("V2-SESS-06", ok, f"cwd is {as_json(cwd)}", sent=known, came=frame)
        lost = missing_roots(frame.params, known)
        said = f"the session has {as_json(lost)} too"
        judge.judge("V2-SESS-06", not lost, said, sent=known, came=frame)
        servers = frame.params.get("mcpServers") or []
        ok = servers == (known.get("mcpServers", servers) or [])
        judge.judge("V2-SESS-06", ok, "not the servers that it had", sent=known, came=frame)


@check("V2-GEN-05", role="client", version="2")
async def still_speaks_version_1(stage: ClientStage) -> None:
    """A client that asks for version 2 continues with an agent that answers with version 1."""
    stage.reached.need("a session for 'prompt'")
    talk, hello = await stage.hello()
    asked = hello.params.get("protocolVersion")
    stage.need(isinstance(asked, int) and asked >= NUMBERS["2"], "the client asks for version 1")
    # From here on the conversation is in version 1.
    talk.version = "1"
    await talk.reply(hello, Offer().answer("1"))
    try:
        await talk.request("session/new", "session/load", "session/resume")
    except Unanswered as error:
        said = f"it does not continue with an agent that speaks version 1 only: {error}"
        stage.judge.failed("V2-GEN-05", said, came=hello)
    else:
        stage.judge.passed("V2-GEN-05")
