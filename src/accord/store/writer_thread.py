"""The one thread that uses the database, and how callers wait for it.

Work is queued in the order of the calls.  The thread takes everything in the queue, does it in one
transaction, commits, and then wakes the callers: a group commit.  During a commit the next group
forms, so no caller waits for more than two commits.  A group of nothing but patient work waits
until the last commit is `group_seconds` ago, so that small pieces which come one by one share a
commit too.

What always holds
    * Finished work survives kill -9.
    * Work that fails does not affect other work: its group is rolled back and done one by one.
    * Each piece of work is done completely or not at all.

How durable is a commit?  With `synchronous=NORMAL`, the default, it has been passed to the system:
it survives any end of our process, and the file is intact after a power cut, but the last moments
may be missing, since nothing waits for the disk.  With `FULL` every commit waits for the disk, and
survives that too, at the cost of some milliseconds per group.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import Any, Generic, TypeVar

import anyio
from anyio.lowlevel import current_token

from accord.errors import StoreError
from accord.store.database_file import Synchronous, close_unchanged, open_file
from accord.store.file_format import FileFormat
from accord.store.migrations import SESSION_STORE
from accord.store.store_errors import explained

T = TypeVar("T")

# The most work in one transaction: a bound on how long the first caller waits.
GROUP_MAX = 1000


class Pending(Generic[T]):
    """Queued work; await it for its result.  Cancelling the wait does not undo it."""

    __slots__ = (
        *("_error", "_event", "_loop", "_result", "_settled", "_then"),
        *("is_patient", "reads", "work"),
    )

    def __init__(
        self,
        work: Callable[[sqlite3.Connection], T],
        reads: bool = False,
        then: Callable[[T], None] | None = None,
        is_patient: bool = False,
    ) -> None:
        self.work = work
        self.reads = reads
        self.is_patient = is_patient
        self._then = then
        self._event = anyio.Event()
        self._loop: Any = current_token().native_token
        self._settled = False
        self._result: Any = None
        self._error: BaseException | None = None

    def settle(self, result: Any, error: BaseException | None) -> None:
        """Set the result; called in the writer's thread."""
        self._result, self._error, self._settled = result, error, True

    @property
    def loop(self) -> Any:
        """The event loop of the caller."""
        return self._loop

    def tell(self) -> None:
        """Wake the caller; called in the thread of its event loop."""
        if self._then is not None and self._error is None:
            self._then(self._result)
        self._event.set()

    def __await__(self) -> Generator[Any, Any, T]:
        if not self._settled:
            yield from self._event.wait().__await__()
        if self._error is not None:
            raise self._error
        result: T = self._result
        return result


