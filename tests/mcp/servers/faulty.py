"""An MCP server that does one thing wrong; plain JSON, so that it starts at once.

`python faulty.py FAULT` where FAULT is one of those below.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

FAULT = sys.argv[1]
TOOL: dict[str, Any] = {"name": "work", "inputSchema": {"type": "object"}}
CHECKED = {
    "type": "object",
    "properties": {"total": {"type": "integer"}},
    "required": ["total"],
}


def say(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def initialized(params: Any) -> dict[str, Any]:
    return {
        "protocolVersion": params["protocolVersion"],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "faulty", "version": "1"},
    }


def called() -> dict[str, Any] | None:
    """The result of the tool, where there is one."""
    if FAULT == "dies in a call":
        print("out of paper, password hunter22", file=sys.stderr, flush=True)
        os._exit(3)
    if FAULT == "dies once" and not os.path.exists("died"):
        open("died", "w").close()
        os._exit(4)
    if FAULT == "never answers a call":
        return None
    if FAULT == "wrong shape":
        return {"content": "not a list"}
    if FAULT == "wrong output":
        return {"content": [], "structuredContent": {"total": "many"}}
    if FAULT == "no output":
        return {"content": [{"type": "text", "text": "3"}]}
    if FAULT == "quotes secrets":
        return {"content": [{"type": "text", "text": os.environ["TOKEN"]}], "isError": True}
    return {"content": [{"type": "text", "text": f"pid {os.getpid()}"}]}


def main() -> None:
    if FAULT == "dies at once":
        print("no licence found for hunter22", file=sys.stderr, flush=True)
        sys.exit(7)
    if FAULT == "has children":
        subprocess.Popen(["sleep", "1000"])
    for line in sys.stdin:
        if FAULT == "says nothing":
            continue
        if FAULT == "prints garbage":
            print("Listening on port 3000!", flush=True)
            print("\x00\xff {", flush=True)
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        result: Any = None
        if method == "initialize":
            result = {"hello": 1} if FAULT == "wrong greeting" else initialized(message["params"])
        elif method == "tools/list":
            needs_output = FAULT in ("wrong output", "no output")
            tool = {**TOOL, "outputSchema": CHECKED} if needs_output else TOOL
            result = {"tools": [{"name": 5}] if FAULT == "wrong list" else [tool]}
        elif method == "tools/call":
            result = called()
            if FAULT == "answers with an error":
                error = {"code": -32603, "message": "no: hunter22"}
                say({"jsonrpc": "2.0", "id": number, "error": error})
                continue
        if number is not None and result is not None:
            say({"jsonrpc": "2.0", "id": number, "result": result})
    if FAULT == "does not leave":
        while True:
            sys.stdin.read(1)
            subprocess.run(["sleep", "1000"], check=False)


main()
