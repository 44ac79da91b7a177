"""Checks of servers over Streamable HTTP: status codes, headers, and streams."""

from __future__ import annotations

import json
from typing import Any

import anyio
from anyio.streams.tls import TLSAttribute

from accord.conformance.agent.check_environment import AgentStage
from accord.conformance.check_definition import check
from accord.conformance.checks.agent.network.access import (
    FOREIGN_HOST,
    FOREIGN_ORIGIN,
    UNKNOWN,
    hello,
    http_link_of,
    is_alive,
    judge_encryption,
    judge_ids_as_credentials,
    judge_other_users_session,
    judge_status,
    request,
    server_of,
    stranger,
)
from accord.conformance.frames.raw_peer import Message, Unanswered, same
from accord.conformance.network.http1 import fits_header
from accord.conformance.network.http_caller import (
    CONNECTION,
    EVENTS_TYPE,
    JSON_TYPE,
    SESSION,
    connect,
)
from accord.conformance.network.http_link import Arrival, HttpLink

# The beginning of HTTP/2: the client's preface, and empty settings.
H2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
FRAME_HEAD_BYTES = 9
SETTINGS = 4
# Longer than any limit for a message.
LONG_BODY_BYTES = 40 * 1024 * 1024
TOO_LONG = (400, 413)


@check("TR-HTTP-06")
async def initialize_is_answered_in_place(stage: AgentStage) -> None:
    answer = await stranger(stage).post(hello(stage))
    if not judge_status(stage, "TR-HTTP-06", "initialize", answer, 200):
        return
    name = answer.header(CONNECTION)
    said = "the response to initialize has no usable Acp-Connection-Id"
    stage.judge.judge("TR-HTTP-06", fits_header(name), said, came=str(answer))
    said = f"the response to initialize is {answer.content_type!r} and not {JSON_TYPE}"
    stage.judge.judge("TR-HTTP-06", answer.content_type == JSON_TYPE, said, came=str(answer))
    try:
        message = json.loads(answer.body)
    except ValueError:
        message = None
    ok = isinstance(message, dict) and message.get("id") == 0 and "result" in message
    said = "the body of the response to initialize is not its answer"
    stage.judge.judge("TR-HTTP-06", ok, said, came=str(answer))


@check("TR-HTTP-04")
async def posts_have_to_be_json(stage: AgentStage) -> None:
    caller = stranger(stage)
    for what, kind in (("a POST of text/plain", "text/plain"), ("a POST without a type", None)):
        answer = await caller.post(hello(stage), {"content-type": kind})
        if not judge_status(stage, "TR-HTTP-04", what, answer, 415):
            return
    answer = await caller.post(hello(stage), {"content-type": "application/json; charset=utf-8"})
    judge_status(stage, "TR-HTTP-04", "JSON with a charset", answer, 200)


@check("TR-HTTP-05")
async def streams_have_to_be_asked_for(stage: AgentStage) -> None:
    await stage.talk.initialize()
    answer = await http_link_of(stage).caller.request("GET", {"accept": JSON_TYPE})
    judge_status(stage, "TR-HTTP-05", f"a GET that accepts {JSON_TYPE}", answer, 406)


@check("TR-HTTP-08")
async def a_connection_has_to_be_named(stage: AgentStage) -> None:
    await stage.talk.initialize()
    caller = http_link_of(stage).caller
    message = request("session/new")
    events = {"accept": "text/event-stream"}
    for name, status in ((None, 400), (UNKNOWN, 404)):
        said = "without a connection id" if name is None else "with an unknown connection id"
        answer = await caller.post(message, {CONNECTION: name})
        if not judge_status(stage, "TR-HTTP-08", f"a POST {said}", answer, status):
            return
        answer = await caller.request("GET", {CONNECTION: name, **events})
        if not judge_status(stage, "TR-HTTP-08", f"a GET {said}", answer, status):
            return


@check("TR-HTTP-09")
async def a_session_has_to_be_named(stage: AgentStage) -> None:
    session = await stage.talk.session()
    # An existing session: an unknown one may be 404.
    other = str((await stage.talk.new_session())["sessionId"])
    caller = http_link_of(stage).caller
    block = {"type": "text", "text": stage.talk.plain}
    params: Message = {"sessionId": session, stage.talk.dialect.prompt: [block]}
    for name in (None, other):
        said = "without Acp-Session-Id" if name is None else "with another session in its header"
        answer = await caller.post(request("session/prompt", **params), {SESSION: name})
        if not judge_status(stage, "TR-HTTP-09", f"session/prompt {said}", answer, 400):
            return


