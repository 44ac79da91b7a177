"""Access to a server: encryption, credentials, foreign pages, the sessions of other users."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from accord.conformance.agent.check_environment import AgentStage
from accord.conformance.agent.client_messages import DIALECTS
from accord.conformance.frames.raw_peer import Message, Unanswered, as_json
from accord.conformance.network.address import RemoteServer
from accord.conformance.network.http1 import Answer
from accord.conformance.network.http_caller import EVENTS_TYPE, HttpCaller
from accord.conformance.network.http_link import HttpLink
from accord.conformance.network.websocket_link import UpgradeRefused, WebSocketLink, websocket_link
from accord.conformance.run.program import RemoteProgram, connected

UNKNOWN = "accord-check-unknown"
FOREIGN_ORIGIN = "https://accord-check.example"
FOREIGN_HOST = "accord-check.example"
# Statuses by which a server refuses access, or hides what a user must not see.
DENIED = (401, 403, 404)


def server_of(stage: AgentStage) -> RemoteServer:
    assert stage.remote is not None
    return stage.remote


def http_link_of(stage: AgentStage) -> HttpLink:
    return cast("HttpLink", cast("RemoteProgram", stage.talk.program).link)


def websocket_of(stage: AgentStage) -> WebSocketLink:
    return cast("WebSocketLink", cast("RemoteProgram", stage.talk.program).link)


def stranger(stage: AgentStage) -> HttpCaller:
    """Return a caller without a connection."""
    is_http2 = http_link_of(stage).caller.is_http2
    return HttpCaller(server_of(stage), patience=stage.patience, is_http2=is_http2)


def as_other_user(caller: HttpCaller, headers: dict[str, str] | None) -> HttpCaller:
    """Return the same caller with other credentials, or with none."""
    server = replace(caller.server, headers=headers or {})
    return replace(caller, server=server, headers=dict(caller.headers), cookies={})


def hello(stage: AgentStage) -> Message:
    params = DIALECTS[stage.version].hello
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def request(method: str, name: str = "raw", /, **params: Any) -> Message:
    return {"jsonrpc": "2.0", "id": name, "method": method, "params": params}


def judge_status(stage: AgentStage, rule: str, what: str, answer: Answer, *statuses: int) -> bool:
    """Judge a rule by the status of a response to the described request."""
    wanted = " or ".join(map(str, statuses))
    said = f"{what} got status {answer.status}, not {wanted}"
    return stage.judge.judge(rule, answer.status in statuses, said, sent=what, came=str(answer))


async def is_alive(stage: AgentStage) -> bool:
    try:
        await stage.talk.peer.probe()
    except Unanswered:
        return False
    return True


def judge_encryption(stage: AgentStage) -> None:
    """TR-HTTP-18, for either transport."""
    address = server_of(stage).address
    if address.is_loopback and not address.tls:
        stage.judge.skip_open("on this machine a server may do without TLS")
        return
    said = f"{address.url} serves others without TLS"
    stage.judge.judge("TR-HTTP-18", address.tls, said, sent=address.url)


async def judge_ids_as_credentials(stage: AgentStage) -> None:
    """TR-HTTP-21 over HTTP: the ids of a connection do not give access to it."""
    server = server_of(stage)
    if not server.has_credentials:
        stage.judge.skip_open("the server was reached without credentials")
        return
    await stage.talk.initialize()
    owner = http_link_of(stage).caller
    users: list[tuple[str, dict[str, str] | None]] = [("without credentials", None)]
    if server.other_headers is not None:
        users.append(("with another user's credentials", dict(server.other_headers)))
    for said, headers in users:
        other = as_other_user(owner, headers)
        answers = (
            ("a POST", await other.post(request("session/new"))),
            ("a GET", await other.request("GET", {"accept": EVENTS_TYPE})),
            ("a DELETE", await other.request("DELETE")),
        )
        for what, answer in answers:
            if not judge_status(stage, "TR-HTTP-21", f"{what} {said}", answer, *DENIED):
                return


async def judge_upgrade_without_credentials(stage: AgentStage) -> None:
    """TR-HTTP-21 over WebSocket: an upgrade needs credentials like any request."""
    server = server_of(stage)
    if not server.has_credentials:
        stage.judge.skip_open("the server was reached without credentials")
        return
    try:
        async with websocket_link(replace(server, headers={})):
            pass
    except UpgradeRefused:
        stage.judge.passed("TR-HTTP-21")
        return
    stage.judge.failed("TR-HTTP-21", "the upgrade works without credentials")


async def judge_other_users_session(stage: AgentStage) -> None:
    """TR-HTTP-20: another user cannot load a session by its id."""
    server = server_of(stage)
    if server.other_headers is None:
        stage.judge.skip_open("no token of another user was given (--other-token-env)")
        return
    session, dialect = await stage.talk.session(), stage.talk.dialect
    params = dialect.load_params(stage.talk.capabilities, session, str(stage.folder))
    if params is None:
        stage.judge.skip_open(f"the agent has no {dialect.load}")
        return
    await stage.talk.say(session, stage.scenario.prompt("say"))
    other = replace(server, headers=server.other_headers)
    async with connected(other, stage.patience) as program:
        await program.peer.call("initialize", hello(stage)["params"])
        answer = await program.peer.call(dialect.load, params)
    said = "another user can load the session"
    stage.judge.judge("TR-HTTP-20", "error" in answer, said, sent=params, came=as_json(answer))
