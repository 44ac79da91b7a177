"""Tasks that serve requests, kept and used again.

A request needs a task of its own, since its handler may call the peer back and wait.  Starting
one costs more than all else that happens to a small request, so a worker that is done waits for
the next job.  A job runs in a cancel scope of its own and never raises out of its worker, unless a
function of the program leaves the program.
"""

from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import TaskGroup

IDLE_WORKERS_MAX = 64

Job = Callable[[], Awaitable[None]]


async def _rest() -> None:
    """What a worker has to do while it waits."""


def leaving(error: BaseException) -> Job:
    """The job of who leaves the program where no task runs."""

    async def leave() -> None:
        raise error

    return leave


class Workers:
    """Runs jobs in tasks of one group."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._idle: list[_Worker] = []

    def run(self, job: Job) -> None:
        """Start the job soon, in a waiting worker or in a new one."""
        if self._idle:
            self._idle.pop().give(job)
        else:
            worker = _Worker(self._idle, job)
            self._tasks.start_soon(worker.work, name="accord request")


class _Worker:
    def __init__(self, idle: "list[_Worker]", job: Job) -> None:
        self._idle = idle
        self._wake = anyio.Event()
        self._job = job

    def give(self, job: Job) -> None:
        self._job = job
        self._wake.set()

    async def work(self) -> None:
        while True:
            try:
                await self._job()
            except (SystemExit, KeyboardInterrupt) as error:
                # Out of a task, these would stop the event loop with everything still open; in a
                # group they end the conversation first.
                raise BaseExceptionGroup("the program is left", [error]) from None
            # What the job held is not held on to while the worker waits.
            self._job = _rest
            if len(self._idle) >= IDLE_WORKERS_MAX:
                return
            self._wake = anyio.Event()
            self._idle.append(self)
            await self._wake.wait()