class Writer:
    """Guards the connection: only its own thread uses it."""

    def __init__(
        self,
        path: Path,
        synchronous: Synchronous = "NORMAL",
        file_format: FileFormat = SESSION_STORE,
        *,
        group_seconds: float = 0.0,
    ) -> None:
        self._path = path
        self._group_seconds = group_seconds
        self._committed_at = -group_seconds
        self._synchronous: Synchronous = synchronous
        self._format = file_format
        self._queue: SimpleQueue[Pending[Any]] = SimpleQueue()
        self._connection: sqlite3.Connection | None = None
        self._thread: threading.Thread | None = None
        self._closing = False
        # What is wrong with the file; once set, nothing is written to it.
        self._damage: StoreError | None = None
        self.commits = 0

    def submit(
        self,
        work: Callable[[sqlite3.Connection], T],
        *,
        reads: bool = False,
        then: Callable[[T], None] | None = None,
        is_patient: bool = False,
    ) -> Pending[T]:
        """Queue work; await the returned object for the result.  `reads` work does not write.

        What is patient may wait for others to share its commit.
        `then` is called with the result in the event loop, in the order of the queue, before the
        caller is woken and whether or not it still waits.  It must not raise.

        Raises (when awaited):
            StoreError: the store cannot be reached, or has no space, or is damaged.
        """
        pending = Pending(work, reads, then, is_patient)
        self._queue.put(pending)
        if self._thread is None:
            self._start()
        return pending

    def _start(self) -> None:
        # A daemon: work without a waiting caller must not keep the process alive.
        self._thread = threading.Thread(target=self._run, name="accord store", daemon=True)
        self._thread.start()

    async def aclose(self) -> None:
        """Finish the queue, then close the file.  Later work opens it again."""
        if self._thread is None or self._closing:
            return
        self._closing = True
        with anyio.CancelScope(shield=True):
            await self.submit(_end)
        self._thread.join()
        self._thread = None
        self._closing = False
        if not self._queue.empty():
            self._start()

    # ---- in the thread

    def _run(self) -> None:
        while True:
            group, end = self._gather()
            if group:
                self._do(group)
                tell(group)
            if end is not None:
                if self._connection is not None:
                    self._close(self._connection)
                    self._connection = None
                end.settle(None, None)
                tell((end,))
                return

    def _close(self, connection: sqlite3.Connection) -> None:
        if self._damage is None:
            connection.close()
        else:
            # Closing would move the log into a file that will not be written to.
            close_unchanged(connection, self._path)

    def _gather(self) -> tuple[list[Pending[Any]], Pending[Any] | None]:
        group: list[Pending[Any]] = []
        has_waited = self._group_seconds == 0
        next_one = self._queue.get()
        while next_one.work is not _end:
            group.append(next_one)
            if len(group) == GROUP_MAX:
                return group, None
            if self._queue.empty() and not has_waited:
                has_waited = True
                self._let_others_join(group)
            try:
                next_one = self._queue.get_nowait()
            except Empty:
                return group, None
        return group, next_one

    def _let_others_join(self, group: Sequence[Pending[Any]]) -> None:
        """Wait until the last commit is long enough ago, if all of the group can wait."""
        seconds = self._committed_at + self._group_seconds - monotonic()
        if seconds > 0 and all(one.is_patient for one in group):
            # Nothing wakes this thread earlier: that is what waiting is to save.
            sleep(seconds)

    def _do(self, group: Sequence[Pending[Any]]) -> None:
        try:
            results = self._transaction(group)
        except Exception as error:  # noqa: BLE001 - whatever it is, whoever waits is told
            if len(group) == 1:
                group[0].settle(None, self._as_told(error))
                return
            for one in group:
                self._do((one,))
            return
        for one, result in zip(group, results, strict=True):
            one.settle(result, None)

    def _transaction(self, group: Sequence[Pending[Any]]) -> list[Any]:
        reads = all(one.reads for one in group)
        if self._damage is not None and not reads:
            # A new one each time: the traceback of a reused error grows.
            raise StoreError(self._damage.reason, str(self._damage), **self._damage.details)
        connection = self._connection
        if connection is None:
            connection = self._connection = open_file(self._path, self._synchronous, self._format)
        # A reader does not wait for writers in other processes.
        connection.execute("BEGIN" if reads else "BEGIN IMMEDIATE")
        try:
            results = [one.work(connection) for one in group]
            connection.execute("COMMIT")
        except BaseException:
            # Some errors, such as a full disk, have already ended the transaction.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        if not reads:
            self.commits += 1
            self._committed_at = monotonic()
        return results

    def _as_told(self, error: Exception) -> Exception:
        """Return the error for the caller: the file, the problem, and what helps."""
        if isinstance(error, sqlite3.Error | UnicodeError | OSError):
            problem = explained(error, self._path, self.commits > 0, self._format)
            if problem.reason == "store_damaged" and self._damage is None:
                # It already says that the file is not written to.
                self._damage = problem
            return problem
        command = self._format.rescue_command
        if (
            command is not None
            and isinstance(error, StoreError)
            and error.reason == "session_damaged"
        ):
            text = f"{error}; `{command}` recovers what can be read of {self._path}"
            return StoreError(error.reason, text, path=str(self._path), **error.details)
        return error


def _end(connection: sqlite3.Connection) -> None:
    """Mark the end of the thread in its queue; never called."""


def tell(group: Sequence[Pending[Any]]) -> None:
    """Wake all callers of this group, with one call into each event loop."""
    loops = {id(one.loop): one.loop for one in group}
    for key, loop in loops.items():
        waiting = [one for one in group if id(one.loop) == key]

        def wake(those: Sequence[Pending[Any]] = waiting) -> None:
            for one in those:
                one.tell()

        # asyncio's name for it, and trio's: anyio's own way would block this thread.
        soon = getattr(loop, "call_soon_threadsafe", None) or loop.run_sync_soon
        try:
            soon(wake)
        except RuntimeError:
            # That loop has ended, and its callers with it.
            continue
