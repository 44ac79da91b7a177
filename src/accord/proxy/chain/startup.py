"""Makes the components of a chain, programs and in-process proxies, and runs the chain."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence

import anyio
from anyio.abc import TaskGroup

from accord.errors import AccordError
from accord.machine.own_command_line import readable_command
from accord.proxy.chain.conductor import Component, Conductor, OnDeath, Outcome
from accord.proxy.proxy import Proxy
from accord.transport.memory import memory_pair
from accord.transport.subprocess import StderrListener, SubprocessTransport
from accord.transport.transport import Transport


def program(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    stderr: StderrListener | None = None,
) -> Component:
    """Return a component that is a program; `stderr` gets what it writes there."""
    words = tuple(command)
    return Component(
        shlex.join(readable_command(words)),
        lambda _: SubprocessTransport(words, env=env, stderr=stderr),
    )


def in_process(make: Callable[[], Proxy]) -> Component:
    """Return a component that is a proxy in this process; each start makes a new one."""

    def connect(tasks: TaskGroup) -> Transport:
        ours, theirs = memory_pair()
        tasks.start_soon(make().serve, theirs)
        return ours

    return Component(make().name, connect)


async def conduct(
    components: Sequence[Component],
    client: Transport,
    *,
    on_death: OnDeath = "fail",
    has_agent: bool = True,
) -> Outcome:
    """Run a chain until its client disconnects, or a component exits that it cannot do without.

    Raises:
        SpawnFailed: one of the programs cannot be started.
    """
    outcome: Outcome | None = None
    problem: AccordError | None = None
    async with anyio.create_task_group() as tasks:
        conductor = Conductor(components, client, tasks, on_death=on_death, has_agent=has_agent)
        try:
            outcome = await conductor.serve()
        except AccordError as error:
            # Raised below, where no task group wraps it.
            problem = error
        tasks.cancel_scope.cancel()
    if problem is not None:
        raise problem
    assert outcome is not None
    return outcome
