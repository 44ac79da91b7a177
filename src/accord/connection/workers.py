"""Tasks that serve requests, kept and used again.

A request needs a task of its own, since its handler may call the peer back and wait.  Starting
one costs more than all else that happens to a small request, so a worker that is done waits for
the next job.  A job runs in a cancel scope of its own and never raises out of its worker, unless a
function of the program leaves the program.

Jobs begin in the order in which they were given, in whatever order the scheduler wakes the
workers: `terminal/wait_for_exit` reaches the service before the `terminal/release` behind it.
"""

from collections import deque
from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import TaskGroup

IDLE_WORKERS_MAX = 64

Job = Callable[[], Awaitable[None]]


def leaving(error: BaseException) -> Job:
    """The job of who leaves the program where no task runs."""

    async def leave() -> None:
        raise error

    return leave


class Workers:
    """Runs jobs in tasks of one group.

    Guards: as many workers are on their way to a job as there are jobs that have not begun.
    """

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._jobs: deque[Job] = deque()
        # What wakes each worker that waits for a job.
        self._idle: list[anyio.Event] = []

    def run(self, job: Job) -> None:
        """Start the job soon, in a waiting worker or in a new one."""
        self._jobs.append(job)
        if self._idle:
            self._idle.pop().set()
        else:
            self._tasks.start_soon(self._work, name="accord request")

    async def _work(self) -> None:
        while True:
            try:
                # The oldest job, not one that was chosen when the worker was woken.  No name is
                # kept for it, so that what it held is not held on to while the worker waits.
                await self._jobs.popleft()()
            except (SystemExit, KeyboardInterrupt) as error:
                # Out of a task, these would stop the event loop with everything still open; in a
                # group they end the conversation first.
                raise BaseExceptionGroup("the program is left", [error]) from None
            if len(self._idle) >= IDLE_WORKERS_MAX:
                return
            wake = anyio.Event()
            self._idle.append(wake)
            await wake.wait()
