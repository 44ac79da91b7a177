"""What the peers around an example say of their own, in the words of each version."""

from tests.examples.examples import ROOT, SESSION, Json, Spoken

TEXT: Json = {"type": "text", "text": "go on"}
INFO: Json = {"name": "peer", "version": "1"}
S: Json = {"sessionId": SESSION}
T: Json = {"terminalId": "terminal-4"}
PEAR = f"{ROOT}/trees/pear.txt"
OPTIONS = [
    {"optionId": "yes-now", "name": "Yes", "kind": "allow_once"},
    {"optionId": "yes", "name": "Yes, yes", "kind": "allow_always"},
    {"optionId": "no-now", "name": "No", "kind": "reject_once"},
]
MODES: Json = {
    "currentModeId": "plan",
    "availableModes": [
        {"id": "code", "name": "Digging"},
        {"id": "ask", "name": "Careful", "description": "Asks for permission before changes"},
        {"id": "plan", "name": "Planning"},
    ],
}
SIZES = [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}]
MODEL: Json = {
    "name": "Model",
    "category": "model",
    "type": "select",
    "currentValue": "small",
    "options": SIZES,
}
MODE: Json = {
    "name": "Mode",
    "category": "mode",
    "type": "select",
    "currentValue": "plan",
    "options": [{"value": one["id"], "name": one["name"]} for one in MODES["availableModes"]],
}
OPTIONS_V2 = [{"configId": "model", **MODEL}, {"configId": "mode", **MODE}]
LOGIN_V2: Json = {"type": "agent", "methodId": "house_key", "name": "The house's key"}

# What is asked, by method.
ASKED: dict[Spoken, dict[str, Json]] = {
    "v1": {
        "initialize": {
            "protocolVersion": 1,
            "clientInfo": INFO,
            "clientCapabilities": {
                "fs": {"readTextFile": True, "writeTextFile": True},
                "terminal": True,
                "plan": {},
            },
        },
        "authenticate": {"methodId": "house_key"},
        "session/new": {"cwd": ROOT, "mcpServers": []},
        "session/load": {**S, "cwd": ROOT, "mcpServers": []},
        "session/prompt": {**S, "prompt": [TEXT]},
        "session/request_permission": {
            **S,
            "toolCall": {"toolCallId": "walk-1", "title": "Walk", "kind": "edit"},
            "options": OPTIONS,
        },
        "fs/read_text_file": {**S, "path": PEAR},
        "fs/write_text_file": {**S, "path": PEAR, "content": "x"},
        "terminal/create": {**S, "command": "press"},
        "terminal/output": {**S, **T},
        "terminal/wait_for_exit": {**S, **T},
        "terminal/kill": {**S, **T},
        "terminal/release": {**S, **T},
    },
    "v2": {
        "initialize": {"protocolVersion": 2, "info": INFO, "capabilities": {}},
        "auth/login": {"methodId": "house_key"},
        "session/new": {"cwd": ROOT, "mcpServers": []},
        "session/resume": {**S, "cwd": ROOT, "mcpServers": [], "replayFrom": {"type": "start"}},
        "session/prompt": {**S, "prompt": [TEXT]},
        "session/request_permission": {
            **S,
            "title": "Walk",
            "subject": {"type": "tool_call", "toolCall": {"toolCallId": "walk-1", "kind": "edit"}},
            "options": OPTIONS,
        },
    },
    "draft": {
        "initialize": {
            "protocolVersion": 1,
            "clientInfo": INFO,
            "capabilities": {"fs": {"read": True, "write": True}, "terminal": {"create": True}},
        },
        "authenticate": {"method": "api_key", "credentials": {"apiKey": "k"}},
        "session/new": {"workingDirectory": ROOT},
        "session/load": S,
        "session/prompt": {**S, "content": [TEXT]},
        "session/request_permission": {**S, "operation": "file_write", "resource": PEAR},
        "fs/read_text_file": {"path": PEAR},
        "fs/write_text_file": {"path": PEAR, "content": "x"},
        "terminal/create": {"command": "press"},
        "terminal/wait_for_exit": T,
        "terminal/kill": T,
        "terminal/release": T,
    },
}

