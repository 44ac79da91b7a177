"""Good messages of ACP v1, one at least for every method and every update, written by hand.

They say what the validator must let through; nothing else may depend on them.
"""

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """A request with its result, or a notification when there is no result."""

    method: str
    params: Json
    result: Any = None


SESSION = {"sessionId": "s1"}
PLACE = {"cwd": "/work", "mcpServers": []}
TEXT = {"type": "text", "text": "hi"}
MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]}
SELECT = {
    "type": "select",
    "id": "model",
    "name": "Model",
    "category": "model",
    "currentValue": "a",
    "options": [{"value": "a", "name": "A"}],
}
GROUPED = {
    **SELECT,
    "category": "_mine",
    "options": [{"group": "g", "name": "G", "options": [{"value": "a", "name": "A"}]}],
}
FLAG = {"type": "boolean", "id": "fast", "name": "Fast", "currentValue": True}
STATE = {"modes": MODES, "configOptions": [SELECT, GROUPED, FLAG]}
STDIO_SERVER = {"name": "local", "command": "/bin/mcp", "args": [], "env": []}
HTTP_SERVER = {
    "type": "http",
    "name": "far",
    "url": "https://example.com/mcp",
    "headers": [{"name": "X", "value": "y"}],
}
TERMINAL = {**SESSION, "terminalId": "t1"}
CONTENTS = [
    {"type": "content", "content": TEXT},
    {"type": "content", "content": {"type": "image", "data": "AA==", "mimeType": "image/png"}},
    {"type": "content", "content": {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}},
    {"type": "content", "content": {"type": "resource_link", "name": "x", "uri": "file:///x"}},
    {
        "type": "content",
        "content": {"type": "resource", "resource": {"uri": "file:///x", "text": "x"}},
    },
    {"type": "diff", "path": "/project/a.py", "oldText": None, "newText": "x"},
    {"type": "terminal", "terminalId": "t1", "_meta": {"mine": {"any": [1, None]}}},
]
TOOL = {
    "toolCallId": "c1",
    "title": "Edit",
    "kind": "edit",
    "status": "pending",
    "content": CONTENTS,
    "locations": [{"path": "/project/a.py", "line": 4294967295}],
    "rawInput": {"any": {"thing": [1]}},
    "rawOutput": [True],
}
FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "format": "email"},
        "age": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a"]}},
        "titled": {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}},
        "own": {"type": "_colour", "palette": "warm"},
    },
    "required": ["name"],
}

