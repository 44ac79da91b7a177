"""A stdio MCP server in plain Python that writes down what it is asked.

Run it as a script: `mcp_recorder.py LOG`.  It has one tool, `recall`, which returns a text.  It is
started by the judged agent, so it imports nothing of ours.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

RECALLED = "the recorder remembers accord-check"
TOOL = {
    "name": "recall",
    "description": "Recall what was kept.",
    "inputSchema": {"type": "object", "properties": {}},
}


def answer(message: dict[str, Any]) -> dict[str, Any] | None:
    """Return the response to a message, if it is a request."""
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message:
        return None
    results: dict[Any, Any] = {
        "initialize": {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "accord-check", "version": "1"},
        },
        "ping": {},
        "tools/list": {"tools": [TOOL]},
        "tools/call": {"content": [{"type": "text", "text": RECALLED}], "isError": False},
    }
    if method in results:
        return {"jsonrpc": "2.0", "id": message["id"], "result": results[method]}
    error = {"code": -32601, "message": "Method not found"}
    return {"jsonrpc": "2.0", "id": message["id"], "error": error}


def main() -> None:
    """Serve standard input until it ends."""
    with open(sys.argv[1], "a", encoding="utf-8") as log:
        begun = {"started": True, "token": os.environ.get("ACCORD_CHECK_TOKEN", "")}
        log.write(json.dumps(begun) + "\n")
        log.flush()
        for line in sys.stdin:
            message = json.loads(line)
            log.write(json.dumps(message) + "\n")
            log.flush()
            reply = answer(message)
            if reply is not None:
                sys.stdout.write(json.dumps(reply) + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
