"""A v1 agent, a process of its own, that says as much as its client takes.

Prompts: `flood N` says N pieces of one message; `different N` says N messages; `after` is answered
when a flood is over, in whatever session; anything else is answered at once.  With an argument it
writes there how a flood went: `done`, or `blocked` when the client read nothing for a while.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from pathlib import Path
from typing import Any

PIECE = "twenty letters here "
BLOCKED_SECONDS = 2.0
_AT_ONCE = 100
_MODES = {"currentModeId": "a", "availableModes": [{"id": one, "name": one} for one in "ab"]}


class Agent:
    """Answers one client."""

    def __init__(self, report: Path | None) -> None:
        self._report = report
        self._writing = threading.Lock()
        self._flooded = threading.Event()
        self._cancelled = threading.Event()
        self._sessions = 0

    def serve(self) -> None:
        """Until the client goes."""
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if message.get("method") == "session/cancel":
                self._cancelled.set()
            elif message.get("method") == "session/prompt":
                threading.Thread(target=self._prompt, args=(message,), daemon=True).start()
            elif "method" in message and "id" in message:
                self._answer(message, self._result(message["method"]))

    def _result(self, method: str) -> dict[str, Any]:
        if method == "initialize":
            return {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []}
        if method == "session/new":
            self._sessions += 1
            return {"sessionId": f"s{self._sessions}", "modes": _MODES}
        return {}

    def _prompt(self, message: dict[str, Any]) -> None:
        session_id = message["params"]["sessionId"]
        word, _, count = message["params"]["prompt"][0]["text"].partition(" ")
        if word in ("flood", "different"):
            for first in range(0, int(count), _AT_ONCE):
                if self._cancelled.is_set():
                    break
                numbers = range(first, min(first + _AT_ONCE, int(count)))
                self._write(
                    *(_piece(session_id, "m" if word == "flood" else f"m{n}") for n in numbers)
                )
            self._flooded.set()
            self._tell("done")
        elif word == "after":
            self._flooded.wait()
        self._answer(message, {"stopReason": "end_turn"})

    def _answer(self, request: dict[str, Any], result: dict[str, Any]) -> None:
        self._write({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def _write(self, *messages: dict[str, Any]) -> None:
        lines = [json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in messages]
        data = memoryview(b"".join(lines))
        with self._writing:
            while data:
                try:
                    data = data[os.write(1, data) :]
                except BlockingIOError:
                    if not select.select([], [1], [], BLOCKED_SECONDS)[1]:
                        self._tell("blocked")

    def _tell(self, how: str) -> None:
        if self._report is not None:
            self._report.write_text(how)


def _piece(session_id: str, message_id: str) -> dict[str, Any]:
    update = {
        "sessionUpdate": "agent_message_chunk",
        "messageId": message_id,
        "content": {"type": "text", "text": PIECE},
    }
    params = {"sessionId": session_id, "update": update}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


if __name__ == "__main__":
    os.set_blocking(1, False)
    Agent(Path(sys.argv[1]) if len(sys.argv) > 1 else None).serve()
    # Threads may still wait for a client that is gone.
    os._exit(0)
