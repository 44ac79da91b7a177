"""An agent that does what its prompt says, for the tests of the page."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import anyio.to_thread

from accord import Agent, Turn

agent = Agent("page tests", version="1.0")


@agent.on_prompt
async def answer(turn: Turn) -> None:
    """Answer; `delete` asks before, `hold` waits in the middle until somebody writes to a pipe,
    `stay` until it is cancelled."""
    word = turn.text.strip()
    if word == "delete":
        async with turn.tool_call("Delete notes.md", kind="delete") as call:
            allowed = await call.ask("it is empty")
        await turn.say("It was allowed." if allowed else "It was refused.")
    elif word == "hold":
        await turn.say("The first half.")
        pipe = os.path.join(turn.cwd, "pipe")
        await anyio.to_thread.run_sync(Path(pipe).read_text)
        await turn.say("The second half.")
    elif word == "stay":
        await turn.say("I stay here.")
        await anyio.sleep_forever()
    else:
        await turn.say(f"You said **{word}**.")