# What is answered, by method.
ANSWERS: dict[Spoken, dict[str, Json]] = {
    "v1": {
        "initialize": {
            "protocolVersion": 1,
            "agentInfo": INFO,
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
                "mcpCapabilities": {"http": True, "sse": True},
                "sessionCapabilities": {"list": {}},
            },
            "authMethods": [{"id": "house_key", "name": "The house's key"}],
        },
        "authenticate": {},
        "session/new": {
            **S,
            "modes": MODES,
            "configOptions": [{"id": "model", **MODEL}],
        },
        "session/load": {"modes": MODES},
        "session/list": {"sessions": [{**S, "cwd": ROOT}, {"sessionId": "s-autumn", "cwd": ROOT}]},
        "session/prompt": {"stopReason": "end_turn"},
        "session/set_mode": {},
        "session/set_config_option": {
            "configOptions": [{"id": "model", **MODEL, "currentValue": "large"}]
        },
        "session/set_model": {},
        "_orchard.test/open_gates": {"gates": 2},
        "_orchard/taste_fruit": {"taste": "sour"},
        "session/request_permission": {"outcome": {"outcome": "selected", "optionId": "yes-now"}},
        "fs/read_text_file": {"content": "planted 1971\n"},
        "fs/write_text_file": {},
        "terminal/create": T,
        "terminal/output": {
            "output": "pressed\n",
            "truncated": False,
            "exitStatus": {"exitCode": 0},
        },
        "terminal/wait_for_exit": {"exitCode": 0},
        "terminal/kill": {},
        "terminal/release": {},
    },
    "v2": {
        "initialize": {
            "protocolVersion": 2,
            "info": INFO,
            "capabilities": {
                "session": {
                    "prompt": {"image": {}, "audio": {}, "embeddedContext": {}},
                    "mcp": {"stdio": {}, "http": {}},
                }
            },
            "authMethods": [LOGIN_V2],
        },
        "auth/login": {},
        "session/new": {**S, "configOptions": OPTIONS_V2},
        "session/resume": {"configOptions": OPTIONS_V2},
        "session/list": {"sessions": [{**S, "cwd": ROOT}, {"sessionId": "s-autumn", "cwd": ROOT}]},
        "session/prompt": {"messageId": "u-1"},
        "session/set_config_option": {"configOptions": OPTIONS_V2},
        "_orchard.test/open_gates": {"gates": 2},
        "_orchard/taste_fruit": {"taste": "sour"},
        "session/request_permission": {"outcome": {"outcome": "selected", "optionId": "yes-now"}},
    },
    "draft": {
        "initialize": {
            "protocolVersion": 1,
            "agentInfo": INFO,
            "capabilities": {
                "loadSession": True,
                "mcpCapabilities": {"servers": True, "transport": ["stdio", "http", "sse"]},
                "promptCapabilities": {
                    "streaming": True,
                    "cancellation": True,
                    "attachments": True,
                },
                "sessionCapabilities": {
                    "modes": ["default", "plan", "code", "ask"],
                    "configOptions": ["autoApprove", "model"],
                    "persistence": True,
                },
            },
        },
        "authenticate": {"success": True},
        "session/new": {**S, "createdAt": "2026-04-12T05:45:00Z"},
        "session/load": {
            **S,
            "workingDirectory": ROOT,
            "mode": "default",
            "configOptions": {},
            "messageCount": 2,
        },
        "session/prompt": {"stopReason": "end_turn"},
        "session/set_mode": {"previousMode": "default", "currentMode": "code"},
        "session/set_config_option": {"key": "model", "currentValue": "large"},
        "terminal/output": {"received": True},
        "_orchard.test/open_gates": {"gates": 2},
        "_orchard/taste_fruit": {"taste": "sour"},
        "session/request_permission": {"granted": True, "scope": "once"},
        "fs/read_text_file": {"content": "planted 1971\n", "encoding": "utf-8"},
        "fs/write_text_file": {"bytesWritten": 1, "created": False},
        "terminal/create": {**T, "pid": 4},
        "terminal/wait_for_exit": {"exitCode": 0},
        "terminal/kill": {"killed": True},
        "terminal/release": {"released": True},
    },
}