@check("TR-HTTP-12")
async def delete_ends_a_connection(stage: AgentStage) -> None:
    await stage.talk.initialize()
    link = http_link_of(stage)
    answer = await link.caller.request("DELETE", {CONNECTION: None})
    if not judge_status(stage, "TR-HTTP-12", "a DELETE without a connection id", answer, 400):
        return
    answer = await link.caller.request("DELETE")
    if not judge_status(stage, "TR-HTTP-12", "a DELETE", answer, 202):
        return
    answer = await link.caller.post(request("session/new"))
    if not judge_status(stage, "TR-HTTP-12", "a POST after the DELETE", answer, 404, 410):
        return
    with anyio.move_on_after(stage.patience):
        await link.over.wait()
    said = "the connection's stream stays open after the DELETE"
    stage.judge.judge("TR-HTTP-12", link.over.is_set(), said)


@check("TR-HTTP-13")
async def arrays_are_refused(stage: AgentStage) -> None:
    await stage.talk.initialize()
    link = http_link_of(stage)
    notice = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": UNKNOWN}}
    for array in ([], [request("_accord_check/entry", "entry")], [notice]):
        answer = await link.caller.post(array)
        what = f"an array of {len(array)} messages"
        if not judge_status(stage, "TR-HTTP-13", what, answer, 400, 501):
            return
    await stage.talk.peer.settled()
    done = [one for one in link.arrivals if one.message.get("id") == "entry"]
    said = "an entry of a refused array was answered"
    stage.judge.judge("TR-HTTP-13", not done, said, came=[one.message for one in done])


@check("TR-SERVER-04")
async def a_connection_is_initialized_once(stage: AgentStage) -> None:
    await stage.talk.initialize()
    answer = await http_link_of(stage).caller.post(hello(stage))
    judge_status(stage, "TR-SERVER-04", "initialize on an open connection", answer, 400)


@check("TR-SERVER-05")
async def what_is_no_message_is_refused(stage: AgentStage) -> None:
    await stage.talk.initialize()
    caller = http_link_of(stage).caller
    for body in (b"{", b"xx", b"5", b'"text"', b"\xff\xfe"):
        answer = await caller.post(body)
        what = f"the body {body.decode('utf-8', 'backslashreplace')}"
        if not judge_status(stage, "TR-SERVER-05", what, answer, 400):
            return
    stage.judge.judge("TR-SERVER-05", await is_alive(stage), "no answer after bad bodies")


@check("TR-SERVER-06")
async def other_methods_are_not_allowed(stage: AgentStage) -> None:
    await stage.talk.initialize()
    for method in ("PUT", "PATCH"):
        answer = await http_link_of(stage).caller.request(method)
        if not judge_status(stage, "TR-SERVER-06", method, answer, 405):
            return


@check("TR-SERVER-01")
async def a_foreign_page_may_not(stage: AgentStage) -> None:
    answer = await stranger(stage).post(hello(stage), {"origin": FOREIGN_ORIGIN})
    what = f"a request from {FOREIGN_ORIGIN}"
    judge_status(stage, "TR-SERVER-01", what, answer, 400, 401, 403)


@check("TR-SERVER-02")
async def a_foreign_name_leads_nowhere(stage: AgentStage) -> None:
    if not server_of(stage).address.is_loopback:
        stage.judge.skip_open("a server beyond this machine may have any name")
        return
    answer = await stranger(stage).post(hello(stage), {"host": FOREIGN_HOST})
    what = f"a request to the host {FOREIGN_HOST}"
    judge_status(stage, "TR-SERVER-02", what, answer, 400, 403, 404, 421)


@check("LIM-03")
async def too_long_bodies_are_refused(stage: AgentStage) -> None:
    """The request is refused or cut off; its connection may continue."""
    await stage.talk.initialize()
    caller = http_link_of(stage).caller
    body = b'{"jsonrpc":"2.0","id":"huge","method":"_x","params":{"a":"'
    body += b"x" * LONG_BODY_BYTES + b'"}}'
    try:
        answer = await caller.post(body)
    except Unanswered:
        stage.judge.passed("LIM-03")
        return
    what = f"a body of {LONG_BODY_BYTES >> 20} MiB"
    judge_status(stage, "LIM-03", what, answer, *TOO_LONG)


