"""Checks of clients over WebSocket."""

from __future__ import annotations

from typing import cast

from accord.conformance.check_definition import check
from accord.conformance.checks.client.network.http import judge_other_transport
from accord.conformance.client.check_environment import ClientStage
from accord.conformance.frames.raw_peer import as_json
from accord.conformance.network.websocket_link import WebSocketLink


@check("TR-HTTP-16", role="client")
async def sends_text_and_ignores_binary(stage: ClientStage) -> None:
    talk, prompt = await stage.to_prompt()
    link = cast("WebSocketLink", talk.peer.writing)
    asked = {"jsonrpc": "2.0", "id": "binary", "method": "_accord.dev/binary", "params": {}}
    await link.send_binary(as_json(asked).encode())
    said = "a binary frame ends the connection"
    if not stage.judge.judge("TR-HTTP-16", await talk.alive(), said):
        return
    await talk.end_turn(prompt)
    done = [one for one in talk.peer.received() if one.object.get("id") == "binary"]
    stage.judge.judge("TR-HTTP-16", not done, "a binary frame was answered", came=done)
    said = "the client sends binary frames"
    frames = stage.listener.binary_frames
    stage.judge.judge("TR-HTTP-16", not frames, said, came=frames[:1])


@check("TR-HTTP-01", role="client")
async def speaks_http_too(stage: ClientStage) -> None:
    await judge_other_transport(stage, "http")
