"""An agent for the tests of `accord run`: the prompt says what it does.

`write FILE`, `read FILE`, `run COMMAND`, `delete FILE`, `ask CALL`, `stop REASON`, `wait`, `fail`,
`flood N` and others; several are separated by `;`.  With `v1` as argument it speaks the older
version, so that files and terminals go through the client; with `plain` it takes nothing but text
and links.
"""

from __future__ import annotations

import json
import os
import sys

import anyio

from accord import Agent, Choice, Turn
from accord.agent.agent import PromptType
from accord.agent.session.agent_session import AgentSession
from accord.agent.turn import turn_state
from accord.errors import RequestError
from accord.schema import v2

SHOUT = "loud\x1b]0;shouted\x07\x9b2J\r"
VERSIONS = (1,) if "v1" in sys.argv else (1, 2)
ACCEPTS: tuple[PromptType, ...] = () if "plain" in sys.argv else ("embedded_context",)
agent = Agent("tester", version="1.0.0", versions=VERSIONS, accepts=ACCEPTS)
LIMITED: list[str] = []
agent.add_mode("ask", "Ask", "Asks")
agent.add_mode("free", "Free", "Does not ask", allow=("edit", "execute"))
agent.add_option(
    "model",
    "Model",
    [Choice("small", "Small one"), Choice("large", "Large one")],
    category="model",
)


@agent.on_session
async def begin(session: AgentSession) -> None:
    """Tell of one more model later, where that is wanted."""

    async def tell() -> None:
        # Behind the answer to the request, which a session's own tasks may come before.
        await anyio.sleep(0.2)
        option = agent.offer.options["model"]
        more = (*option.choices, Choice("late", "Late one"))
        agent.offer.options["model"] = option._replace(choices=more)
        await session.set_option("model", "small", announce=True)

    if "late" in sys.argv:
        session.start_soon(tell)


@agent.on_prompt
async def work(turn: Turn) -> str | None:
    """Do what is said, one thing after the other."""
    for part in turn.text.split(";"):
        word, _, rest = part.strip().partition(" ")
        stop = await _do(turn, word, rest)
        if stop is not None:
            return stop
    return None


async def _do(turn: Turn, word: str, rest: str) -> str | None:
    if word == "write":
        wrote = await turn.edit(rest, "new text\n", reason="because of the test")
        await turn.say(f"wrote={wrote}")
    elif word == "read":
        await turn.say((await turn.read_text(rest)).strip())
    elif word == "delete":
        await turn.say(f"deleted={await turn.delete(rest)}")
    elif word == "run":
        done = await turn.run(*rest.split(), timeout=10)
        await turn.say(f"exit={done.exit_code} denied={done.denied}")
    elif word == "ask":
        async with turn.tool_call(**json.loads(rest)) as call:
            await turn.say(f"may={await call.ask('because of the test')}")
    elif word == "call":
        async with turn.tool_call(**json.loads(rest)):
            pass
    elif word == "plan":
        await turn.plan("look", "leap")
        await turn.usage(1, 2)
    elif word == "stop":
        return rest
    elif word == "fail":
        raise RuntimeError("something broke")
    elif word == "die":
        os._exit(7)
    elif word == "shout":
        if rest == "error":
            raise RequestError(-32603, SHOUT)
        os.write(2, SHOUT.encode())
        os._exit(7)
    elif word == "pause":
        await turn.say("pausing\n")
        # Opening a pipe waits until its other end is opened.
        with await anyio.to_thread.run_sync(open, turn.session.cwd / "go"):
            pass
    elif word == "limit":
        times, seconds = rest.split()
        LIMITED.append(times)
        if len(LIMITED) <= int(times):
            raise RequestError.rate_limited("one at a time", float(seconds))
        await turn.say(f"after {len(LIMITED)} tries")
    elif word == "half":
        await turn.say("half a line")
        await anyio.sleep_forever()
    elif word == "wait":
        await turn.say("waiting\n")
        await anyio.sleep_forever()
    elif word == "deaf":
        await turn.say("deaf now\n")
        with anyio.CancelScope(shield=True):
            await anyio.sleep_forever()
    elif word == "flood":
        async with turn.message() as message:
            for number in range(int(rest)):
                await message.write(f"line {number}\n")
    elif word == "twice":
        await turn.say("first")
        await turn.edit("twice.txt", "x\n")
        await turn.say("second")
    elif word == "replace":
        await turn_state(turn).send(v2.AgentMessageChunk(message_id="m", content=_text("older")))
        await turn_state(turn).send(v2.AgentMessage(message_id="m", content=[_text("CD")]))
        await turn_state(turn).send(v2.AgentMessage(message_id="m", content=[]))
        await turn_state(turn).send(v2.AgentMessageChunk(message_id="m", content=_text("last")))
    elif word == "blocks":
        await turn.say(" ".join(type(block).__name__ for block in turn.prompt))
    elif word == "state":
        await turn.say(f"mode={turn.mode} model={turn.options['model']}")
    else:
        await turn.say(f"echo: {word} {rest}".strip())
    return None


def _text(text: str) -> v2.TextContent:
    return v2.TextContent(text=text)


if __name__ == "__main__":
    agent.run()
