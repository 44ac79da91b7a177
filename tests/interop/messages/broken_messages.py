"""Messages that break the protocol, each in one way, with what the validator must say of it."""

from dataclasses import dataclass
from typing import Any

from tests.interop.messages.validator import Side

Json = dict[str, Any]


def request(method: str, params: Any, request_id: Any = 1) -> Json:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def notification(method: str, params: Any) -> Json:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def answer(result: Any, request_id: Any = 1) -> Json:
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def update(fields: Json) -> Json:
    return notification("session/update", {"sessionId": "s1", "update": fields})


@dataclass(frozen=True)
class Broken:
    """A message that must fail, after others that set the scene."""

    why: str
    version: int
    side: Side
    message: Any
    problem: str
    before: tuple[tuple[Side, Json], ...] = ()


S = {"sessionId": "s1"}
TEXT = {"type": "text", "text": "hi"}
READ = request("fs/read_text_file", {**S, "path": "/a"})
PROMPT = request("session/prompt", {**S, "prompt": [TEXT]})
NEW = request("session/new", {"cwd": "/work", "mcpServers": []})


def tool(**fields: Any) -> Json:
    return update({"sessionUpdate": "tool_call_update", "toolCallId": "c", **fields})


def chunk(content: Json) -> Json:
    fields = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": content}
    return update(fields)


