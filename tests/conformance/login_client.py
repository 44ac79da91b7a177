"""A client that logs in by a terminal and starts its agent again: `login_client.py HOW AGENT`.

`careful` looks at how the login ended, `careless` does not.
"""

import json
import subprocess
import sys
from typing import Any

Json = dict[str, Any]


class Connection:
    """One agent, asked one thing after another."""

    def __init__(self, agent: str) -> None:
        self.agent = subprocess.Popen([agent], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last_id = 0

    def call(self, method: str, params: Json) -> Json:
        assert self.agent.stdin is not None
        assert self.agent.stdout is not None
        self.last_id += 1
        request = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}
        self.agent.stdin.write(json.dumps(request).encode() + b"\n")
        self.agent.stdin.flush()
        for line in self.agent.stdout:
            message: Json = json.loads(line)
            if message.get("id") == self.last_id and "method" not in message:
                return message
        sys.exit(1)

    def initialize(self) -> Json:
        capabilities = {"auth": {"terminal": True}}
        info = {"name": "login-client", "version": "1"}
        params = {"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": info}
        result: Json = self.call("initialize", params)["result"]
        return result

    def open(self) -> Json:
        return self.call("session/new", {"cwd": "/", "mcpServers": []})


def main(how: str, agent: str) -> None:
    first = Connection(agent)
    methods = first.initialize()["authMethods"]
    if "error" in first.open():
        login = subprocess.run([agent, *methods[0]["args"]], stdin=subprocess.DEVNULL, check=False)
        if login.returncode and how == "careful":
            sys.exit(1)
        second = Connection(agent)
        second.initialize()
        second.open()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
