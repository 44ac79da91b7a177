"""One message or more for each method and each update of the 2026-02 draft, as JSON values.

`PARAMS` and `RESULTS` are pairs of method and value, `UPDATES` pairs of update type and data.
"""

from typing import Any

Example = tuple[str, dict[str, Any]]

PARAMS: list[Example] = [
    (
        "initialize",
        {
            "protocolVersion": 1,
            "clientInfo": {"name": "pencil", "version": "3.2"},
            "capabilities": {
                "fs": {"read": True, "write": True, "watch": False},
                "terminal": {"create": True, "interactive": False, "maxConcurrent": 3},
                "ui": {"permissionDialogs": True, "diffViewer": False, "codeNavigation": True},
                "_custom": {"acpUpdates": True, "depth": {"max": 4}},
            },
        },
    ),
    (
        "initialize",
        {"protocolVersion": 1, "clientInfo": {"name": "p", "version": "0"}, "capabilities": {}},
    ),
    ("authenticate", {"method": "api_key", "credentials": {"apiKey": "not-a-real-key"}}),
    ("authenticate", {"method": "oauth2", "credentials": {}}),
    ("session/new", {"workingDirectory": "/srv/garden"}),
    (
        "session/new",
        {
            "workingDirectory": "C:\\garden",
            "systemPrompt": "Answer in rhymes.",
            "initialMode": "plan",
            "configOptions": {"maxTokens": 900, "autoApprove": False},
            "mcpServers": [
                {
                    "name": "weather",
                    "transport": {
                        "type": "stdio",
                        "command": "weatherd",
                        "args": ["--city", "Turku"],
                        "env": {"LEVEL": "2"},
                        "cwd": "/srv",
                    },
                },
                {
                    "name": "tides",
                    "transport": {
                        "type": "http",
                        "url": "https://tides.example/mcp",
                        "headers": {"X-Team": "blue"},
                        "timeout": 1500,
                    },
                },
                {
                    "name": "birds",
                    "transport": {
                        "type": "sse",
                        "url": "https://birds.example/events",
                        "headers": {"X-Team": "red"},
                    },
                },
                {
                    "name": "neighbour",
                    "transport": {
                        "type": "acp",
                        "agentUrl": "acp://next.example",
                        "mcpServerName": "shed",
                    },
                },
            ],
        },
    ),
    ("session/load", {"sessionId": "s-7"}),
    (
        "session/prompt",
        {
            "sessionId": "s-7",
            "content": [
                {"type": "text", "text": "Water the roses"},
                {
                    "type": "image",
                    "source": {"type": "base64", "mediaType": "image/png", "data": "cm9zZQ=="},
                },
                {
                    "type": "image",
                    "source": {"type": "url", "mediaType": "image/gif", "url": "https://a.example"},
                },
                {
                    "type": "audio",
                    "source": {"type": "base64", "mediaType": "audio/wav", "data": "aHVt"},
                },
                {
                    "type": "resource_link",
                    "uri": "file:///srv/garden/beds.txt",
                    "mimeType": "text/plain",
                    "title": "The beds",
                },
                {
                    "type": "resource",
                    "uri": "file:///srv/garden/map.txt",
                    "mimeType": "text/plain",
                    "title": "The map",
                    "content": "roses: north",
                },
            ],
            "attachments": [
                {"uri": "file:///srv/garden/log.txt", "name": "log", "mimeType": "text/plain"},
                {"path": "/srv/garden/note.txt", "content": "mind the bees"},
            ],
            "_meta": {"trace": "t-1"},
        },
    ),
    ("session/set_mode", {"sessionId": "s-7", "mode": "architect"}),
    ("session/set_config_option", {"sessionId": "s-7", "key": "hoses", "value": [1, None]}),
    ("session/cancel", {"sessionId": "s-7"}),
    ("session/cancel", {"sessionId": "s-7", "reason": "user_requested"}),
    ("terminal/output", {"terminalId": "t-2", "data": "drip\n", "stream": "stdout"}),
    (
        "_mcp/request",
        {"serverName": "shed", "mcpMethod": "tools/call", "mcpParams": {"name": "rake"}},
    ),
    (
        "session/update",
        {
            "sessionId": "s-7",
            "type": "agent_message_chunk",
            "data": {"content": "Done", "index": 0},
            "timestamp": "2026-03-01T08:00:00Z",
        },
    ),
    (
        "session/request_permission",
        {
            "sessionId": "s-7",
            "operation": "file_write",
            "resource": "/srv/garden/beds.txt",
            "reason": "to move the roses",
            "toolCallId": "c-1",
        },
    ),
    ("fs/read_text_file", {"path": "beds.txt"}),
    (
        "fs/read_text_file",
        {"path": "/srv/garden/beds.txt", "encoding": "utf-8", "startLine": 2, "endLine": 5},
    ),
    (
        "fs/write_text_file",
        {
            "path": "/srv/garden/beds.txt",
            "content": "roses: south",
            "encoding": "utf-8",
            "createDirectories": True,
            "overwrite": False,
        },
    ),
    (
        "terminal/create",
        {
            "command": "sprinkle",
            "args": ["-v"],
            "cwd": "/srv/garden",
            "env": {"RAIN": "0"},
            "timeout": 60000,
        },
    ),
    ("terminal/wait_for_exit", {"terminalId": "t-2", "timeout": 250}),
    ("terminal/kill", {"terminalId": "t-2", "signal": "SIGINT", "force": True}),
    ("terminal/release", {"terminalId": "t-2"}),
]