BROKEN = [
    Broken("missing required", 1, "client", request("session/new", {"cwd": "/a"}), "mcpServers"),
    Broken("wrong type", 1, "agent", chunk({"type": "text", "text": 5}), "is not string"),
    Broken("key at the root", 1, "agent", chunk(TEXT) | {"extra": 1}, "unknown key 'extra'"),
    Broken(
        "key in params",
        2,
        "client",
        request("session/close", {**S, "force": True}),
        "$.params: unknown key 'force'",
    ),
    Broken(
        "key in a union member",
        1,
        "agent",
        tool(content=[{"type": "content", "content": {**TEXT, "bold": True}}]),
        "unknown key 'bold'",
    ),
    Broken(
        "key in a union member, v2",
        2,
        "agent",
        tool(content=[{"type": "terminal", "terminalId": "t", "colour": 1}]),
        "unknown key 'colour'",
    ),
    Broken("unknown tag in v1", 1, "agent", chunk({"type": "_x"}), "none of the variants"),
    Broken("unknown tag", 2, "agent", chunk({"type": "video"}), "none of the variants"),
    Broken("unknown update", 2, "agent", update({"sessionUpdate": "plan"}), "none of the variants"),
    Broken("unknown enum value", 2, "agent", tool(kind="paint"), "none of the variants"),
    Broken("unknown enum value in v1", 1, "agent", tool(status="_x"), "none of the variants"),
    Broken(
        "unknown stop reason",
        2,
        "agent",
        update({"sessionUpdate": "state_update", "state": "idle", "stopReason": "bored"}),
        "stopReason: 'bored'",
    ),
    Broken(
        "key beside a stop reason",
        2,
        "agent",
        update(
            {
                "sessionUpdate": "state_update",
                "state": "idle",
                "stopReason": "end_turn",
                "error": {"code": 1, "message": "x"},
            }
        ),
        "unknown key 'error'",
    ),
    Broken("null", 2, "agent", chunk({"type": "text", "text": None}), "is not string"),
    Broken(
        "null for a list",
        1,
        "client",
        request("session/new", {"cwd": "/a", "mcpServers": None}),
        "is not array",
    ),
    Broken("null params", 1, "client", request("session/list", None), "is not object"),
    Broken(
        "negative uint",
        1,
        "agent",
        request("fs/read_text_file", {**S, "path": "/a", "line": -1}),
        "out of bounds",
    ),
    Broken(
        "uint above its bound",
        1,
        "agent",
        request("fs/read_text_file", {**S, "path": "/a", "limit": 2**32}),
        "out of bounds",
    ),
    Broken("line 0", 2, "agent", tool(locations=[{"path": "/a", "line": 0}]), "out of bounds"),
    Broken(
        "fraction for an integer",
        1,
        "agent",
        request("fs/read_text_file", {**S, "path": "/a", "line": 1.0}),
        "is not integer",
    ),
    Broken(
        "boolean for an integer",
        1,
        "agent",
        request("fs/read_text_file", {**S, "path": "/a", "line": True}),
        "is not integer",
    ),
    Broken("empty prompt", 2, "client", request("session/prompt", {**S, "prompt": []}), "at least"),
    Broken("unknown id", 1, "agent", answer({}, 9), "nobody asked"),
    Broken("own id", 1, "client", answer({"content": ""}), "nobody asked", (("client", NEW),)),
    Broken(
        "second answer",
        1,
        "agent",
        answer(S),
        "nobody asked",
        (("client", NEW), ("agent", answer(S))),
    ),
    Broken("id of another type", 1, "agent", answer(S, "1"), "nobody asked", (("client", NEW),)),
    Broken("open id used again", 1, "client", NEW, "still open", (("client", NEW),)),
    Broken("null id", 1, "client", request("session/list", {}, None), "neither a string"),
    Broken("fraction as id", 2, "client", request("session/list", {}, 1.5), "neither a string"),
    Broken(
        "result and error",
        1,
        "agent",
        {**answer(S), "error": {"code": 1, "message": "x"}},
        "exactly one",
        (("client", NEW),),
    ),
    Broken(
        "neither result nor error",
        1,
        "agent",
        {"jsonrpc": "2.0", "id": 1},
        "exactly one",
        (("client", NEW),),
    ),
    Broken("null result", 1, "agent", answer(None), "is not object", (("client", NEW),)),
    Broken(
        "wrong result",
        2,
        "agent",
        answer({"stopReason": "end_turn"}),
        "missing 'messageId'",
        (("client", PROMPT),),
    ),
    Broken(
        "error without message",
        1,
        "client",
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603}},
        "missing 'message'",
        (("agent", READ),),
    ),
    Broken(
        "error with a key of its own",
        2,
        "agent",
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "x", "hint": 1}},
        "unknown key 'hint'",
    ),
    Broken(
        "version error without versions",
        2,
        "agent",
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32022, "message": "x", "data": {}}},
        "missing 'supported'",
        (("client", NEW),),
    ),
    Broken(
        "v2 method on v1", 1, "client", request("auth/login", {"methodId": "k"}), "not a request of"
    ),
    Broken("v1 method on v2", 2, "agent", READ, "not a request of"),
    Broken("unstable method", 1, "client", request("session/fork", S), "not a request of"),
    Broken("wrong side", 1, "client", READ, "handled by the client"),
    Broken("wrong side, v2", 2, "agent", PROMPT, "handled by the agent"),
    Broken(
        "notification as a request", 1, "client", request("session/cancel", S), "not a request of"
    ),
    Broken(
        "request as a notification",
        1,
        "client",
        notification("session/close", S),
        "not a notification of",
    ),
    Broken("no jsonrpc", 1, "client", {"id": 1, "method": "session/list"}, "'2.0'"),
    Broken("batch", 2, "client", [NEW], "an object"),
    Broken("method of no name", 1, "client", notification("x", {}) | {"method": 5}, "not a string"),
    Broken("relative path", 1, "client", request("session/resume", {**S, "cwd": "w"}), "absolute"),
    Broken("relative path, v2", 2, "client", request("session/list", {"cwd": "w"}), "absolute"),
    Broken(
        "bad base64",
        2,
        "agent",
        update({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "hi!"}),
        "not base64",
    ),
    Broken(
        "bad time",
        2,
        "agent",
        update({"sessionUpdate": "session_info_update", "updatedAt": "yesterday"}),
        "RFC 3339",
    ),
    Broken(
        "two scopes",
        1,
        "agent",
        request(
            "elicitation/create",
            {
                **S,
                "requestId": 1,
                "message": "m",
                "mode": "url",
                "elicitationId": "e",
                "url": "https://example.com",
            },
        ),
        "unknown key",
    ),
    Broken(
        "initialize with a key of no version",
        1,
        "client",
        request("initialize", {"protocolVersion": 1, "editor": "x"}),
        "unknown key 'editor'",
    ),
    Broken(
        "initialize with a bad key of the other version",
        1,
        "client",
        request("initialize", {"protocolVersion": 2, "info": {"name": "c"}}),
        "missing 'version'",
    ),
    Broken(
        "both versions' keys in an answer",
        1,
        "agent",
        answer({"protocolVersion": 1, "info": {"name": "a", "version": "1"}}),
        "unknown key 'info'",
        (("client", request("initialize", {"protocolVersion": 1})),),
    ),
]
