"""An agent that does on request what an agent should not, for tests from outside its process."""

import json
import os
import subprocess
import sys
import threading
from typing import Any

import anyio
import anyio.from_thread

from accord import Agent, Limits, Turn
from accord.machine.processes.process_groups import live_groups

LIMITS = Limits(**json.loads(os.environ.get("AGENT_LIMITS", "{}")))
agent = Agent("faults", version="1.0.0", limits=LIMITS, strict=False)
agent.add_mode("auto", "Auto", allow=["execute"])
released = anyio.Event()


@agent.on_prompt
async def obey(turn: Turn) -> None:
    """The first word of the prompt says what to do."""
    word, _, rest = turn.text.partition(" ")
    match word:
        case "say":
            await turn.say(rest)
        case "stream":
            async with turn.message() as message:
                for number in range(int(rest)):
                    await message.write(f"{number} ")
        case "large":
            count, size = map(int, rest.split())
            for number in range(count):
                await turn.say("x" * size)
                sys.stderr.write(f"said {number}\n")
        case "noise":
            make_noise()
            await turn.say("done")
        case "stdin":
            await turn.say(f"read {sys.stdin.read()!r}")
        case "wait":
            await turn.say("waiting")
            await anyio.sleep_forever()
        case "stubborn":
            await turn.say("waiting")
            with anyio.CancelScope(shield=True):
                await anyio.sleep_forever()
        case "child":
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(tell_when_tracked, turn)
                await turn.run("/bin/sh", "-c", f'exec 9>"{rest}"; echo up >&9; sleep 1000')
        case "exit":
            sys.exit(int(rest))
        case "exit_in_a_task":
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(leave, int(rest))
        case "thread":
            async with turn.tool_call("Block") as call:
                await call.run(block, turn)
        case "fail":
            raise RuntimeError(f"secret of {rest}")


async def leave(code: int) -> None:
    """End the program from a task of its own."""
    sys.exit(code)


def block(turn: Turn) -> None:
    """In a thread, where no cancellation arrives."""
    anyio.from_thread.run(turn.say, "waiting")
    threading.Event().wait()


async def tell_when_tracked(turn: Turn) -> None:
    """The child runs before the library's own record of it is made; a test waits for both."""
    while not live_groups():
        await anyio.sleep(0.01)
    await turn.say("tracked")


def make_noise() -> None:
    """Everything that writes to stdout behind the library's back."""
    for number in range(2_000):
        print(f"print {number}")
    print('{"jsonrpc":"2.0","id":1,"result":{}}')
    sys.stdout.write("no line end")
    sys.stdout.flush()
    os.write(1, b"os.write\n")
    subprocess.run(["/bin/sh", "-c", "echo child; echo child >&1"], check=True)


@agent.method("_hold")
async def hold(params: dict[str, Any]) -> dict[str, Any]:
    """Wait until somebody lets go, or for ever."""
    await released.wait()
    return params


@agent.method("_release")
async def release(params: dict[str, Any]) -> dict[str, Any]:
    """Let go of everything."""
    global released
    released.set()
    released = anyio.Event()
    return {}


@agent.method("_echo")
async def echo(params: dict[str, Any]) -> dict[str, Any]:
    """Give back what came."""
    return params


@agent.method("_murmur")
async def murmur(params: dict[str, Any]) -> dict[str, Any]:
    """Show on stderr that it came."""
    sys.stderr.write("heard\n")
    return {}


@agent.method("_unsayable")
async def unsayable(params: dict[str, Any]) -> Any:
    """A result that is not JSON."""
    return object()


if __name__ == "__main__":
    agent.run()
