"""What differs between the sessions of agents of version 1 and of version 2.  Pure.

Everything else in `sessions/` and `clients/` is written once, and looks here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from accord.gateway.agents.agent_process import Answer, Version
from accord.jsonrpc.error_codes import REQUEST_CANCELLED
from accord.schema.codec import encode
from accord.schema.struct import Raw


@dataclass(frozen=True)
class SessionVersion:
    """How the sessions of one version work."""

    # Where `initialize` has the capabilities of either side.
    client_capabilities: str
    agent_capabilities: str
    # The answer to a prompt is the end of its turn, so that prompts run one by one.  Otherwise the
    # agent answers at once, repeats the prompt as a message, and reports its state.
    answer_ends_turn: bool
    # The answer to a prompt that was cancelled before the agent got it.
    cancelled: Callable[[], Answer]
    # The update that shows a sentence of the gateway: its text, and the number of its event.
    remark: Callable[[str, int], dict[str, Any]]
    # What the gateway adds to an agent's capabilities.
    with_gateway: Callable[[Mapping[str, Any]], dict[str, Any]]


REMARK_META: Final = "accord.remark"
"""In the `_meta` of an update that the gateway made, and not the agent."""


def _cancelled_v1() -> Answer:
    answer = Answer()
    answer.answered(Raw(encode({"stopReason": "cancelled"})))
    return answer


def request_cancelled() -> Answer:
    """Return the answer to a request that was taken back."""
    answer = Answer()
    answer.failed(REQUEST_CANCELLED, "Request cancelled", None)
    return answer


def _remark_v1(text: str, seq: int) -> dict[str, Any]:
    del seq
    return {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": text},
        "_meta": {REMARK_META: True},
    }


def _remark_v2(text: str, seq: int) -> dict[str, Any]:
    return {
        "sessionUpdate": "agent_message",
        "messageId": f"remark-{seq}",
        "content": [{"type": "text", "text": text}],
        "_meta": {REMARK_META: True},
    }


def _with_gateway_v1(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    of_sessions = dict(capabilities.get("sessionCapabilities") or {})
    of_sessions |= {"list": {}, "close": {}, "delete": {}, "resume": {}}
    return {**capabilities, "loadSession": True, "sessionCapabilities": of_sessions}


def _with_gateway_v2(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    session = {**(capabilities.get("session") or {}), "delete": {}}
    mcp = session.get("mcp")
    if isinstance(mcp, dict):
        session["mcp"] = {name: one for name, one in mcp.items() if name != "stdio"}
    return {**capabilities, "session": session}


VERSIONS: Final[Mapping[Version, SessionVersion]] = {
    "v1": SessionVersion(
        client_capabilities="clientCapabilities",
        agent_capabilities="agentCapabilities",
        answer_ends_turn=True,
        cancelled=_cancelled_v1,
        remark=_remark_v1,
        with_gateway=_with_gateway_v1,
    ),
    "v2": SessionVersion(
        client_capabilities="capabilities",
        agent_capabilities="capabilities",
        answer_ends_turn=False,
        cancelled=request_cancelled,
        remark=_remark_v2,
        with_gateway=_with_gateway_v2,
    ),
}