RESULTS: list[Example] = [
    (
        "initialize",
        {
            "protocolVersion": 1,
            "agentInfo": {"name": "gardener", "version": "0.4"},
            "capabilities": {
                "loadSession": True,
                "mcpCapabilities": {"servers": True, "transport": ["stdio", "sse"]},
                "promptCapabilities": {
                    "streaming": True,
                    "cancellation": False,
                    "attachments": True,
                },
                "sessionCapabilities": {
                    "modes": ["default", "ask"],
                    "configOptions": ["hoses"],
                    "persistence": True,
                },
                "_custom": {"pruning": True},
            },
            "requiredClientCapabilities": {"fs": {"read": True}},
        },
    ),
    ("authenticate", {"success": True, "expiresAt": "2026-03-02T00:00:00Z"}),
    ("authenticate", {"success": False, "error": "wrong key"}),
    ("session/new", {"sessionId": "s-7", "createdAt": "2026-03-01T07:59:00Z"}),
    (
        "session/load",
        {
            "sessionId": "s-7",
            "workingDirectory": "/srv/garden",
            "mode": "plan",
            "configOptions": {"hoses": 2},
            "messageCount": 14,
        },
    ),
    ("session/prompt", {"stopReason": "end_turn"}),
    (
        "session/prompt",
        {"stopReason": "max_tokens", "usage": {"inputTokens": 12, "outputTokens": 34}},
    ),
    ("session/set_mode", {"previousMode": "default", "currentMode": "architect"}),
    (
        "session/set_config_option",
        {"key": "hoses", "previousValue": None, "currentValue": {"left": 1}},
    ),
    ("terminal/output", {"received": True}),
    ("_mcp/request", {"content": []}),
    ("session/request_permission", {"granted": True, "remember": True, "scope": "workspace"}),
    ("session/request_permission", {"granted": False}),
    (
        "fs/read_text_file",
        {"content": "roses: north", "encoding": "utf-8", "totalLines": 1, "truncated": False},
    ),
    ("fs/write_text_file", {"bytesWritten": 12, "created": False}),
    ("terminal/create", {"terminalId": "t-2", "pid": 4711}),
    ("terminal/wait_for_exit", {"exitCode": -1, "signal": "SIGINT", "timedOut": True}),
    ("terminal/kill", {"killed": True}),
    ("terminal/release", {"released": False}),
]

UPDATES: list[Example] = [
    (
        "plan",
        {
            "planId": "p-1",
            "steps": [
                {"id": "a", "description": "Fill the can", "status": "completed"},
                {"id": "b", "description": "Pour", "status": "skipped"},
            ],
        },
    ),
    ("agent_message_chunk", {"content": "The roses ", "index": 0, "final": False}),
    ("user_message_chunk", {"content": "Water", "index": 0, "final": True}),
    ("thought_message_chunk", {"content": "Is it dry?", "index": 3, "visible": False}),
    (
        "tool_call",
        {
            "id": "c-1",
            "tool": "fs/write_text_file",
            "input": {"path": "/srv/garden/beds.txt"},
            "status": "pending",
            "requiresPermission": True,
        },
    ),
    (
        "tool_call",
        {
            "id": "c-2",
            "tool": "web/fetch",
            "input": {},
            "location": {
                "path": "/srv/garden/beds.txt",
                "line": 4,
                "column": 2,
                "endLine": 6,
                "endColumn": 1,
            },
        },
    ),
    (
        "tool_call_update",
        {
            "id": "c-1",
            "status": "completed",
            "output": {"type": "text", "text": "moved"},
            "duration": 12,
        },
    ),
    (
        "tool_call_update",
        {
            "id": "c-1",
            "status": "completed",
            "output": {
                "type": "diff",
                "path": "/srv/garden/beds.txt",
                "hunks": [
                    {
                        "oldStart": 1,
                        "oldLines": 1,
                        "newStart": 1,
                        "newLines": 1,
                        "content": "-roses: north\n+roses: south\n",
                    }
                ],
            },
        },
    ),
    (
        "tool_call_update",
        {
            "id": "c-3",
            "status": "completed",
            "output": {
                "type": "terminal",
                "terminalId": "t-2",
                "command": "sprinkle -v",
                "exitCode": 0,
                "stdout": "drip",
                "stderr": "",
            },
        },
    ),
    ("tool_call_update", {"id": "c-4", "status": "failed", "error": "no water"}),
    ("available_commands", {"commands": [{"name": "weed", "description": "Pull the weeds"}]}),
    (
        "current_mode_update",
        {"previousMode": "default", "currentMode": "plan", "reason": "a big bed"},
    ),
    (
        "config_option_update",
        {"key": "hoses", "previousValue": 1, "currentValue": 2, "source": "user"},
    ),
]
