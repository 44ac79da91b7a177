"""Who may use a server: encryption, credentials, and the sessions of other users."""

from __future__ import annotations

from dataclasses import replace

from accord.conformance.agent.check_environment import AgentStage
from accord.conformance.checks.agent.network.server_requests import (
    DENIED,
    as_other_user,
    hello,
    http_link_of,
    judge_status,
    request,
    server_of,
)
from accord.conformance.frames.raw_peer import as_json
from accord.conformance.network.http_caller import EVENTS_TYPE
from accord.conformance.network.websocket_link import UpgradeRefused, websocket_link
from accord.conformance.run.remote_program import connected


def judge_encryption(stage: AgentStage) -> None:
    """TR-HTTP-18, for either transport."""
    address = server_of(stage).address
    if address.is_loopback and not address.tls:
        stage.judge.skip_open("on this machine a server may do without TLS")
        return
    said = f"{address.url} serves others without TLS"
    stage.judge.judge("TR-HTTP-18", address.tls, said, sent=address.url)


async def judge_ids_as_credentials(stage: AgentStage) -> None:
    """TR-HTTP-21 over HTTP: who knows the ids of a connection, and nothing else, may do nothing."""
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
    """TR-HTTP-21 over WebSocket: an upgrade is a request as any other."""
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
    """TR-HTTP-20: nobody else loads a session, though he knows its id."""
    server = server_of(stage)
    if server.other_headers is None:
        stage.judge.skip_open("no token of another user was given (--other-token-env)")
        return
    session = await stage.talk.session()
    if stage.talk.capabilities.get("loadSession") is not True:
        stage.judge.skip_open("the agent has no session/load")
        return
    await stage.talk.say(session, stage.scenario.prompt("say"))
    other = replace(server, headers=server.other_headers)
    async with connected(other, stage.patience) as program:
        await program.peer.call("initialize", hello(stage)["params"])
        params = {"sessionId": session, "cwd": str(stage.folder), "mcpServers": []}
        answer = await program.peer.call("session/load", params)
    said = "another user can load the session"
    stage.judge.judge("TR-HTTP-20", "error" in answer, said, sent=params, came=as_json(answer))
