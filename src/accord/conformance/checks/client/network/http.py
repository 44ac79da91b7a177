"""Checks of clients over Streamable HTTP: headers, ids, cookies, streams, and the end."""

from __future__ import annotations

import json
from collections.abc import Iterator

from accord.conformance.check_definition import check
from accord.conformance.client.check_environment import ClientStage
from accord.conformance.client.fake_agent import SESSION as KIT_SESSION
from accord.conformance.client.launch import SCHEMES, Way
from accord.conformance.frames.raw_peer import Unanswered
from accord.conformance.network.http1 import fits_header
from accord.conformance.network.http_caller import (
    CONNECTION,
    EVENTS_TYPE,
    JSON_TYPE,
    SESSION,
    VERSION,
)
from accord.conformance.network.http_link import SESSION_METHODS
from accord.conformance.network.http_listener import COOKIE, Seen

# How long a client may take to end its connection after its work.
LEAVING_SECONDS = 5.0
# How long to wait for its answer to a request: its content is judged, not its speed.
QUESTION_SECONDS = 3.0


async def whole_turn(stage: ClientStage) -> list[Seen]:
    """Run a session with a turn and a request to the client; return the client's requests."""
    talk, prompt = await stage.to_prompt()
    await talk.say("Hello")
    try:
        # The answer is a POST of its own, for the session in whose stream the question came.
        await talk.call("session/request_permission", QUESTION_SECONDS, **talk.permission())
    except Unanswered:
        pass
    await talk.end_turn(prompt)
    return list(stage.listener.seen)


def after_initialize(seen: list[Seen]) -> Iterator[Seen]:
    """Return the requests of a connection, without the one that began it."""
    for one in seen:
        if one.message.get("method") != "initialize":
            yield one


@check("TR-CLIENT-01", role="client")
async def posts_one_json_message(stage: ClientStage) -> None:
    for one in await whole_turn(stage):
        if one.method != "POST":
            continue
        ok = one.head.content_type == JSON_TYPE
        said = f"a POST is {one.head.content_type or 'of no type'} and not {JSON_TYPE}"
        if not stage.judge.judge("TR-CLIENT-01", ok, said, came=str(one)):
            return
        said = "the body of a POST is not one JSON-RPC message"
        if not stage.judge.judge("TR-CLIENT-01", _is_message(one), said, came=str(one)):
            return


@check("TR-CLIENT-02", role="client")
async def names_its_connection(stage: ClientStage) -> None:
    seen = await whole_turn(stage)
    first = next(one for one in seen if one.message.get("method") == "initialize")
    said = "initialize names a connection, which does not exist yet"
    stage.judge.judge("TR-CLIENT-02", first.head.header(CONNECTION) is None, said, came=str(first))
    said = "a request does not name the connection that initialize was answered with"
    # A client may begin again on another connection, and an answer may come behind its DELETE.
    for one in after_initialize(seen):
        ok = one.head.header(CONNECTION) in stage.listener.given_ids
        if not stage.judge.judge("TR-CLIENT-02", ok, said, came=str(one)):
            return


@check("TR-CLIENT-03", role="client")
async def names_the_session(stage: ClientStage) -> None:
    """Each message of a session names it, also the answer to a request on its stream."""
    seen = await whole_turn(stage)
    asked = [frame.object["id"] for talk in stage.talks for frame in talk.peer.frames
             if frame.sent and frame.is_request and "sessionId" in frame.params]  # fmt: skip
    for one in seen:
        message = one.message
        wanted = KIT_SESSION if "method" not in message and message.get("id") in asked else None
        params = message.get("params")
        if isinstance(params, dict) and fits_header(params.get("sessionId")):
            wanted = str(params["sessionId"])
        if one.method != "POST" or (
            wanted is None and message.get("method") not in SESSION_METHODS
        ):
            continue
        given = one.head.header(SESSION)
        what = message.get("method", "an answer")
        said = f"{what} of the session {wanted} has Acp-Session-Id {given}"
        if not stage.judge.judge("TR-CLIENT-03", given == wanted, said, came=str(one)):
            return


@check("TR-CLIENT-04", role="client")
async def opens_its_streams(stage: ClientStage) -> None:
    """The client opens the streams of connection and session before it uses the session."""
    seen = await whole_turn(stage)
    streams = [one for one in seen if one.method == "GET"]
    for one in streams:
        ok = EVENTS_TYPE in (one.head.header("accept") or "")
        if not stage.judge.judge("TR-CLIENT-04", ok, "a GET accepts no events", came=str(one)):
            return
        ok = one.status != 409
        said = "a stream is opened a second time while it is read"
        if not stage.judge.judge("TR-CLIENT-04", ok, said, came=str(one)):
            return
    opened = [one.head.header(SESSION) for one in streams]
    stage.judge.judge("TR-CLIENT-04", None in opened, "the connection's stream is not opened")
    first = next((one for one in seen if one.message.get("method") == "session/prompt"), None)
    if first is not None:
        before = [one.head.header(SESSION) for one in seen[: seen.index(first)]]
        said = "a prompt is sent before the stream of its session is opened"
        stage.judge.judge("TR-CLIENT-04", KIT_SESSION in before, said, came=str(first))


@check("TR-HTTP-03", role="client")
async def returns_cookies(stage: ClientStage) -> None:
    for one in after_initialize(await whole_turn(stage)):
        said = "a request does not have the cookie that the connection was given"
        ok = f"{COOKIE}=" in (one.head.header("cookie") or "")
        if not stage.judge.judge("TR-HTTP-03", ok, said, came=str(one)):
            return


@check("TR-HTTP-17", role="client")
async def says_its_version(stage: ClientStage) -> None:
    for one in after_initialize(await whole_turn(stage)):
        ok = (one.head.header(VERSION) or "").isdigit()
        said = "a request after initialize has no Acp-Protocol-Version"
        if not stage.judge.judge("TR-HTTP-17", ok, said, came=str(one)):
            return


@check("TR-CLIENT-05", role="client")
async def deletes_its_connection(stage: ClientStage) -> None:
    await whole_turn(stage)
    assert stage.client is not None
    if await stage.client.ended(LEAVING_SECONDS) is None:
        stage.leave_open("the client continues when its turn is over")
    deleted = [one for one in stage.listener.seen if one.method == "DELETE"]
    stage.judge.judge("TR-CLIENT-05", bool(deleted), "the client ends without a DELETE")


@check("TR-HTTP-01", role="client")
async def speaks_websocket_too(stage: ClientStage) -> None:
    await judge_other_transport(stage, "websocket")


async def judge_other_transport(stage: ClientStage, way: Way) -> None:
    """TR-HTTP-01: the same command also begins over the other transport."""
    try:
        talk = await stage.start(way=way)
        await talk.request("initialize")
    except Unanswered as error:
        said = f"with a {SCHEMES[way]}:// URL the client does not begin: {error}"
        stage.judge.failed("TR-HTTP-01", said)
        return
    stage.judge.passed("TR-HTTP-01")


def _is_message(one: Seen) -> bool:
    try:
        message: object = json.loads(one.body)
    except ValueError:
        return False
    return isinstance(message, dict) and message.get("jsonrpc") == "2.0"
