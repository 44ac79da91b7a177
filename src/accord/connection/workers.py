"""A pool of tasks that serve requests.

A request needs a task of its own, since its handler may call the peer back and wait.  Starting
a task costs more than everything else that a small request needs, so an idle worker waits for the
next job.  A job runs in a cancel scope of its own and raises nothing out of its worker but
SystemExit and KeyboardInterrupt.

Jobs start in the order in which they were given, whichever worker the scheduler wakes first:
`terminal/wait_for_exit` reaches the service before the `terminal/release` after it.
"""

from collections import deque
from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import TaskGroup

IDLE_WORKERS_MAX = 64

Job = Callable[[], Awaitable[None]]


def raising(error: BaseException) -> Job:
    """Return a job that raises SystemExit or KeyboardInterrupt inside a task.

    The event loop then closes the connection before the program exits.
    """

    async def raise_error() -> None:
        raise error

    return raise_error


class Workers:
    """Runs jobs in tasks of one group.

    Guards: as many workers have been woken or started as there are jobs that have not begun.
    """

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        # Made with the first job: most connections of a server are idle.
        self._jobs: deque[Job] | None = None
        # One event for each idle worker.
        self._idle: list[anyio.Event] = []

    def run(self, job: Job) -> None:
        """Start the job soon, in an idle worker or in a new one."""
        if self._jobs is None:
            self._jobs = deque()
        self._jobs.append(job)
        if self._idle:
            self._idle.pop().set()
        else:
            self._tasks.start_soon(self._work, name="accord request")

    async def _work(self) -> None:
        assert self._jobs is not None
        while True:
            try:
                # The oldest job, not one that was chosen when the worker was woken.  It gets no
                # local name, so that an idle worker keeps nothing of it alive.
                await self._jobs.popleft()()
            except (SystemExit, KeyboardInterrupt) as error:
                # A bare SystemExit would stop the event loop with everything still open; inside a
                # group it ends the connection first.
                raise BaseExceptionGroup("the program exits", [error]) from None
            if len(self._idle) >= IDLE_WORKERS_MAX:
                return
            wake = anyio.Event()
            self._idle.append(wake)
            await wake.wait()
