"""An agent on our own library that does what its prompt says.

    agent.py [--login] [VERSION...]

The commands are listed in tests/interop/README.md.  One program for every version: it serves those
that are named, by default all.  With `--login` it does nothing for strangers.
"""

import shlex
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from accord import Agent, FormField, RequestError, Turn
from accord.agent.serving.outgoing_checks import describe
from accord.agent.session.agent_session import session_state
from accord.agent.tools.permission_request import PermissionOption
from accord.schema import v2

OPTIONS = [
    PermissionOption(kind, kind, kind)
    for kind in ("allow_once", "allow_always", "reject_once", "reject_always")
]

# A command that is to be killed gets this long to start.
KILL_SECONDS = 0.2

agent = Agent(
    "ours",
    version="1.0.0",
    versions=[int(word) for word in sys.argv[1:] if word in ("1", "2")] or (1, 2),
    accepts=("image", "audio", "embedded_context"),
)
agent.add_mode("ask", "Ask")
agent.add_mode("code", "Code")
agent.add_option("model", "Model", ["small", "large"], category="model")
agent.add_switch("verbose", "Verbose")
agent.add_auth_method("key", "Key", required="--login" in sys.argv)


@agent.command("run", "Run a file", hint="file")
async def run_file(turn: Turn, argument: str) -> None:
    await turn.say(f"run {argument}")


@agent.method("_interop/echo")
async def echoed(params: dict[str, Any]) -> dict[str, Any]:
    return params


async def say(turn: Turn, text: str) -> None:
    await turn.say(text)


async def stream(turn: Turn, count: str) -> None:
    async with turn.message() as message:
        for number in range(int(count)):
            await message.write(f"{number} ")


async def think(turn: Turn, text: str) -> None:
    await turn.think(text)


async def plan(turn: Turn, _: str) -> None:
    shown = await turn.plan(
        v2.PlanEntry(content="Look", priority="high", status="in_progress"),
        v2.PlanEntry(content="Leap", priority="low", status="pending"),
    )
    await shown.complete(0)


async def tool(turn: Turn, _: str) -> None:
    call = turn.tool_call(
        "Search the code",
        kind="search",
        locations=[("hay.py", 3)],
        raw_input={"query": "needle"},
    )
    async with call:
        await call.start()
        await call.show("1 match")
        await call.complete(raw_output={"matches": 1})


async def edit(turn: Turn, argument: str) -> None:
    name, _, text = argument.partition(" ")
    await turn.say("edited" if await turn.edit(name, text) else "not edited")


async def permission(turn: Turn, _: str) -> str | None:
    async with turn.tool_call("Deploy", kind="execute") as call:
        chosen = await call.choose("Because the prompt said so", options=OPTIONS)
        await turn.say(f"permission {chosen.kind if chosen else 'cancelled'}")
        if not call.is_final and (chosen is None or not chosen.allows):
            await call.fail()
    return "cancelled" if chosen is None else None


async def terminal(turn: Turn, line: str) -> None:
    done = await turn.run(*shlex.split(line))
    await turn.say(f"exit={done.exit_code} output={done.output.strip()}")


async def kill(turn: Turn, line: str) -> None:
    done = await turn.run(*shlex.split(line), timeout=KILL_SECONDS)
    await turn.say(f"killed={done.timed_out and done.exit_code != 0}")


async def read(turn: Turn, name: str) -> None:
    await turn.say(await turn.read_text(name))


async def write(turn: Turn, argument: str) -> None:
    name, _, text = argument.partition(" ")
    await turn.write_text(name, text)
    await turn.say("written")


async def mode(turn: Turn, mode_id: str) -> None:
    await turn.set_mode(mode_id)


async def config(turn: Turn, argument: str) -> None:
    key, value = argument.split()
    await turn.set_option(key, value)


async def usage(turn: Turn, _: str) -> None:
    await turn.usage(10, 100, cost=0.5)


async def title(turn: Turn, text: str) -> None:
    await turn.set_title(text)


async def commands(turn: Turn, _: str) -> None:
    listed = session_state(turn.session).command_list()
    await turn.emit(v2.AvailableCommandsUpdate(available_commands=listed))


async def long(turn: Turn, _: str) -> None:
    await turn.say("working")
    await anyio.sleep_forever()


async def refuse(_turn: Turn, _: str) -> str:
    return "refusal"


async def fail(_turn: Turn, text: str) -> None:
    raise RequestError(-32603, text or "failed on request")


async def blocks(turn: Turn, _: str) -> None:
    await turn.say(" ".join(describe(block) for block in turn.prompt))


async def form(turn: Turn, _: str) -> None:
    answer = await turn.ask("Who?", name=FormField())
    await turn.say(" ".join(["form", answer.action, *map(str, answer.values.values())]))


async def echo(turn: Turn, value: str) -> None:
    answer = await turn.call_extension("_interop/echo", {"value": value}, dict[str, str])
    assert isinstance(answer, dict)
    await turn.say(f"echo {answer['value']}")


async def slow(turn: Turn, _: str) -> None:
    async with turn.tool_call("Slow", cancellable=True) as call:
        await call.start()
        await anyio.sleep_forever()
    await turn.say("stopped" if call.status == "cancelled" else call.status)


COMMANDS: dict[str, Callable[[Turn, str], Awaitable[Any]]] = {
    handler.__name__: handler
    for handler in (
        *(say, stream, think, plan, tool, edit, permission, terminal, kill, read, write),
        *(mode, config, usage, title, commands, long, refuse, fail),
        *(blocks, form, echo, slow),
    )
}


@agent.on_prompt
async def obey(turn: Turn) -> str | None:
    verb, _, argument = turn.text.partition(" ")
    if verb not in COMMANDS:
        raise RequestError.invalid_params(f"no such command: {verb}", "$.prompt[0]")
    stop: str | None = await COMMANDS[verb](turn, argument)
    return stop


if __name__ == "__main__":
    agent.run()
