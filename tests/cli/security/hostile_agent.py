"""An agent that says the same hostile text in every field that it has, and on its stderr.

It speaks version 1 by itself, without the library: a text that the library would not send is sent
all the same.  A prompt with `fail` is answered with an error, one with `die` by the end of it.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

# Sequences that move, colour, name the window and copy; controls old and new; what hides, joins
# and reorders; half of a pair.  The numbers are ones that nobody else uses.
TEXT = (
    "seen\x1b[7331;7331H\x1b[7331m\x1b]0;OWNED\x07\x1b]52;c;T1dORUQ=\x07\x1b]8;;http://evil\x1b\\"
    "\x1bP7331\x1b\\\x1b_G7331\x1b\\\x1bc\x1b[?7331h\x00\x07\x08\x0b\x0c\x0e\x7f\x9b7331J\x9d0;OWNED\x9c"
    "\rOVER\u200b\u200e\u202eleft\u202c\u2066\u2060\ufeff\xad\u3164\u2028\ufff9\U000e0041 end"
)
PATH = f"/tmp/{TEXT}".replace("\0", "")


def send(**message: Any) -> None:
    data = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
    while data:
        data = data[os.write(1, data) :]


def answer(request: dict[str, Any], result: Any) -> None:
    send(id=request["id"], result=result)


def update(session: str, kind: str, /, **more: Any) -> None:
    send(
        method="session/update",
        params={"sessionId": session, "update": {"sessionUpdate": kind, **more}},
    )


def text() -> dict[str, Any]:
    return {"type": "text", "text": TEXT}


def call(**more: Any) -> dict[str, Any]:
    return {
        "toolCallId": "c1",
        "title": TEXT,
        "kind": "execute",
        "status": "pending",
        "content": [
            {"type": "content", "content": text()},
            {
                "type": "diff",
                "path": PATH,
                "oldText": "",
                "newText": TEXT,
            },
        ],
        "locations": [{"path": PATH}],
        "rawInput": {"command": f"echo {TEXT}", "cwd": f"/tmp/{TEXT}", TEXT: TEXT},
        **more,
    }


def talk(request: dict[str, Any]) -> None:
    """Everything that can be said in a turn."""
    session = request["params"]["sessionId"]
    said = json.dumps(request["params"]["prompt"])
    if "die" in said:
        os.write(2, TEXT.encode("utf-8", "replace") + b"\n")
        os._exit(7)
    update(session, "agent_message_chunk", content=text())
    update(session, "agent_thought_chunk", content=text())
    update(session, "session_info_update", title=TEXT)
    update(session, "plan", entries=[{"content": TEXT, "priority": TEXT, "status": "pending"}])
    commands = [{"name": TEXT, "description": TEXT, "input": {"hint": TEXT}}]
    update(session, "available_commands_update", availableCommands=commands)
    update(session, f"_{TEXT}", title=TEXT, more={TEXT: TEXT})
    update(session, "tool_call", **call())
    options = [
        {"optionId": f"{kind}-{TEXT}", "name": f"{kind} {TEXT}", "kind": kind}
        for kind in ("allow_once", "allow_always", "reject_once")
    ]
    params = {"sessionId": session, "toolCall": call(), "options": options}
    send(id="asked", method="session/request_permission", params=params)
    while read().get("id") != "asked":
        pass
    update(session, "tool_call_update", toolCallId="c1", status="failed", content=call()["content"])
    update(session, "agent_message_chunk", content={"type": "text", "text": "\n\nThat was all."})
    if "fail" in said:
        error = {"code": -32000, "message": TEXT, "data": {TEXT: TEXT}}
        send(id=request["id"], error=error)
    else:
        answer(request, {"stopReason": "end_turn"})


def read() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    message: dict[str, Any] = json.loads(line)
    return message


def main() -> None:
    os.write(2, TEXT.encode("utf-8", "replace") + b"\n")
    while True:
        request = read()
        method = request.get("method")
        if method == "initialize":
            info = {"name": TEXT, "title": TEXT, "version": TEXT}
            login = [{"id": TEXT, "name": TEXT, "description": TEXT}]
            answer(request, {"protocolVersion": 1, "agentInfo": info, "authMethods": login})
        elif method == "session/new":
            mode = {"id": TEXT, "name": TEXT, "description": TEXT}
            modes = {"currentModeId": TEXT, "availableModes": [mode]}
            answer(request, {"sessionId": "s1", "modes": modes})
        elif method == "session/prompt":
            talk(request)
        elif "id" in request and method is not None:
            send(id=request["id"], error={"code": -32601, "message": TEXT, "data": TEXT})


if __name__ == "__main__":
    main()
