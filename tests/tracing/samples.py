"""Recordings for tests, made of frames: a small talk in v1, one of any length, and hostile ones."""

import json
from typing import Any

from accord.tracing.frames import Speaker
from accord.tracing.recording_file import end_line, frame_line, header_line, stderr_line

SESSION = "s-1"
HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
)


class Tape:
    """Lines of a recording, one after the other."""

    def __init__(self) -> None:
        self.time = 0.0
        self.lines = [
            header_line(
                started="2026-11-15T12:00:00.000000Z",
                command=["agent", "--stdio"],
                redacted=True,
                program="accord",
            )
        ]
        self._ids = {"client": 0, "agent": 0}

    def __bytes__(self) -> bytes:
        return b"".join(self.lines)

    def raw(self, speaker: Speaker, frame: bytes, after: float = 0.001) -> None:
        """Any bytes as a frame."""
        self.time += after
        self.lines.append(frame_line(self.time, speaker, frame))

    def message(self, speaker: Speaker, value: dict[str, Any], after: float = 0.001) -> None:
        """A message."""
        self.raw(speaker, json.dumps({"jsonrpc": "2.0", **value}).encode(), after)

    def ask(self, speaker: Speaker, method: str, params: Any, after: float = 0.001) -> int:
        """A request; its id."""
        self._ids[speaker] += 1
        value = {"id": self._ids[speaker], "method": method, "params": params}
        self.message(speaker, value, after)
        return self._ids[speaker]

    def answer(self, speaker: Speaker, request_id: Any, result: Any, after: float = 0.001) -> None:
        """An answer."""
        self.message(speaker, {"id": request_id, "result": result}, after)

    def call(self, speaker: Speaker, method: str, params: Any, result: Any, took: float) -> None:
        """A request and its answer."""
        other: Speaker = "agent" if speaker == "client" else "client"
        self.answer(other, self.ask(speaker, method, params), result, took)

    def update(
        self, update: str, after: float = 0.001, session: str = SESSION, /, **content: Any
    ) -> None:
        """A `session/update` of v1 and v2."""
        params = {"sessionId": session, "update": {"sessionUpdate": update, **content}}
        self.message("agent", {"method": "session/update", "params": params}, after)

    def chunk(self, text: str, after: float = 0.001, session: str = SESSION) -> None:
        """A piece of a message."""
        content = {"type": "text", "text": text}
        self.update("agent_message_chunk", after, session, content=content)

    def stderr(self, text: bytes) -> None:
        """A line on stderr."""
        self.lines.append(stderr_line(self.time, text))

    def end(self, code: int = 0) -> None:
        """The agent leaves."""
        self.lines.append(end_line(self.time + 0.01, code, None))

    def initialize(self) -> None:
        """The beginning of v1, with everything offered, and a session."""
        client = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
        asked = {"protocolVersion": 1, "clientCapabilities": client}
        answer = {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}}
        self.call("client", "initialize", asked, answer, 0.12)
        new = {"cwd": "/project", "mcpServers": []}
        self.call("client", "session/new", new, {"sessionId": SESSION}, 0.03)


def prompt(text: str, session: str = SESSION) -> dict[str, Any]:
    """The params of a prompt."""
    return {"sessionId": session, "prompt": [{"type": "text", "text": text}]}


OLD = (
    "def area(width, height):\n    return width + height\n\n\ndef main():\n    print(area(2, 3))\n"
)
NEW = OLD.replace("width + height", "width * height")


def talk() -> Tape:
    """A turn with a message, a file, an edit that is asked for, a terminal; valid in all."""
    tape = Tape()
    tape.initialize()
    turn = tape.ask("client", "session/prompt", prompt("Mend the area, please"), 0.5)
    for word in ("I ", "look ", "at ", "the ", "file ", "first, ", "then ", "I ", "test."):
        tape.chunk(word, 0.02)
    read = {"sessionId": SESSION, "path": "/project/area.py"}
    tape.call("agent", "fs/read_text_file", read, {"content": OLD}, 0.004)
    edit = {"toolCallId": "call_1", "title": "Edit area.py", "kind": "edit"}
    tape.update("tool_call", 0.1, **edit, status="pending", rawInput={"path": "/project/area.py"})
    diff = [{"type": "diff", "path": "/project/area.py", "oldText": OLD, "newText": NEW}]
    options = [
        {"optionId": "once", "name": "Allow once", "kind": "allow_once"},
        {"optionId": "no", "name": "Reject", "kind": "reject_once"},
    ]
    asked = {"sessionId": SESSION, "toolCall": {**edit, "content": diff}, "options": options}
    chosen = {"outcome": {"outcome": "selected", "optionId": "once"}}
    tape.call("agent", "session/request_permission", asked, chosen, 2.4)
    tape.update("tool_call_update", toolCallId="call_1", status="in_progress")
    write = {"sessionId": SESSION, "path": "/project/area.py", "content": NEW}
    tape.call("agent", "fs/write_text_file", write, {}, 0.006)
    tape.update("tool_call_update", toolCallId="call_1", status="completed", content=diff)
    _tests(tape)
    tape.stderr(b"warning: the cache is cold")
    tape.stderr(b"\x1b[31mred\x1b[0m and \xff bytes")
    for word in ("The ", "area ", "is ", "a ", "product ", "now."):
        tape.chunk(word, 0.015)
    tape.answer("agent", turn, {"stopReason": "end_turn"})
    return tape


