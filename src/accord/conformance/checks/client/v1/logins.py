"""Checks of clients, v1: logins, by the agent and by a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import anyio

from accord.conformance.check_definition import Findings, check, monitor
from accord.conformance.checks.client.v1.initialize import LEAVE_SECONDS, OPENING
from accord.conformance.client.check_environment import ClientStage
from accord.conformance.client.fake_agent import SESSION, Conversation, Offer, modes
from accord.conformance.client.launch import FAILING_LOGIN
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.raw_peer import Frame, Message, NotAsked, Unanswered, as_json

KEY = {"id": "key", "name": "Key"}
TERMINAL = {"id": "tty", "name": "In a terminal", "type": "terminal", "args": ["--login"]}


@monitor("V1-AUTH-01", "V1-AUTH-03", role="client")
def logins(frames: Sequence[Frame], judge: Findings) -> None:
    """A client logs in by a method that the agent listed, and not by one for terminals."""
    for frame, method in used_logins(frames, "authenticate", "id"):
        name = frame.params.get("methodId")
        judge.judge(
            "V1-AUTH-01", method is not None, f"there is no login {as_json(name)}", came=frame
        )
        by_terminal = (method or {}).get("type") == "terminal"
        said = "authenticate was called with a login for terminals"
        judge.judge("V1-AUTH-03", not by_terminal, said, came=frame)


def used_logins(
    frames: Sequence[Frame], call: str, key: str
) -> Iterator[tuple[Frame, Message | None]]:
    """Return each login that the client tried, with the method that the agent listed."""
    listed: list[Any] = []
    for frame in frames:
        if frame.sent and frame.is_response:
            for path in ("result.authMethods", "error.data.authMethods"):
                found = queries.at(frame.object, path)
                listed += found if isinstance(found, list) else []
        elif not frame.sent and frame.method == call:
            name = frame.params.get("methodId")
            yield (
                frame,
                next(
                    (one for one in listed if isinstance(one, dict) and one.get(key) == name), None
                ),
            )


@check("V1-AUTH-12", "V1-AUTH-01", role="client")
async def logs_in_when_told(stage: ClientStage) -> None:
    """On -32000 the client uses an offered method, and tries again."""
    talk = await stage.begin("login", stage.offer(auth_methods=[KEY]), manual=("authenticate",))
    try:
        frame = await _authenticating(talk)
        if frame.method == "session/new":
            said = "the session is tried again without a login"
            stage.judge.failed("V1-AUTH-12", said, came=frame)
            stage.leave_open("the client does not log in when the agent demands it")
    except NotAsked:
        raise
    except Unanswered:
        if stage.only_tries("login"):
            stage.leave_open("the client does not log in when the agent demands it")
        raise
    method = frame.params.get("methodId")
    stage.judge.judge("V1-AUTH-01", method == "key", f"methodId is {as_json(method)}", came=frame)
    await talk.reply(frame, {})
    again = await talk.request("session/new")
    stage.judge.passed("V1-AUTH-12")
    await talk.reply(again, {"sessionId": SESSION} | modes(stage.version))
    await talk.rest()


async def _authenticating(talk: Conversation) -> Frame:
    """Wait for the request to log in; demand it if the client does not log in unasked."""
    frame = await talk.request("session/new", "authenticate")
    if frame.method == "session/new":
        data = {"reason": "auth_required", "authMethods": [KEY]}
        await talk.refuse(frame, -32000, "Authentication required", data)
        frame = await talk.request("authenticate", "session/new")
    return frame


@check("V1-GEN-13", role="client")
async def skips_malformed_entries(stage: ClientStage) -> None:
    """A malformed login method among valid ones does no harm."""
    offer = stage.offer(auth_methods=[5, {"name": "no id"}, KEY])
    good = stage.offer(auth_methods=[KEY])
    for one in (good, offer):
        talk = await stage.begin("login", one, manual=("authenticate",))
        try:
            if (await _authenticating(talk)).method == "session/new":
                stage.leave_open("the client does not log in when the agent demands it")
        except NotAsked:
            raise
        except Unanswered as error:
            if one is good:
                stage.leave_open(f"the client does not log in, malformed entries or not: {error}")
            raise
    stage.judge.passed("V1-GEN-13")


@check("V1-AUTH-03", "V1-AUTH-06", role="client")
async def never_authenticates_by_terminal(stage: ClientStage) -> None:
    """A method of type terminal is never passed to `authenticate`, and its login reconnects."""
    offer = stage.offer(auth_methods=[TERMINAL])
    await judge_terminal_login(stage, offer, "authenticate", ("V1-AUTH-03", "V1-AUTH-06"))
    await _judge_failed_login(stage)


async def judge_terminal_login(
    stage: ClientStage, offer: Offer, method: str, rules: tuple[str, str]
) -> None:
    """Demand a login with only a terminal method, and judge what the client does.

    By the first rule it does not pass it to this method.  By the second, if it tries its session
    again, it does so on a connection of its own that begins with `initialize`.
    """
    never, again = rules
    talk = await stage.begin("login", offer, manual=(method,))
    if not talk.can("auth", "terminal"):
        stage.judge.skipped(again, "the client has no login by terminal")
    try:
        frame = await talk.request(*OPENING, method)
    except Unanswered:
        stage.judge.passed(never)
        stage.leave_open("the client opens no session where a login by terminal is needed")
    if frame.method != method:
        await talk.refuse(frame, -32000, "Authentication required")
        tried = await _next_try(stage, talk, method)
    else:
        tried = frame
    if tried is None:
        stage.judge.passed(never)
        stage.leave_open("the client does not try again after a login by terminal")
    if tried.method == method:
        ok = tried.params.get("methodId") not in offer.auth_methods[0].values()
        stage.judge.judge(never, ok, f"{method} was called with it", came=tried)
        stage.leave_open(f"the client calls {method}, and no login by terminal")
    stage.judge.passed(never)
    if talk.can("auth", "terminal"):
        ok = tried.method == "initialize"
        said = "after a login by terminal the session is tried again on the same connection"
        stage.judge.judge(again, ok, said, came=tried)


async def _judge_failed_login(stage: ClientStage) -> None:
    """After a login by terminal that exits with 3 the session is not tried again."""
    offer = stage.offer(auth_methods=[TERMINAL | {"args": [FAILING_LOGIN]}])
    talk = await stage.begin("login", offer, manual=("authenticate",))
    frame = await talk.request(*OPENING, "authenticate")
    await talk.refuse(frame, -32000, "Authentication required")
    tried = await _next_try(stage, talk, "authenticate")
    assert stage.client is not None
    done = stage.client.failed_login
    if done is not None and await anyio.Path(done).exists():
        said = "the session is tried again after a login that failed"
        stage.judge.judge("V1-AUTH-06", tried is None, said, came=tried or "")


async def _next_try(stage: ClientStage, talk: Conversation, method: str) -> Frame | None:
    """Return the next request of a client that must log in, perhaps its next `initialize`.

    The login itself is the agent's command, which connects too and says nothing.
    """
    found: list[Frame] = []

    async def here() -> None:
        try:
            found.append(await talk.request(*OPENING, method))
            tasks.cancel_scope.cancel()
        except Unanswered:
            pass

    async def elsewhere() -> None:
        while True:
            try:
                other = await stage.connected()
            except Unanswered:
                return
            try:
                found.append(await other.request("initialize"))
                tasks.cancel_scope.cancel()
            except Unanswered:
                continue

    with anyio.move_on_after(LEAVE_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(here)
            if stage.way == "spawn":
                tasks.start_soon(elsewhere)
    return found[0] if found else None
