"""`accord agent` for clients that were written to older pages of the protocol."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.hang_limit import HANG_SECONDS


def said(cwd: Path, *switches: str, version: int, prompt: str | None = None) -> list[Any]:
    """All that the agent says to a client that opens a session, and asks something."""
    info = {"name": "t", "version": "1"}
    hello: dict[str, Any] = {"protocolVersion": 1, "clientCapabilities": {}}
    if version == 2:
        hello = {"protocolVersion": 2, "info": info, "capabilities": {}}
    command = [sys.executable, "-m", "accord", "agent", "--in-memory", "--model", "offline"]
    agent = subprocess.Popen(
        [*command, *switches], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert agent.stdin is not None
    assert agent.stdout is not None
    heard: list[Any] = []

    def ask(request_id: int, method: str, params: dict[str, Any]) -> Any:
        assert agent.stdin is not None
        assert agent.stdout is not None
        request = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        agent.stdin.write(json.dumps(request) + "\n")
        agent.stdin.flush()
        while True:
            heard.append(json.loads(agent.stdout.readline()))
            if heard[-1].get("id") == request_id:
                return heard[-1]["result"]

    try:
        ask(1, "initialize", hello)
        session_id = ask(2, "session/new", {"cwd": str(cwd), "mcpServers": []})["sessionId"]
        if prompt is not None:
            blocks = [{"type": "text", "text": prompt}]
            ask(3, "session/prompt", {"sessionId": session_id, "prompt": blocks})
        agent.communicate(timeout=HANG_SECONDS)
    finally:
        agent.kill()
        agent.wait()
    return heard


def test_models_are_listed_behind_a_switch(tmp_path: Path) -> None:
    """Issue 13: what older clients of version 1 look for can be had from the command line."""
    assert "models" not in said(tmp_path, version=1)[1]["result"]
    models = said(tmp_path, "--session-models", version=1)[1]["result"]["models"]
    assert models["currentModelId"] == "offline"
    assert [one["modelId"] for one in models["availableModels"]] == ["offline"]


def test_early_v2_answers_a_prompt_at_the_end_of_the_turn(tmp_path: Path) -> None:
    """Issue 13: what the first pages about version 2 said can be had from the command line."""
    heard = said(tmp_path, "--early-v2", version=2, prompt="hello")
    assert heard[-1]["result"] == {"stopReason": "end_turn"}
    updates = [one["params"]["update"] for one in heard if "params" in one]
    assert "state_update" not in {one["sessionUpdate"] for one in updates}
