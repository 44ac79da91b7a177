"""An agent that writes down what it is asked: `journaling_agent.py VERSION JOURNAL`.

A prompt is `KEY COUNT` or `KEY COUNT BYTES`: it says `KEY.0 `, `KEY.1 ` and so on, each with so
many bytes behind it, and asks for permission on the way if the count is odd.
Its journal has `process PID` for itself and for a child of it that left its group, and
`prompt KEY` for each prompt that reaches it.  Standard library only, so that it starts quickly.
"""

import json
import os
import sys
import time
from typing import Any

VERSION = int(sys.argv[1])
JOURNAL = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
# Numbers are said in groups, with a moment between them in which something may be killed.
GROUP = 5
PAUSE_SECONDS = 0.002


def note(text: str) -> None:
    os.write(JOURNAL, f"{text}\n".encode())


def say(message: dict[str, Any]) -> None:
    line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
    while line:
        line = line[os.write(1, line) :]


def update(session: str, **content: object) -> None:
    say({"method": "session/update", "params": {"sessionId": session, "update": content}})


def hear() -> dict[str, Any]:
    line = sys.stdin.buffer.readline()
    if not line:
        sys.exit(0)
    message: dict[str, Any] = json.loads(line)
    return message


def ask(session: str, key: str) -> None:
    """Ask for permission and wait for the answer, whatever it is."""
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    call = {"toolCallId": f"call-{key}", "title": "Go on", "status": "pending"}
    params: dict[str, Any] = {"sessionId": session, "options": options}
    if VERSION == 1:
        update(session, sessionUpdate="tool_call", **call)
        params["toolCall"] = call
    else:
        update(session, sessionUpdate="tool_call_update", **call)
        params |= {"title": "Go on?", "subject": {"type": "tool_call", "toolCall": call}}
    say({"id": f"ask-{key}", "method": "session/request_permission", "params": params})
    while True:
        message = hear()
        if message.get("id") == f"ask-{key}":
            return
        handle(message)


def turn(session: str, key: str, count: int, size: int = 0) -> None:
    for number in range(count):
        text = {"type": "text", "text": f"{key}.{number} " + "-" * size}
        chunk: dict[str, Any] = {"sessionUpdate": "agent_message_chunk", "content": text}
        if VERSION == 2:
            chunk["messageId"] = f"message-{key}"
        update(session, **chunk)
        if number == count // 2 and count % 2:
            ask(session, key)
        if number % GROUP == 0 and not size:
            time.sleep(PAUSE_SECONDS)


def prompted(message: dict[str, Any]) -> None:
    params = message["params"]
    session, blocks = params["sessionId"], params["prompt"]
    key, *counts = blocks[0]["text"].split()
    note(f"prompt {key}")
    if counts == ["hold"]:
        return
    if VERSION == 1:
        turn(session, key, *map(int, counts))
        say({"id": message["id"], "result": {"stopReason": "end_turn"}})
        return
    update(session, sessionUpdate="user_message", messageId=f"prompt-{key}", content=blocks)
    update(session, sessionUpdate="state_update", state="running")
    say({"id": message["id"], "result": {}})
    turn(session, key, *map(int, counts))
    update(session, sessionUpdate="state_update", state="idle", stopReason="end_turn")


def handle(message: dict[str, Any]) -> None:
    method = message.get("method")
    if method == "session/prompt":
        prompted(message)
    elif "id" in message and method is not None:
        say({"id": message["id"], "result": answer_to(method)})


def answer_to(method: str) -> dict[str, Any]:
    if method == "initialize":
        if VERSION == 1:
            able = {"loadSession": True}
            return {"protocolVersion": 1, "agentCapabilities": able, "agentInfo": INFO}
        return {"protocolVersion": 2, "capabilities": {"session": {}}, "info": INFO}
    if method == "session/new":
        return {"sessionId": f"s{os.getpid()}-{time.monotonic_ns()}"}
    return {}


INFO = {"name": "journaling", "version": "1"}


def main() -> None:
    note(f"process {os.getpid()}")
    child = os.fork()
    if child == 0:
        # A program that left the group, as a language server might, and holds no pipe of ours.
        os.setsid()
        note(f"process {os.getpid()}")
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        time.sleep(3600)
        os._exit(0)
    while True:
        handle(hear())


if __name__ == "__main__":
    main()
