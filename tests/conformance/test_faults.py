"""The fault profile, over programs that survive in ways of their own."""

import sys

import pytest

from accord.cli.main import main

# Refuses the last request at once and answers the others when it comes to them, as a proxy may.
PASSES_ON = """
import json, sys, threading
def answer(name, **more):
    print(json.dumps({"jsonrpc": "2.0", "id": name, **more}), flush=True)
late = []
def rest():
    for name in late:
        answer(name, error={"code": -32601, "message": "no such method"})
for line in sys.stdin:
    m = json.loads(line)
    if m["method"] == "initialize":
        info = {"name": "x", "version": "1"}
        answer(m["id"], result={"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": info})
    elif m["id"] == "s2499":
        answer("s2499", error={"code": -32603, "message": "too many"})
        answer("s2498", error={"code": -32603, "message": "too many"})
        threading.Timer(0.3, rest).start()
    elif str(m["id"]).startswith("s") and m["id"] != "s2498":
        late.append(m["id"])
    else:
        answer(m["id"], error={"code": -32601, "message": "no such method"})
"""


def test_answers_need_not_come_in_the_order_of_the_requests(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """JSON-RPC: a peer may answer in any order; nothing is lost because it comes later."""
    agent = [sys.executable, "-I", "-S", "-c", PASSES_ON]
    code = main(["check", "--faults", "--only", "FAULT-03", "--", *agent])
    assert code == 0, capsys.readouterr().out
