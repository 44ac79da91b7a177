"""One call to an MCP server over ACP: the draft's `_mcp/request`, v1's `mcp/message`.

An error of the inner call stays apart from errors of ACP: it travels under `data.error` with the
reason `mcp_error`.  A call to a server that was not declared for this goes on as the extension
method that it is.
"""

from __future__ import annotations

from typing import Any, Final

from accord.jsonrpc.error_codes import INTERNAL_ERROR
from accord.schema import v1
from accord.translate.adapter import Outs
from accord.translate.draft.bridge import DraftBridge, invalid
from accord.translate.draft.conversion.meta_restore import fits
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    Failure,
    Json,
    Request,
    Result,
    Side,
)

DRAFT_METHOD: Final = "_mcp/request"
OFFICIAL_METHOD: Final = "mcp/message"
MCP_ERROR: Final = "mcp_error"


def check_call(params: Json) -> None:
    """Refuse a call that names no server or method.

    Raises:
        CannotTranslate: it names none.
    """
    for name in ("serverName", "mcpMethod"):
        if not isinstance(params.get(name), str):
            raise invalid(f"{DRAFT_METHOD} needs `{name}`")


class McpCallsOfAgent:
    """Calls of a draft agent to servers of a v1 client."""

    def __init__(self, bridge: DraftBridge, servers: dict[str, str]) -> None:
        self._bridge = bridge
        self._servers = servers
        bridge.on_request[AGENT, DRAFT_METHOD] = self._call
        bridge.on_request[CLIENT, DRAFT_METHOD] = self._to_agent

    def _to_agent(self, request: Request) -> Outs:
        check_call(request.params)
        return self._bridge.pass_on(CLIENT, request, AGENT)

    def _call(self, request: Request) -> Outs:
        check_call(request.params)
        params = dict(request.params)
        server = self._servers.get(params["serverName"])
        inner = params.pop("mcpParams", None)
        if server is None or not (inner is None or isinstance(inner, dict)):
            return self._bridge.pass_on(AGENT, request, CLIENT)
        del params["serverName"]
        asked: Json = {
            "serverId": server,
            "requestId": self._bridge.around.fresh(),
            "method": params.pop("mcpMethod"),
            **params,
        }
        if inner is not None:
            asked["params"] = inner

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._bridge.fail(AGENT, request.key, answer)]
            return [(AGENT, _inner_answer(request, answer.result))]

        ask = self._bridge.ask
        return [ask(CLIENT, OFFICIAL_METHOD, asked, then, instead_of=request, of=AGENT)]


def _inner_answer(request: Request, result: Json) -> Answer:
    if "result" in result:
        return Result(request.key, result["result"])
    error = result["error"]
    data = {"reason": MCP_ERROR, "error": error}
    return Failure(request.key, INTERNAL_ERROR, str(error.get("message")), data)


class McpCallsOfClient:
    """Calls of a v1 agent to servers of a draft client."""

    def __init__(self, bridge: DraftBridge) -> None:
        self._bridge = bridge
        bridge.on_request[AGENT, OFFICIAL_METHOD] = self._call
        for side in (AGENT, CLIENT):
            bridge.on_request[side, DRAFT_METHOD] = _Checked(bridge, side)

    def _call(self, request: Request) -> Outs:
        params = dict(request.params)
        asked: Json = {
            "serverName": params.pop("serverId"),
            "mcpMethod": params.pop("method"),
        }
        del params["requestId"]
        inner = params.pop("params", None)
        asked.update(params)
        if inner is not None:
            asked["mcpParams"] = inner

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Result):
                return [(AGENT, Result(request.key, {"result": answer.result}))]
            error = _inner_error(answer.data)
            if error is None:
                return [self._bridge.fail(AGENT, request.key, answer)]
            return [(AGENT, Result(request.key, {"error": error}))]

        ask = self._bridge.ask
        return [ask(CLIENT, DRAFT_METHOD, asked, then, instead_of=request, of=AGENT)]


class _Checked:
    """Passes on a call if it is valid."""

    def __init__(self, bridge: DraftBridge, side: Side) -> None:
        self._bridge = bridge
        self._side = side

    def __call__(self, request: Request) -> Outs:
        check_call(request.params)
        other = AGENT if self._side is CLIENT else CLIENT
        return self._bridge.pass_on(self._side, request, other)


def _inner_error(data: Any) -> Json | None:
    if not isinstance(data, dict) or data.get("reason") != MCP_ERROR:
        return None
    error = data.get("error")
    return error if isinstance(error, dict) and fits(v1.McpError, error) else None
