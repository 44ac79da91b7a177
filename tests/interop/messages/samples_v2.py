"""Good messages of ACP v2, one at least for every method and every update, written by hand.

They say what the validator must let through; nothing else may depend on them.
"""

from typing import Any

from tests.interop.messages.samples_v1 import Sample

Json = dict[str, Any]

SESSION = {"sessionId": "s1"}
TEXT = {"type": "text", "text": "hi", "annotations": {"audience": ["user"], "priority": 0.5}}
SELECT = {
    "type": "select",
    "configId": "model",
    "name": "Model",
    "category": "model",
    "currentValue": "a",
    "options": [{"value": "a", "name": "A"}],
}
GROUPED = {
    **SELECT,
    "options": [{"groupId": "g", "name": "G", "options": [{"value": "a", "name": "A"}]}],
}
FLAG = {"type": "boolean", "configId": "fast", "name": "Fast", "currentValue": True}
OWN_OPTION = {"type": "_slider", "configId": "heat", "name": "Heat", "from": 0, "to": 1}
CONFIG = {"configOptions": [SELECT, GROUPED, FLAG, OWN_OPTION]}
COMMAND = {
    "type": "command",
    "name": "run",
    "description": "Run",
    "input": {"type": "text", "hint": "file"},
}
STATE = {**CONFIG, "availableCommands": [COMMAND]}
CONTENTS = [
    {"type": "content", "content": TEXT},
    {
        "type": "content",
        "content": {
            "type": "image",
            "data": "AA==",
            "mimeType": "image/png",
            "uri": "https://example.com/a.png",
        },
    },
    {
        "type": "content",
        "content": {
            "type": "resource_link",
            "name": "x",
            "uri": "file:///x",
            "size": 0,
            "icons": [{"src": "https://example.com/i.png", "theme": "dark"}],
        },
    },
    {
        "type": "content",
        "content": {"type": "resource", "resource": {"uri": "file:///x", "blob": "AA=="}},
    },
    {
        "type": "diff",
        "changes": [
            {"operation": "add", "path": "/project/a", "fileType": "text", "_meta": {"any": 1}},
            {"operation": "move", "oldPath": "/project/b", "path": "/project/c"},
            {"operation": "_touch", "path": "/project/d"},
        ],
        "patch": {"format": "git_patch", "text": "diff"},
    },
    {"type": "terminal", "terminalId": "t1"},
    {"type": "_chart", "points": [1, 2]},
]
TOOL: Json = {
    "toolCallId": "c1",
    "name": "edit_file",
    "title": "Edit",
    "kind": "_paint",
    "status": "paused",
    "content": CONTENTS,
    "locations": [{"path": "/project/a.py", "line": 1}],
    "rawInput": {"any": {"thing": [1]}},
    "rawOutput": None,
    "capabilities": {"cancel": {}},
}
OPTIONS = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
FORM = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^a+$"}, "own": {"type": "_colour"}},
}

