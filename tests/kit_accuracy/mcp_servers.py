"""A client of MCP servers on stdio, as small as it can be."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

Json = dict[str, Any]


class McpServer:
    """A started server; its calls wait for their answers."""

    def __init__(self, name: str, command: str, args: list[str], env: Json, cwd: str) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [command, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **env},
            cwd=cwd,
        )
        self.last_id = 0
        self.call(
            "initialize",
            {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "stranger", "version": "1"},
            },
        )
        self._write({"method": "notifications/initialized"})
        listed = self.call("tools/list", {}).get("tools", [])
        self.tools = [tool["name"] for tool in listed if isinstance(tool, dict)]

    def _write(self, message: Json) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def call(self, method: str, params: Json) -> Json:
        self.last_id += 1
        self._write({"id": self.last_id, "method": method, "params": params})
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.last_id and "method" not in message:
                result = message.get("result")
                return result if isinstance(result, dict) else {}
        raise OSError(f"{self.name} ended")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def env_of(variables: Any) -> Json:
    """Names and values as a mapping."""
    return {each["name"]: each["value"] for each in variables or []}
