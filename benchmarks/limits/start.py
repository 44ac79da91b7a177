"""An agent without an SDK, for the least that a start in Python can cost."""

import json
import sys

for line in sys.stdin.buffer:
    answer = {"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": {"protocolVersion": 1}}
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
    sys.stdout.buffer.flush()
