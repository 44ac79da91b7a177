"""What `accord agent` has loaded when it answers `initialize`: next to nothing of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hang_limit import HANG_SECONDS

HEAVY = (
    *("sqlite3", "platformdirs", "mcp", "pydantic", "pydantic_ai", "httpx", "argparse", "tomllib"),
    *("accord.builtin.tools", "accord.builtin.llm", "accord.builtin.offline"),
    *("accord.builtin.models", "accord.configuration"),
    *("accord.mcp", "accord.store.sqlite", "accord.client", "accord.builtin.session"),
)
# The same as the command, but for the hook behind the answer, which only looks.
PROGRAM = """
import sys
from accord.agent.agent import Agent
from accord.cli.main import main

def look(agent, function):
    agent._definition.initialized_hook = lambda: print("\\n".join(sys.modules), file=sys.stderr)

Agent.on_initialized = look
sys.exit(main(["agent"]))
"""


@pytest.mark.parametrize("version", [1, 2])
def test_nothing_heavy_is_loaded_before_the_answer(version: int, home: Path) -> None:
    """Issue 3: `accord agent` answers in at most 1.5 times what hello_agent.py takes."""
    params: dict[str, object] = {"protocolVersion": version}
    if version == 2:
        params |= {"info": {"name": "x", "version": "1"}, "capabilities": {}}
    request = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(request) + "\n",
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=True,
    )
    assert json.loads(done.stdout)["result"]["protocolVersion"] == version
    loaded = set(done.stderr.split())
    assert "accord.agent.agent" in loaded, "the list is there"
    assert loaded & set(HEAVY) == set()
    assert not home.exists(), "nothing is written for a client that only asks"


def test_the_command_says_that_it_waits_for_a_client() -> None:
    """Ours: `accord agent --help` tells people who start it by hand what it is."""
    shown = subprocess.run(
        [sys.executable, "-m", "accord", "agent", "--help"],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=True,
    )
    assert "Editors start this" in shown.stdout
    assert "--login" in shown.stdout
