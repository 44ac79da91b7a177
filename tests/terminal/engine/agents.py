"""An agent to talk to, as a program of its own: it does what it is told to."""

from __future__ import annotations

import sys
from pathlib import Path

TEXT = """
import os, sys
import anyio
from accord import Agent, RequestError, SqliteStore, Turn

agent = Agent("tester", version="1", title="The Tester", unstable=True,
              store=SqliteStore(sys.argv[1]), accepts=("image", "embedded_context"),
              versions=(1,) if "v1" in sys.argv else (1, 2))
agent.add_mode("ask", "Ask")
agent.add_mode("code", "Code")
agent.add_auth_method("key", "A key", required="login" in sys.argv)
logged_in = []

@agent.on_authenticate
async def log_in(method_id: str) -> None:
    logged_in.append(method_id)

@agent.on_logout
async def log_out() -> None:
    logged_in.clear()

@agent.on_prompt
async def answer(turn: Turn) -> str | None:
    match turn.text:
        case "die":
            print("I am tired", file=sys.stderr, flush=True)
            os._exit(3)
        case "fail":
            raise RequestError(-32603, "the model is away")
        case "often":
            raise RequestError.rate_limited("slow down", 7)
        case "secret" if not logged_in:
            raise RequestError(-32000, "log in first")
        case "lost":
            raise RequestError(-32002, "no such session")
        case "refuse":
            return "refusal"
        case "wait":
            async with turn.tool_call("a long job", kind="execute"):
                await anyio.sleep(60)
        case "silent":
            await anyio.sleep(60)
        case "stubborn":
            with anyio.CancelScope(shield=True):
                await turn.say("no")
                await anyio.sleep(60)
        case "late":
            with anyio.CancelScope(shield=True):
                await turn.say("not yet")
                while not os.path.exists(os.path.join(turn.cwd, "go")):
                    await anyio.sleep(0.02)
                await turn.say(" at last")
        case "edit":
            allowed = await turn.edit("file.txt", "new\\n", reason="it must be new")
            await turn.say("allowed" if allowed else "denied")
        case text:
            await turn.say(f"you said {text}")
    return None

agent.run()
"""


def program(folder: Path, *more: str) -> tuple[str, ...]:
    """The command that starts such an agent; its sessions are kept in the folder."""
    file = folder / "tester.py"
    file.write_text(TEXT, "utf-8")
    return (sys.executable, str(file), str(folder / "sessions.sqlite3"), *more)
