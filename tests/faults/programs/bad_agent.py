"""An agent in plain JSON that does one thing wrong in its prompt; the first argument says what."""

import json
import os
import sys
import time
from typing import Any

FAULT = sys.argv[1]
out = sys.stdout.buffer


def write(data: bytes) -> None:
    """Send bytes."""
    out.write(data)
    out.flush()


def send(message: dict[str, Any]) -> None:
    """Send a message."""
    write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def update(value: Any) -> dict[str, Any]:
    """A `session/update`, not sent yet."""
    return {"method": "session/update", "params": {"sessionId": "s", "update": value}}


def chunk(text: str) -> dict[str, Any]:
    """A piece of a message."""
    content = {"type": "text", "text": text}
    return update({"sessionUpdate": "agent_message_chunk", "content": content})


def prompted(request_id: int) -> None:
    """Do it, and end the turn where that is still possible."""
    done = {"id": request_id, "result": {"stopReason": "end_turn"}}
    whole = json.dumps({"jsonrpc": "2.0", **done}).encode()
    deep = b"[" * 10_000 + b"]" * 10_000
    simple = {
        "utf8": b'{"jsonrpc":"2.0","method":"session/update","params":{"a":"\xff"}}\n\xff\n',
        "empty": b"\n\r\n   \n\n",
        "scalars": b'42\nnull\n"text"\ntrue\n[]\n[{"jsonrpc":"2.0","method":"x"}]\n{}\n',
        "half": b'{"jsonrpc":"2.0","method":"sess\n',
        "deep update": b'{"jsonrpc":"2.0","method":"session/update","params":%b}\n' % deep,
        "deep request": b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":%b}}\n' % deep,
        "unknown ids": b'{"jsonrpc":"2.0","id":99,"result":{}}\n{"id":[1],"result":1}\n',
        "unknown method": b'{"jsonrpc":"2.0","id":1,"method":"x/y","params":{}}\n',
        "huge id": b'{"jsonrpc":"2.0","id":9007199254740993,"method":"x/y","params":{}}\n',
    }
    match FAULT:
        case "long line":
            for _ in range(40):
                write(b"x" * 1024 * 1024)
            time.sleep(60)
        case "no line end":
            write(whole)
            sys.exit(0)
        case "half an answer":
            write(whole[:-5])
            sys.exit(0)
        case "stops reading":
            time.sleep(60)
        case "closes stdin":
            os.close(0)
            time.sleep(60)
        case "both":
            send({**done, "error": {"code": 1, "message": "both"}})
        case "error text":
            send({"id": request_id, "error": "boom"})
        case "string id":
            send({"id": str(request_id), "result": {"stopReason": "end_turn"}})
        case "twice":
            send(done)
            send({"id": request_id, "result": {"stopReason": "refusal"}})
        case "ordered":
            for number in range(10_000):
                send(chunk(f"{number} "))
            send(done)
        case "updates around":
            send(chunk("in "))
            send(done)
            send(chunk("after"))
        case "strange updates":
            odd: list[Any] = [None, 5, [], {}, {"sessionUpdate": "of_tomorrow", "x": 1}]
            for value in odd:
                send(update(value))
            send({"method": "session/update"})
            send({"method": "session/update", "params": [1]})
            send(chunk("still here"))
            send(done)
        case _:
            write(simple[FAULT])
            send(chunk("still here"))
            send(done)


def main() -> None:
    """Answer what every client asks first."""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                send({"id": message["id"], "result": {"protocolVersion": 1}})
            case "session/new":
                if FAULT == "updates around":
                    send(chunk("before "))
                send({"id": message["id"], "result": {"sessionId": "s"}})
            case "session/prompt":
                prompted(message["id"])
            case None:
                print("answer", json.dumps(message), file=sys.stderr, flush=True)


main()
