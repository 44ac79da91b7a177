"""An agent for tests of `accord serve`: a program whose sessions outlive its process.

Its store is the file that the first argument names.  What it does is the prompt's first word.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from anyio import to_thread

from accord import Agent, Turn
from accord.store.sqlite import SqliteStore

store = None if sys.argv[1] == ":memory:" else SqliteStore(sys.argv[1])
agent = Agent("hosted", version="7.1", store=store)


@agent.on_prompt
async def answer(turn: Turn) -> None:
    """Do what the prompt says."""
    verb, _, rest = turn.text.partition(" ")
    if verb == "pid":
        await turn.say(str(os.getpid()))
    elif verb == "daemon":
        # It leaves its group and its session, and its parent ends.
        line = "setsid sleep 1000 >/dev/null 2>&1 & echo $!"
        shell = subprocess.run(["/bin/sh", "-c", line], capture_output=True, check=True)
        await turn.say(f"{os.getpid()} {int(shell.stdout)}")
    elif verb == "wait":
        await turn.say("waiting")
        # A pipe with a name: this ends when the test writes to it.
        await turn.say(await to_thread.run_sync(Path(rest).read_text))
    elif verb == "write":
        try:
            Path(rest).write_text("written")
            await turn.say("written")
        except OSError as error:
            await turn.say(f"refused: {error.strerror}")
    elif verb == "variable":
        await turn.say(os.environ.get(rest, "not set"))
    else:
        await turn.say(turn.text)


if __name__ == "__main__":
    agent.run()