def _tests(tape: Tape) -> None:
    """A tool call that runs a command in a terminal of the client."""
    run = {"toolCallId": "call_2", "title": "Run pytest", "kind": "execute", "status": "pending"}
    tape.update("tool_call", 0.05, **run)
    command = {"sessionId": SESSION, "command": "pytest", "args": ["-q"]}
    tape.call("agent", "terminal/create", command, {"terminalId": "t-1"}, 0.01)
    content = [{"type": "terminal", "terminalId": "t-1"}]
    tape.update("tool_call_update", toolCallId="call_2", status="in_progress", content=content)
    where = {"sessionId": SESSION, "terminalId": "t-1"}
    tape.call("agent", "terminal/wait_for_exit", where, {"exitCode": 0}, 1.3)
    shown = "\x1b[32m..\x1b[0m                         [100%]\n\x1b[1m2 passed\x1b[0m in 0.01s\n"
    tape.call("agent", "terminal/output", where, {"output": shown, "truncated": False}, 0.002)
    tape.call("agent", "terminal/release", where, {}, 0.002)
    tape.update("tool_call_update", toolCallId="call_2", status="completed")


def broken() -> Tape:
    """A talk that breaks rules of many kinds."""
    tape = Tape()
    tape.initialize()
    tape.raw("agent", b"Loading plugins...")
    tape.raw("agent", b'\xff\xfe{"jsonrpc":"2.0"}')
    tape.raw("client", b"[]")
    tape.message("agent", {"id": 99, "result": {}})
    turn = tape.ask("client", "session/prompt", prompt("Break it"))
    tape.message("agent", {"method": "session/update", "params": {"sessionId": SESSION}})
    tape.update("tool_call", toolCallId="c", title="Tool", status="completed")
    tape.update("tool_call_update", toolCallId="c", status="in_progress")
    tape.update("agent_message_chunk", content={"type": "text", "text": "hi", "colour": "red"})
    tape.message("agent", {"method": "weather/report", "params": {}})
    tape.answer("agent", str(turn), {"stopReason": "end_turn"})
    tape.answer("agent", turn, {"stopReason": "bored"})
    tape.end(1)
    return tape


def hostile() -> Tape:
    """Whatever an agent might put where a page or a terminal shows it."""
    tape = Tape()
    tape.initialize()
    turn = tape.ask("client", "session/prompt", prompt(HOSTILE))
    tape.chunk(HOSTILE)
    tape.chunk("\x1b]0;owned\x07\x1b[2J%%SCRIPT%% %%DATA%%   ")
    tape.update("tool_call", toolCallId=HOSTILE, title=HOSTILE, status=HOSTILE)
    tape.message("agent", {"method": HOSTILE, "params": {"__proto__": {"kind": HOSTILE}}})
    tape.raw("agent", HOSTILE.encode())
    tape.raw("agent", b'{"jsonrpc":"2.0","method":"session/update","params":"\\ud83d"}')
    tape.stderr(HOSTILE.encode())
    tape.answer("agent", turn, {"stopReason": "end_turn"})
    return tape


def long(frames: int) -> Tape:
    """About as many frames as are wanted, in turns of chunks and tool calls."""
    tape = Tape()
    tape.initialize()
    number = 0
    while len(tape.lines) < frames:
        number += 1
        turn = tape.ask("client", "session/prompt", prompt(f"Prompt number {number}"), 0.2)
        for part in range(10):
            for word in range(30):
                tape.chunk(f"word {word} of part {part}, ", 0.004)
            call = f"call_{number}_{part}"
            tape.update("tool_call", toolCallId=call, title=f"Step {part}", status="pending")
            tape.update("tool_call_update", toolCallId=call, status="in_progress")
            where = {"sessionId": SESSION, "path": f"/project/{part}.txt"}
            tape.call("agent", "fs/read_text_file", where, {"content": "x" * 200}, 0.003)
            tape.update("tool_call_update", toolCallId=call, status="completed")
        tape.answer("agent", turn, {"stopReason": "end_turn"})
    tape.end()
    return tape
