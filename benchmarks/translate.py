"""What translation costs a streamed message: `python -m benchmarks.translate`.

An agent that streams, asked directly in its own version and through a translator in another, in
turn in the same run.  CPU is what the translator's own process used from the prompt to the end of
the stream, reading and writing included.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CPU_US_MAX = 15.0
TEXT = "a piece of text of some forty characters"
INFO = {"name": "bench", "version": "1"}

AGENT = """
import json, os, sys
version, count, burst = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
info = {"name": "bench", "version": "1"}
draft = {"loadSession": False, "mcpCapabilities": {"servers": False, "transport": []},
    "promptCapabilities": {"streaming": True, "cancellation": True, "attachments": False},
    "sessionCapabilities": {"modes": [], "configOptions": [], "persistence": False}}
offers = {"v1": {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": {}},
    "v2": {"protocolVersion": 2, "info": info, "capabilities": {"session": {}}},
    "draft": {"protocolVersion": 1, "agentInfo": info, "capabilities": draft}}
def put(message):
    data = memoryview(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\\n")
    write(data)
def write(data):
    while data:
        data = data[os.write(1, data):]
def update(body):
    put({"method": "session/update", "params": {"sessionId": "s", "update": body}})
text = {"type": "text", "text": "TEXT"}
chunk = {"sessionUpdate": "agent_message_chunk", "content": text}
if version == "v2":
    chunk["messageId"] = "m"
params = {"sessionId": "s", "update": chunk}
if version == "draft":
    params = {"sessionId": "s", "type": "agent_message_chunk", "data": {"content": "TEXT"}}
line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params},
    separators=(",", ":")).encode() + b"\\n"
for said in sys.stdin.buffer:
    said = json.loads(said)
    method, number = said.get("method"), said.get("id")
    if method == "initialize":
        put({"id": number, "result": offers[version]})
    elif method == "session/new":
        made = {"createdAt": "2026-02-04T00:00:00Z"} if version == "draft" else {}
        put({"id": number, "result": {"sessionId": "s", **made}})
    elif method == "session/prompt":
        if version == "v2":
            blocks = said["params"]["prompt"]
            update({"sessionUpdate": "user_message", "messageId": "u", "content": blocks})
            update({"sessionUpdate": "state_update", "state": "running"})
            put({"id": number, "result": {"messageId": "u"}})
        for _ in range(count // burst):
            write(memoryview(line * burst))
        if version == "v2":
            update({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"})
        else:
            put({"id": number, "result": {"stopReason": "end_turn"}})
""".replace("TEXT", TEXT)
PROGRAM = Path(__file__).with_name("translate_program.py")


def asked(version: str) -> list[dict[str, Any]]:
    """What a client of a version says until the stream begins."""
    blocks = [{"type": "text", "text": "go"}]
    if version == "v1":
        opening: dict[str, Any] = {"clientInfo": INFO, "clientCapabilities": {}}
    else:
        opening = {"info" if version == "v2" else "clientInfo": INFO, "capabilities": {}}
    place = {"workingDirectory": "/"} if version == "draft" else {"cwd": "/", "mcpServers": []}
    words = {"content": blocks} if version == "draft" else {"prompt": blocks}
    number = 2 if version == "v2" else 1
    return [
        {"method": "initialize", "params": {"protocolVersion": number, **opening}},
        {"method": "session/new", "params": place},
        {"method": "session/prompt", "params": {"sessionId": "s", **words}},
    ]


def stream(command: list[str], version: str, count: int) -> float:
    """Seconds from the prompt until all of the stream was heard."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        began = 0.0
        for number, message in enumerate(asked(version)):
            began = time.perf_counter()
            line = json.dumps({"jsonrpc": "2.0", "id": number, **message})
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            while message["method"] != "session/prompt":
                said = json.loads(process.stdout.readline())
                if said.get("id") == number and "method" not in said:
                    assert "result" in said, said
                    break
        heard = 0
        while heard < count:
            heard += process.stdout.readline().count(b"agent_message_chunk")
        seconds = time.perf_counter() - began
        process.stdin.close()
        process.wait(10)
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    missed = False
    print(f"streams of {given.count} chunks; medians of {given.turns}")
    print(f"{'client, agent':20}{'direct':>12}{'translated':>13}{'ratio':>8}{'CPU each':>12}")
    with tempfile.TemporaryDirectory() as name:
        figures = Path(name) / "used"
        for outside, inside in (
            ("v2", "v1"),
            ("v1", "v2"),
            ("draft", "v1"),
            ("v1", "draft"),
            ("draft", "v2"),
            ("v2", "draft"),
        ):
            agent = [sys.executable, "-c", AGENT, inside, str(given.count), "50"]
            hop = [sys.executable, str(PROGRAM), str(figures), outside, inside, *agent]
            rows = []
            for _ in range(given.turns):
                direct = stream(agent, inside, given.count)
                seconds = stream(hop, outside, given.count)
                rows.append((direct, seconds, float(figures.read_text())))
            middle = [sorted(column)[given.turns // 2] for column in zip(*rows, strict=True)]
            direct, seconds, used = middle
            each = used / given.count * 1e6
            # Between v2 and the draft there are two translations.
            bound = CPU_US_MAX * (2 if {outside, inside} == {"v2", "draft"} else 1)
            missed = missed or each > bound
            print(
                f"{outside + ', ' + inside:20}{given.count / direct:>10.0f}/s"
                f"{given.count / seconds:>11.0f}/s{seconds / direct:>8.2f}{each:>9.2f} µs"
            )
    print(f"bound: {CPU_US_MAX} µs for each translation: {'missed' if missed else 'kept'}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
