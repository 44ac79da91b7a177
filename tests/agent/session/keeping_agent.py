"""An agent whose sessions are in a file: `keeping_agent.py FILE`."""

from __future__ import annotations

import os
import signal
import sys

from accord import Agent, Turn
from accord.store.sqlite import SqliteStore

agent = Agent("keeper", version="1.0.0", store=SqliteStore(sys.argv[1]))


@agent.on_prompt
async def obey(turn: Turn) -> None:
    """`die` is kill -9 in the middle of a turn; everything else is counted and said back."""
    if turn.text == "die":
        await turn.say("So be it.")
        async with turn.tool_call("Falling", kind="execute"):
            os.kill(os.getpid(), signal.SIGKILL)
    count = int(await turn.session.kept("count") or b"0") + 1
    await turn.session.keep("count", b"%d" % count)
    await turn.set_title(f"About {turn.text}")
    async with turn.message() as message:
        for word in (f"{count}: ", *turn.text):
            await message.write(word)


if __name__ == "__main__":
    agent.run()
