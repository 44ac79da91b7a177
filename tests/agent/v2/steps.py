"""Every step of a turn at which a client may want it to stop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from accord.agent import Turn
from accord.agent.tools.elicitation import FormField


class Halt:
    """A place where a turn waits for ever, once somebody is told that it is there."""

    def __init__(self) -> None:
        self.reached = anyio.Event()

    async def here(self) -> None:
        """Wait to be cancelled."""
        self.reached.set()
        await anyio.sleep_forever()


async def at_once(turn: Turn, halt: Halt) -> None:
    """Before anything was said."""
    await halt.here()


async def in_a_message(turn: Turn, halt: Halt) -> None:
    """In the middle of a streamed message."""
    async with turn.message() as message:
        await message.write("so far")
        await halt.here()


async def in_a_thought(turn: Turn, halt: Halt) -> None:
    """In the middle of a thought."""
    async with turn.thought() as thought:
        await thought.write("so far")
        await halt.here()


async def after_a_plan(turn: Turn, halt: Halt) -> None:
    """With a plan half done."""
    plan = await turn.plan("one", "two")
    await plan.start(0)
    await halt.here()


async def before_permission(turn: Turn, halt: Halt) -> None:
    """With a tool call announced."""
    async with turn.tool_call("Edit", kind="edit"):
        await halt.here()


async def at_permission(turn: Turn, halt: Halt) -> None:
    """While the user is asked; the client never answers."""
    async with turn.tool_call("Edit", kind="edit") as call:
        halt.reached.set()
        await call.ask("May I?")
        raise AssertionError("not answered is not approved")


async def in_a_form(turn: Turn, halt: Halt) -> None:
    """While the user fills a form."""
    halt.reached.set()
    await turn.ask("Who?", name=FormField())


async def at_a_page(turn: Turn, halt: Halt) -> None:
    """While the user is asked to visit a page."""
    halt.reached.set()
    await turn.ask_to_visit("Look", "https://example.com")


async def in_progress(turn: Turn, halt: Halt) -> None:
    """While a tool works."""
    async with turn.tool_call("Search", kind="search") as call:
        await call.run(halt.here)


async def in_two_tools(turn: Turn, halt: Halt) -> None:
    """While two tools work side by side."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(in_progress, turn, halt)
        tasks.start_soon(in_progress, turn, halt)


async def in_a_command(turn: Turn, halt: Halt) -> None:
    """While a command of ours runs."""
    halt.reached.set()
    await turn.run("echo so far; sleep 60")


async def between_tools(turn: Turn, halt: Halt) -> None:
    """After one tool and before the next."""
    async with turn.tool_call("Read", kind="read"):
        pass
    await halt.here()


async def in_an_open_tool(turn: Turn, halt: Halt) -> None:
    """With a tool call that is not a block, so that the turn has to end it."""
    call = turn.tool_call("Read", kind="read")
    await call.announce()
    await halt.here()


async def in_a_compaction(turn: Turn, halt: Halt) -> None:
    """While the context is compacted."""
    async with turn.compaction():
        await halt.here()


async def in_a_model_call(turn: Turn, halt: Halt) -> None:
    """In a library that turns an abort into an exception of its own."""
    try:
        await halt.here()
    except BaseException as error:
        raise ConnectionAbortedError("aborted") from error


async def in_a_careless_handler(turn: Turn, halt: Halt) -> None:
    """In a handler that goes on after the first cancellation."""
    try:
        await halt.here()
    except BaseException:
        await turn.say("never said")
        raise


STEPS: list[Callable[[Turn, Halt], Awaitable[None]]] = [
    at_once,
    in_a_message,
    in_a_thought,
    after_a_plan,
    before_permission,
    at_permission,
    in_a_form,
    at_a_page,
    in_progress,
    in_two_tools,
    in_a_command,
    between_tools,
    in_an_open_tool,
    in_a_compaction,
    in_a_model_call,
    in_a_careless_handler,
]
