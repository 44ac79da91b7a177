"""Checks of servers over WebSocket."""

from __future__ import annotations

import anyio

from accord.conformance.agent.check_environment import AgentStage
from accord.conformance.check_definition import check
from accord.conformance.checks.agent.network.access import (
    FOREIGN_HOST,
    FOREIGN_ORIGIN,
    hello,
    is_alive,
    judge_encryption,
    judge_other_users_session,
    judge_upgrade_without_credentials,
    request,
    server_of,
    websocket_of,
)
from accord.conformance.frames.error_codes import INVALID_REQUEST, PARSE_ERROR
from accord.conformance.frames.raw_peer import RawPeer, Unanswered, as_json
from accord.conformance.network.http1 import fits_header
from accord.conformance.network.http_caller import CONNECTION
from accord.conformance.network.websocket_link import UpgradeRefused, websocket_link


@check("TR-HTTP-15")
async def a_websocket_begins_with_initialize(stage: AgentStage) -> None:
    opened = websocket_of(stage).opened
    name = opened.get(CONNECTION)
    said = "the response to the upgrade has no Acp-Connection-Id"
    if not stage.judge.judge("TR-HTTP-15", fits_header(name), said, came=as_json(dict(opened))):
        return
    async with websocket_link(server_of(stage)) as link:
        peer = RawPeer(link, link, patience=stage.patience)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(peer.pump)
            first = request("session/new", cwd=str(stage.folder), mcpServers=[])
            try:
                await peer.send(first)
                answer = await peer.answer_to("raw")
            except Unanswered:
                answer = {"error": None}
            said = "a first message that is not initialize was served"
            stage.judge.judge("TR-HTTP-15", "error" in answer, said, sent=first, came=answer)
            tasks.cancel_scope.cancel()
    # The refusal concerns only that socket.
    await stage.talk.initialize()


@check("TR-HTTP-16")
async def binary_frames_are_ignored(stage: AgentStage) -> None:
    talk, link = stage.talk, websocket_of(stage)
    await talk.initialize()
    message = as_json(request("_accord_check/binary", "binary")).encode()
    await link.send_binary(message)
    if not stage.judge.judge("TR-HTTP-16", await is_alive(stage), "a binary frame ends the socket"):
        return
    await talk.peer.settled()
    done = [one for one in talk.peer.received() if one.object.get("id") == "binary"]
    said = "a message in a binary frame was answered"
    stage.judge.judge("TR-HTTP-16", not done, said, sent=message, came=done)
    said = "the server sends binary frames"
    stage.judge.judge("TR-HTTP-16", not link.binary_frames, said, came=link.binary_frames[:1])


@check("TR-SERVER-04")
async def a_websocket_is_initialized_once(stage: AgentStage) -> None:
    await stage.talk.initialize()
    again = hello(stage) | {"id": "again"}
    await stage.talk.peer.send(again)
    answer = await stage.talk.peer.answer_to("again")
    error = answer.get("error")
    ok = isinstance(error, dict) and error.get("code") == INVALID_REQUEST
    said = "a second initialize is not refused with -32600"
    stage.judge.judge("TR-SERVER-04", ok, said, sent=again, came=answer)


@check("TR-SERVER-05")
async def what_is_no_message_gets_an_error(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    for raw, code in ((b"{", PARSE_ERROR), (b"5", INVALID_REQUEST), (b'"text"', INVALID_REQUEST)):
        since = len(talk.peer.frames)
        await talk.peer.send_raw(raw + b"\n")
        alive = await is_alive(stage)
        came = [one for one in talk.peer.frames[since:] if not one.sent and one.is_response]
        codes = [one.object["error"]["code"] for one in came if one.object.get("id", 0) is None]
        said = f"{raw.decode()} got {codes or 'nothing'} and not one {code}"
        if not stage.judge.judge("TR-SERVER-05", alive and codes == [code], said, sent=raw):
            return


@check("TR-SERVER-01")
async def a_foreign_page_may_not_upgrade(stage: AgentStage) -> None:
    await _judge_upgrade(stage, "TR-SERVER-01", {"Origin": FOREIGN_ORIGIN})


@check("TR-SERVER-02")
async def a_foreign_name_does_not_upgrade(stage: AgentStage) -> None:
    if not server_of(stage).address.is_loopback:
        stage.judge.skip_open("a server beyond this machine may have any name")
        return
    await _judge_upgrade(stage, "TR-SERVER-02", {"Host": FOREIGN_HOST})


async def _judge_upgrade(stage: AgentStage, rule: str, headers: dict[str, str]) -> None:
    try:
        async with websocket_link(server_of(stage), headers):
            pass
    except UpgradeRefused:
        stage.judge.passed(rule)
        return
    stage.judge.failed(rule, "the upgrade works", sent=headers)


@check("TR-HTTP-18")
async def others_are_served_encrypted(stage: AgentStage) -> None:
    judge_encryption(stage)


@check("TR-HTTP-20")
async def sessions_are_loaded_by_their_owner(stage: AgentStage) -> None:
    await judge_other_users_session(stage)


@check("TR-HTTP-21")
async def an_upgrade_needs_credentials(stage: AgentStage) -> None:
    await judge_upgrade_without_credentials(stage)
