"""What the checks of servers share: a check's connection, raw requests, and a judged status."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from accord.conformance.agent.check_environment import AgentStage
from accord.conformance.agent.client_messages import DIALECTS
from accord.conformance.frames.raw_peer import Message, Unanswered
from accord.conformance.network.address import RemoteServer
from accord.conformance.network.http1 import Answer
from accord.conformance.network.http_caller import HttpCaller
from accord.conformance.network.http_link import HttpLink
from accord.conformance.network.websocket_link import WebSocketLink
from accord.conformance.run.remote_program import RemoteProgram

UNKNOWN = "accord-check-unknown"
FOREIGN_ORIGIN = "https://accord-check.example"
FOREIGN_HOST = "accord-check.example"
# By which a server says that somebody may not, or that there is no such thing for him.
DENIED = (401, 403, 404)


def server_of(stage: AgentStage) -> RemoteServer:
    assert stage.remote is not None
    return stage.remote


def http_link_of(stage: AgentStage) -> HttpLink:
    return cast("HttpLink", cast("RemoteProgram", stage.talk.program).link)


def websocket_of(stage: AgentStage) -> WebSocketLink:
    return cast("WebSocketLink", cast("RemoteProgram", stage.talk.program).link)


def stranger(stage: AgentStage) -> HttpCaller:
    """A caller that has no connection yet."""
    is_http2 = http_link_of(stage).caller.is_http2
    return HttpCaller(server_of(stage), patience=stage.patience, is_http2=is_http2)


def as_other_user(caller: HttpCaller, headers: dict[str, str] | None) -> HttpCaller:
    """The same caller with other credentials, or with none."""
    server = replace(caller.server, headers=headers or {})
    return replace(caller, server=server, headers=dict(caller.headers), cookies={})


def hello(stage: AgentStage) -> Message:
    params = DIALECTS[stage.version].hello
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def request(method: str, name: str = "raw", /, **params: Any) -> Message:
    return {"jsonrpc": "2.0", "id": name, "method": method, "params": params}


def judge_status(stage: AgentStage, rule: str, what: str, answer: Answer, *statuses: int) -> bool:
    """Judge by the status of a response to what is described."""
    wanted = " or ".join(map(str, statuses))
    said = f"{what} got status {answer.status}, not {wanted}"
    return stage.judge.judge(rule, answer.status in statuses, said, sent=what, came=str(answer))


async def is_alive(stage: AgentStage) -> bool:
    try:
        await stage.talk.peer.probe()
    except Unanswered:
        return False
    return True