@check("TR-HTTP-02")
async def http2_is_spoken(stage: AgentStage) -> None:
    address = server_of(stage).address
    stream = await connect(address, "h2", "http/1.1")
    try:
        if address.tls:
            chosen = stream.extra(TLSAttribute.alpn_protocol, None)
            said = f"the server chose {chosen or 'nothing'} where HTTP/2 was offered"
            stage.judge.judge("TR-HTTP-02", chosen == "h2", said)
        elif await _answers_preface(stream, stage.patience):
            stage.judge.passed("TR-HTTP-02")
        else:
            stage.judge.skip_open("without TLS a server cannot offer HTTP/2 beside HTTP/1.1")
    finally:
        await anyio.aclose_forcefully(stream)


async def _answers_preface(stream: anyio.abc.ByteStream, seconds: float) -> bool:
    came = b""
    with anyio.move_on_after(seconds):
        try:
            await stream.send(H2_PREFACE)
            while len(came) < FRAME_HEAD_BYTES:
                came += await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            pass
    return len(came) >= FRAME_HEAD_BYTES and came[3] == SETTINGS and not came.startswith(b"HTTP/")


@check("TR-HTTP-18")
async def others_are_served_encrypted(stage: AgentStage) -> None:
    judge_encryption(stage)


@check("TR-HTTP-21")
async def ids_are_no_credentials(stage: AgentStage) -> None:
    await judge_ids_as_credentials(stage)


@check("TR-HTTP-20")
async def sessions_are_loaded_by_their_owner(stage: AgentStage) -> None:
    await judge_other_users_session(stage)


CONNECTION_METHODS = frozenset({"initialize", "session/new", "session/load"})


def answer_in(link: HttpLink, name: Any) -> Arrival | None:
    """Return how the response to a request arrived."""
    found = [one for one in link.arrivals if same(one.message.get("id"), name)]
    return next((one for one in found if "method" not in one.message), None)


@check("TR-HTTP-07")
async def answers_come_on_streams(stage: AgentStage) -> None:
    """Every POST after `initialize` gets 202 without a body."""
    session = await stage.talk.session()
    await stage.talk.say(session, stage.scenario.prompt("say"))
    link = http_link_of(stage)
    for line, answer in link.answers[1:]:
        what = line[:200].decode("utf-8", "replace")
        if not judge_status(stage, "TR-HTTP-07", what, answer, 202):
            return
        said = "a 202 has a body"
        if not stage.judge.judge("TR-HTTP-07", not answer.body, said, sent=what, came=str(answer)):
            return
    for frame in stage.talk.peer.frames:
        if not frame.sent or not frame.is_request or frame.method in CONNECTION_METHODS:
            continue
        wanted = frame.params.get("sessionId")
        came = answer_in(link, frame.object["id"])
        if came is not None:
            said = f"the answer to {frame.method} came on {_named(came)}"
            stage.judge.judge("TR-HTTP-07", came.session == wanted, said, sent=frame)


@check("TR-HTTP-11")
async def opened_sessions_are_told_to_the_connection(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    params = talk.dialect.load_params(talk.capabilities, session, str(talk.folder))
    if params is not None and talk.dialect.load == "session/load":
        await talk.say(session, stage.scenario.prompt("say"))
        await talk.prepare("session/load", params)
    for frame in talk.peer.frames:
        if frame.sent and frame.method in ("session/new", "session/load"):
            came = answer_in(http_link_of(stage), frame.object["id"])
            said = "no answer" if came is None else f"the answer to {frame.method}: {_named(came)}"
            ok = came is not None and (came.via, came.session) == ("stream", None)
            if not stage.judge.judge("TR-HTTP-11", ok, said, sent=frame):
                return


@check("TR-HTTP-14")
async def a_stream_has_one_reader(stage: AgentStage) -> None:
    session = await stage.talk.session()
    caller = http_link_of(stage).caller
    events = {"accept": EVENTS_TYPE}
    for what, headers in (("the connection", {}), ("a session", {SESSION: session})):
        answer = await caller.request("GET", {**events, **headers})
        what = f"a second GET for the stream of {what}"
        if not judge_status(stage, "TR-HTTP-14", what, answer, 409):
            return


@check("TR-SERVER-03")
async def streams_are_event_streams(stage: AgentStage) -> None:
    """Each event has one message, in the usual form."""
    session = await stage.talk.session()
    await stage.talk.say(session, stage.scenario.prompt("say"))
    link = http_link_of(stage)
    flaws = [*link.flaws, *link.event_flaws]
    stage.judge.judge("TR-SERVER-03", not flaws, "; ".join(flaws[:3]))


def _named(came: Arrival) -> str:
    if came.via != "stream":
        return "the response to its POST"
    return "the connection's stream" if came.session is None else "the stream of its session"
