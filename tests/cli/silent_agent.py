"""An agent that answers until a certain request comes, and then nothing ever again.

It ignores every signal that can be ignored and the end of its stdin.  The arguments are the method
at which it falls silent and a named pipe: a line written to it says that this has happened, and the
pipe stays open as long as the agent lives.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

ANSWERS = {
    "initialize": {
        "protocolVersion": 1,
        "agentCapabilities": {"sessionCapabilities": {"close": {}}},
    },
    "session/new": {"sessionId": "s"},
}


def main() -> None:
    """Serve until the method comes."""
    silent_at, path = sys.argv[1:]
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    line = os.open(path, os.O_WRONLY)
    for text in sys.stdin:
        message: dict[str, Any] = json.loads(text)
        method = message.get("method")
        if method == "session/prompt":
            os.write(line, b"prompt\n")
        if method == silent_at:
            break
        if "id" in message and method != "session/prompt":
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": ANSWERS.get(str(method), {})}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
    os.write(line, b"silent\n")
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
