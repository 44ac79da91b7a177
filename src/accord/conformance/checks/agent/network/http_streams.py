"""Where a server's messages come over Streamable HTTP: 202, streams, their form and readers."""

from __future__ import annotations

from typing import Any

from accord.conformance.agent.check_environment import AgentStage
from accord.conformance.check_definition import check
from accord.conformance.checks.agent.network.server_requests import (
    http_link_of,
    judge_status,
)
from accord.conformance.frames.raw_peer import same
from accord.conformance.network.http_caller import EVENTS_TYPE, SESSION
from accord.conformance.network.http_link import Arrival, HttpLink

CONNECTION_METHODS = frozenset({"initialize", "session/new", "session/load"})


def answer_in(link: HttpLink, name: Any) -> Arrival | None:
    """How the response to a request came."""
    found = [one for one in link.arrivals if same(one.message.get("id"), name)]
    return next((one for one in found if "method" not in one.message), None)


@check("TR-HTTP-07")
async def answers_come_on_streams(stage: AgentStage) -> None:
    """Whatever is POSTed after `initialize` gets 202 and nothing else there."""
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
    if talk.capabilities.get("loadSession") is True:
        await talk.say(session, stage.scenario.prompt("say"))
        params = {"sessionId": session, "cwd": str(talk.folder), "mcpServers": []}
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
    """One message an event, in the form that every reader of events knows."""
    session = await stage.talk.session()
    await stage.talk.say(session, stage.scenario.prompt("say"))
    link = http_link_of(stage)
    flaws = [*link.flaws, *link.event_flaws]
    stage.judge.judge("TR-SERVER-03", not flaws, "; ".join(flaws[:3]))


def _named(came: Arrival) -> str:
    if came.via != "stream":
        return "the response to its POST"
    return "the connection's stream" if came.session is None else "the stream of its session"