SAMPLES = [
    Sample(
        "initialize",
        {
            "protocolVersion": 1,
            "clientInfo": {"name": "c", "title": None, "version": "1"},
            "clientCapabilities": {
                "fs": {"readTextFile": True, "writeTextFile": True},
                "terminal": True,
                "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
                "auth": {"terminal": True},
                "elicitation": {"form": {}, "url": {}},
                "_meta": {"example.com/x": 1},
            },
        },
        {
            "protocolVersion": 1,
            "agentInfo": {"name": "a", "version": "1"},
            "authMethods": [
                {"id": "key", "name": "Key"},
                {"type": "terminal", "id": "tty", "name": "Tty", "args": [], "env": {"A": "b"}},
            ],
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
                "mcpCapabilities": {"http": True, "sse": False},
                "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}},
                "auth": {"logout": {}},
            },
        },
    ),
    Sample("authenticate", {"methodId": "key"}, {}),
    Sample("logout", {}, {}),
    Sample(
        "session/new",
        {"cwd": "/work", "mcpServers": [STDIO_SERVER, HTTP_SERVER]},
        {**SESSION, **STATE},
    ),
    Sample("session/load", {**SESSION, **PLACE, "additionalDirectories": ["/lib"]}, STATE),
    Sample("session/resume", {**SESSION, "cwd": "C:\\work"}, {}),
    Sample(
        "session/list",
        {"cwd": None, "cursor": "x"},
        {"sessions": [{**SESSION, "cwd": "/work", "title": "T"}], "nextCursor": None},
    ),
    Sample("session/delete", SESSION, {}),
    Sample("session/close", SESSION, {}),
    Sample("session/set_mode", {**SESSION, "modeId": "ask"}, {}),
    Sample(
        "session/set_config_option",
        {**SESSION, "configId": "model", "value": "a"},
        {"configOptions": [SELECT]},
    ),
    Sample(
        "session/set_config_option",
        {**SESSION, "configId": "fast", "type": "boolean", "value": True},
        {"configOptions": [FLAG]},
    ),
    Sample("session/prompt", {**SESSION, "prompt": [TEXT]}, {"stopReason": "end_turn"}),
    Sample("session/cancel", SESSION),
    Sample("$/cancel_request", {"requestId": "7"}),
    Sample("fs/read_text_file", {**SESSION, "path": "/a", "line": 1, "limit": 2}, {"content": ""}),
    Sample("fs/write_text_file", {**SESSION, "path": "/a", "content": "x"}, {}),
    Sample(
        "session/request_permission",
        {
            **SESSION,
            "toolCall": {"toolCallId": "c1"},
            "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}],
        },
        {"outcome": {"outcome": "selected", "optionId": "y"}},
    ),
    Sample(
        "session/request_permission",
        {**SESSION, "toolCall": TOOL, "options": []},
        {"outcome": {"outcome": "cancelled"}},
    ),
    Sample(
        "terminal/create",
        {
            **SESSION,
            "command": "ls",
            "args": ["-l"],
            "env": [{"name": "A", "value": "b"}],
            "cwd": "/work",
            "outputByteLimit": 10,
        },
        {"terminalId": "t1"},
    ),
    Sample(
        "terminal/output",
        TERMINAL,
        {"output": "x", "truncated": False, "exitStatus": {"exitCode": 0, "signal": None}},
    ),
    Sample("terminal/wait_for_exit", TERMINAL, {"exitCode": None, "signal": "SIGTERM"}),
    Sample("terminal/kill", TERMINAL, {}),
    Sample("terminal/release", TERMINAL, {}),
    Sample(
        "elicitation/create",
        {**SESSION, "message": "Who?", "mode": "form", "requestedSchema": FORM},
        {"action": "accept", "content": {"name": "x", "age": 3, "tags": ["a"]}},
    ),
    Sample(
        "elicitation/create",
        {
            "requestId": 3,
            "message": "Log in",
            "mode": "url",
            "elicitationId": "e1",
            "url": "https://example.com",
        },
        {"action": "decline"},
    ),
    Sample("elicitation/complete", {"elicitationId": "e1"}),
    # Unstable ones.
    Sample("auth/status", {}, {"state": "authenticated", "accounts": [{"label": "me"}]}),
    Sample("auth/status_update", {"state": "unauthenticated"}),
    Sample(
        "providers/list",
        {},
        {
            "providers": [
                {
                    "providerId": "main",
                    "supported": ["openai"],
                    "required": True,
                    "current": {"apiType": "openai", "baseUrl": "https://example.com"},
                }
            ]
        },
    ),
    Sample(
        "providers/set",
        {
            "providerId": "main",
            "apiType": "_own",
            "baseUrl": "https://example.com",
            "headers": {"A": "b"},
        },
        {},
    ),
    Sample("providers/disable", {"providerId": "main"}, {}),
    Sample("session/fork", {**SESSION, "cwd": "/work"}, {"sessionId": "s2"}),
    Sample("session/archive", SESSION, {}),
    Sample("session/unarchive", SESSION, {}),
    Sample("session/status", SESSION, {"status": "open"}),
    Sample("session/set_title", {**SESSION, "title": "T"}, {"title": "T"}),
    Sample(
        "mcp/message",
        {"serverId": "m", "requestId": "1", "method": "tools/list", "params": {"any": 1}},
        {"result": {"tools": []}},
    ),
    Sample("mcp/message", {"serverId": "m", "requestId": "1", "method": "notifications/x"}),
    Sample("proxy/initialize", {"protocolVersion": 1}, {"protocolVersion": 1}),
    Sample("proxy/successor", {"method": "x", "params": {"any": 1}}, {"any": [1]}),
    Sample("proxy/successor", {"method": "x"}),
]

CHUNK = {"content": TEXT, "messageId": "m1"}
ENTRY = {"content": "Do", "priority": "high", "status": "pending"}

UPDATES: list[Json] = [
    {"sessionUpdate": "user_message_chunk", "content": TEXT},
    {"sessionUpdate": "agent_message_chunk", **CHUNK},
    {"sessionUpdate": "agent_thought_chunk", **CHUNK},
    {"sessionUpdate": "tool_call", **TOOL, "name": "edit_file"},
    {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"},
    {"sessionUpdate": "plan", "entries": [ENTRY]},
    {
        "sessionUpdate": "available_commands_update",
        "availableCommands": [{"name": "a", "description": "A", "input": {"hint": "h"}}],
    },
    {"sessionUpdate": "current_mode_update", "currentModeId": "ask"},
    {"sessionUpdate": "config_option_update", "configOptions": [SELECT]},
    {"sessionUpdate": "session_info_update", "title": None, "updatedAt": "2026-01-01T00:00:00Z"},
    {
        "sessionUpdate": "usage_update",
        "used": 0,
        "size": 18446744073709551615,
        "cost": {"amount": 1, "currency": "USD"},
    },
    {"sessionUpdate": "notice", "severity": "info", "title": "T"},
    {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "completed"},
    {"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": TEXT},
    # Unstable ones.
    {
        "sessionUpdate": "plan_update",
        "plan": {"type": "markdown", "planId": "p", "content": "# Plan"},
    },
    {"sessionUpdate": "plan_removed", "planId": "p"},
    {
        "sessionUpdate": "subagent_update",
        "sessionId": "s3",
        "title": "Helper",
        "state": {"state": "idle", "stopReason": "end_turn"},
        "cwd": "/work",
    },
    {"sessionUpdate": "session_message", "messageId": "m2", "content": [TEXT]},
    {"sessionUpdate": "session_message_chunk", "messageId": "m2", "content": TEXT},
]
