"""The little of MCP that the small agents need: start a server, say hello, list and call tools."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess

Json = dict[str, Any]


class McpServer:
    """One stdio server of a session."""

    def __init__(self, server: Json, cwd: str) -> None:
        import subprocess

        env = {one["name"]: one["value"] for one in server.get("env") or []}
        self.last_id = 0
        self.tools: list[Json] = []
        self.process: subprocess.Popen[bytes] | None = None
        try:
            self.process = subprocess.Popen(
                [server["command"], *(server.get("args") or [])],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=cwd,
                env={**os.environ, **env},
            )
        except (OSError, KeyError):
            print(f"the server {server['name']} cannot be reached", file=sys.stderr)
            return
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "defects", "version": "1"},
        }
        if self.request("initialize", hello) is not None:
            self.send({"method": "notifications/initialized"})
            self.tools = (self.request("tools/list", {}) or {}).get("tools", [])

    def send(self, message: Json) -> None:
        if self.process is None or self.process.stdin is None:
            return
        try:
            self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            self.process = None

    def request(self, method: str, params: Json) -> Json | None:
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": params})
        if self.process is None or self.process.stdout is None:
            return None
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                return None
            if message.get("id") == self.last_id and "method" not in message:
                result = message.get("result")
                return result if isinstance(result, dict) else None
        return None

    def call(self, tool: str) -> str:
        name = tool or (self.tools[0]["name"] if self.tools else "")
        if name not in [one.get("name") for one in self.tools]:
            return ""
        result = self.request("tools/call", {"name": name, "arguments": {}}) or {}
        return "".join(one.get("text", "") for one in result.get("content", [])) or "done"

    def close(self) -> None:
        if self.process is not None:
            if self.process.stdin is not None:
                self.process.stdin.close()
            self.process.terminate()
            self.process.wait()