SAMPLES = [
    Sample(
        "initialize",
        {
            "protocolVersion": 2,
            "info": {"name": "c", "version": "1"},
            "capabilities": {"auth": {"terminal": {}}, "elicitation": {"form": {}, "url": None}},
        },
        {
            "protocolVersion": 2,
            "info": {"name": "a", "title": "A", "version": "1"},
            "capabilities": {
                "session": {
                    "prompt": {"image": {}, "audio": None, "embeddedContext": {}},
                    "mcp": {"stdio": {}, "http": {}},
                    "delete": {},
                    "additionalDirectories": {},
                    "_meta": {"example.com/x": {"any": 1}},
                }
            },
            "authMethods": [
                {"type": "agent", "methodId": "key", "name": "Key"},
                {"type": "terminal", "methodId": "tty", "name": "Tty", "env": []},
                {"type": "_magic", "methodId": "magic", "name": "Magic", "spell": "x"},
            ],
        },
    ),
    Sample("auth/login", {"methodId": "key"}, {}),
    Sample("auth/logout", {}, {"_meta": None}),
    Sample(
        "session/new",
        {
            "cwd": "/work",
            "mcpServers": [
                {"type": "stdio", "name": "local", "command": "/bin/mcp"},
                {"type": "http", "name": "far", "url": "https://example.com/mcp"},
                {"type": "_socket", "path": "/run/x"},
            ],
        },
        {**SESSION, **STATE},
    ),
    Sample(
        "session/list",
        {"cwd": "/work"},
        {"sessions": [{**SESSION, "cwd": "/work", "updatedAt": "2026-01-01T00:00:00+01:00"}]},
    ),
    Sample(
        "session/resume",
        {**SESSION, "cwd": "/work", "replayFrom": {"type": "start"}},
        STATE,
    ),
    Sample("session/close", SESSION, {}),
    Sample("session/delete", SESSION, {}),
    Sample("session/prompt", {**SESSION, "prompt": [TEXT]}, {"messageId": "m1"}),
    Sample("session/cancel", SESSION),
    Sample(
        "session/set_config_option",
        {**SESSION, "configId": "model", "type": "id", "value": "a"},
        CONFIG,
    ),
    Sample(
        "session/set_config_option",
        {**SESSION, "configId": "heat", "type": "_slider", "value": 0.5},
        CONFIG,
    ),
    Sample("tool_call/cancel", {**SESSION, "toolCallId": "c1"}, {}),
    Sample("terminal/cancel", {**SESSION, "terminalId": "t1"}, {}),
    Sample("$/cancel_request", {"requestId": 7}),
    Sample(
        "session/request_permission",
        {
            **SESSION,
            "title": "May I?",
            "description": "Because",
            "subject": {"type": "tool_call", "toolCall": TOOL},
            "options": OPTIONS,
        },
        {"outcome": {"outcome": "selected", "optionId": "y"}},
    ),
    Sample(
        "session/request_permission",
        {
            **SESSION,
            "title": "May I?",
            "subject": {"type": "command", "command": "ls", "cwd": "/work", "terminalId": None},
            "options": OPTIONS,
        },
        {"outcome": {"outcome": "cancelled", "_meta": {"why": 1}}},
    ),
    Sample(
        "elicitation/create",
        {**SESSION, "message": "Who?", "mode": "form", "requestedSchema": FORM},
        {"action": "accept", "content": {"name": "aa"}},
    ),
    Sample(
        "elicitation/create",
        {
            "requestId": "r",
            "message": "Log in",
            "mode": "url",
            "elicitationId": "e1",
            "url": "https://example.com",
        },
        {"action": "_later", "when": 1},
    ),
    Sample("elicitation/complete", {"elicitationId": "e1"}),
    # Unstable ones.
    Sample("auth/status", {}, {"state": "not_required"}),
    Sample("auth/status_update", {"state": "authenticated", "accounts": []}),
    Sample("providers/list", {}, {"providers": []}),
    Sample(
        "providers/set",
        {"providerId": "main", "apiType": "openai", "baseUrl": "https://example.com"},
        {},
    ),
    Sample("providers/disable", {"providerId": "main"}, {}),
    Sample(
        "session/fork",
        {**SESSION, "cwd": "/work", "systemPrompt": {"mode": "append", "content": [TEXT]}},
        {"sessionId": "s2", **STATE},
    ),
    Sample("session/archive", SESSION, {}),
    Sample("session/unarchive", SESSION, {}),
    Sample("session/status", SESSION, {"status": "open", "state": {"state": "running"}}),
    Sample("session/set_title", {**SESSION, "title": "T"}, {"title": "T"}),
    Sample(
        "mcp/message",
        {"serverId": "m", "requestId": "1", "method": "tools/list"},
        {"error": {"code": -32601, "message": "no", "data": {"any": 1}}},
    ),
    Sample("mcp/message", {"serverId": "m", "requestId": "1", "method": "notifications/x"}),
    Sample(
        "proxy/initialize",
        {"protocolVersion": 2, "info": {"name": "p", "version": "1"}},
        {"protocolVersion": 2, "info": {"name": "a", "version": "1"}},
    ),
    Sample("proxy/successor", {"method": "x", "params": {"any": 1}}, {"any": [1]}),
    Sample("proxy/successor", {"method": "x"}),
]

CHUNK = {"messageId": "m1", "content": TEXT}
WHOLE = {"messageId": "m1", "content": [TEXT]}
ENTRY = {"content": "Do", "priority": "high", "status": "cancelled"}
TERMINAL = {"terminalId": "t1"}

UPDATES: list[Json] = [
    {"sessionUpdate": "user_message_chunk", **CHUNK},
    {"sessionUpdate": "user_message", **WHOLE},
    {"sessionUpdate": "agent_message_chunk", **CHUNK},
    {"sessionUpdate": "agent_message", "messageId": "m1", "content": None, "_meta": {"a": None}},
    {"sessionUpdate": "agent_thought_chunk", **CHUNK},
    {"sessionUpdate": "agent_thought", **WHOLE},
    {
        "sessionUpdate": "state_update",
        "state": "running",
        "background": [{"type": "terminal", **TERMINAL}],
    },
    {"sessionUpdate": "state_update", "state": "requires_action"},
    {"sessionUpdate": "state_update", "state": "idle"},
    {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"},
    {"sessionUpdate": "state_update", "state": "idle", "stopReason": "_tired", "since": 1},
    {
        "sessionUpdate": "state_update",
        "state": "idle",
        "stopReason": "error",
        "error": {"code": -32603, "message": "broken"},
    },
    {"sessionUpdate": "state_update", "state": "_dreaming", "depth": 3},
    {"sessionUpdate": "tool_call_update", **TOOL},
    {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c1", "content": CONTENTS[0]},
    {
        "sessionUpdate": "terminal_update",
        **TERMINAL,
        "command": "ls",
        "cwd": "/work",
        "output": {"data": "aGk="},
        "exitStatus": {"exitCode": -1},
        "size": {"cols": 80, "rows": 24},
        "capabilities": {"cancel": {}},
    },
    {"sessionUpdate": "terminal_output_chunk", **TERMINAL, "data": "aGk="},
    {
        "sessionUpdate": "plan_update",
        "plan": {"type": "items", "planId": "p", "entries": [ENTRY]},
    },
    {"sessionUpdate": "available_commands_update", "availableCommands": [COMMAND]},
    {"sessionUpdate": "config_option_update", **CONFIG},
    {"sessionUpdate": "session_info_update", "title": "T", "updatedAt": None},
    {"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": None},
    {"sessionUpdate": "notice", "severity": "_loud", "title": "T"},
    {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "in_progress"},
    {"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": TEXT},
    {"sessionUpdate": "_weather", "any": {"thing": 1}},
    # Unstable ones.
    {"sessionUpdate": "plan_removed", "planId": "p"},
    {"sessionUpdate": "subagent_update", "sessionId": "s3", "state": {"state": "unknown"}},
    {"sessionUpdate": "session_message", "messageId": "m2", "content": [TEXT]},
    {"sessionUpdate": "session_message_chunk", "messageId": "m2", "content": TEXT},
]
