"""Callbacks for ready descriptors, timers, and the next iteration of the event loop.

On asyncio these are the loop's own callbacks.  On other backends, tasks do the same through anyio,
more slowly and in the same order.
"""

import asyncio
import os
import stat
import sys
from collections.abc import Callable
from contextvars import Context, copy_context

import anyio
from anyio.abc import TaskGroup


def _is_file(fd: int) -> bool:
    """Whether a descriptor is always ready and cannot be registered with a selector.

    This holds for regular files, and for devices such as /dev/null.
    """
    mode = os.fstat(fd).st_mode
    return not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd))


def is_task_cancelled() -> bool:
    """Whether this task was cancelled by asyncio itself, as `asyncio.timeout` and Textual do.

    Backends without such a cancellation use scopes, which anyio knows.
    """
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return False
    return task is not None and task.cancelling() > 0


def is_pipe(fd: int) -> bool:
    """Whether a descriptor is one end of a pipe."""
    return stat.S_ISFIFO(os.fstat(fd).st_mode)


class Driver:
    """Calls back when a descriptor is ready or a timer expires."""

    def watch_read(self, fd: int, callback: Callable[[], None]) -> None: ...
    def unwatch_read(self, fd: int) -> None: ...
    def watch_write(self, fd: int, callback: Callable[[], None]) -> None: ...
    def unwatch_write(self, fd: int) -> None: ...
    def watch_hang_up(self, fd: int, callback: Callable[[], None]) -> None: ...
    def unwatch_hang_up(self, fd: int) -> None: ...
    def soon(self, callback: Callable[[], None]) -> None: ...
    def later(self, seconds: float, callback: Callable[[], None]) -> None: ...
    def close(self) -> None: ...


class LoopDriver(Driver):
    """asyncio's own readiness callbacks; regular files are always ready.

    Callbacks run outside of tasks, where anyio finds its backend through a context variable.  If
    the program did not start the loop with anyio, that variable is not set.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        # Copied for each use, since an entered context cannot be entered again.
        self._context = context_of_asyncio()
        self._files: dict[int, asyncio.Handle] = {}
        self._timers: set[asyncio.TimerHandle] = set()
        self._hang_ups: set[int] = set()

    def watch_read(self, fd: int, callback: Callable[[], None]) -> None:
        if _is_file(fd):
            self._files[fd] = self._soon(self._read_file, fd, callback)
        else:
            self._context.copy().run(self._loop.add_reader, fd, callback)

    def _read_file(self, fd: int, callback: Callable[[], None]) -> None:
        self._files[fd] = self._soon(self._read_file, fd, callback)
        callback()

    def unwatch_read(self, fd: int) -> None:
        handle = self._files.pop(fd, None)
        if handle is not None:
            handle.cancel()
        else:
            self._loop.remove_reader(fd)

    def watch_write(self, fd: int, callback: Callable[[], None]) -> None:
        self._context.copy().run(self._loop.add_writer, fd, callback)

    def unwatch_write(self, fd: int) -> None:
        self._loop.remove_writer(fd)

    def watch_hang_up(self, fd: int, callback: Callable[[], None]) -> None:
        # A writing end becomes readable only when its reader closes.
        self._hang_ups.add(fd)
        self._context.copy().run(self._loop.add_reader, fd, callback)

    def unwatch_hang_up(self, fd: int) -> None:
        if fd in self._hang_ups:
            self._hang_ups.remove(fd)
            self._loop.remove_reader(fd)

    def soon(self, callback: Callable[[], None]) -> None:
        self._soon(callback)

    def _soon(self, callback: Callable[..., None], *given: object) -> asyncio.Handle:
        return self._loop.call_soon(callback, *given, context=self._context.copy())

    def later(self, seconds: float, callback: Callable[[], None]) -> None:
        def ring() -> None:
            self._timers.discard(handle)
            callback()

        handle = self._loop.call_later(seconds, ring, context=self._context.copy())
        self._timers.add(handle)

    def close(self) -> None:
        for timer in self._timers:
            timer.cancel()


class TaskDriver(Driver):
    """The same on any backend: one task per watched direction, ended by its cancel scope."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._scopes: dict[tuple[str, int], anyio.CancelScope] = {}
        self._timers: set[anyio.CancelScope] = set()

    def watch_read(self, fd: int, callback: Callable[[], None]) -> None:
        wait = anyio.lowlevel.checkpoint if _is_file(fd) else lambda: anyio.wait_readable(fd)
        self._start(("read", fd), wait, callback)

    def unwatch_read(self, fd: int) -> None:
        self._stop(("read", fd))

    def watch_write(self, fd: int, callback: Callable[[], None]) -> None:
        self._start(("write", fd), lambda: anyio.wait_writable(fd), callback)

    def unwatch_write(self, fd: int) -> None:
        self._stop(("write", fd))

    def watch_hang_up(self, fd: int, callback: Callable[[], None]) -> None:
        self._start(("hang-up", fd), lambda: anyio.wait_readable(fd), callback)

    def unwatch_hang_up(self, fd: int) -> None:
        self._stop(("hang-up", fd))

    def soon(self, callback: Callable[[], None]) -> None:
        async def call() -> None:
            await anyio.lowlevel.checkpoint()
            callback()

        self._tasks.start_soon(call)

    def later(self, seconds: float, callback: Callable[[], None]) -> None:
        scope = anyio.CancelScope()
        self._timers.add(scope)

        async def wait() -> None:
            with scope:
                await anyio.sleep(seconds)
                self._timers.discard(scope)
                callback()

        self._tasks.start_soon(wait)

    def _start(
        self, key: tuple[str, int], wait: Callable[[], object], call: Callable[[], None]
    ) -> None:
        scope = self._scopes[key] = anyio.CancelScope()

        async def watch() -> None:
            with scope:
                while not scope.cancel_called:
                    await wait()  # type: ignore[misc]
                    call()

        self._tasks.start_soon(watch)

    def _stop(self, key: tuple[str, int]) -> None:
        scope = self._scopes.pop(key, None)
        if scope is not None:
            scope.cancel()

    def close(self) -> None:
        for scope in (*self._scopes.values(), *self._timers):
            scope.cancel()


def context_of_asyncio(context: Context | None = None) -> Context:
    """Let anyio find asyncio outside of tasks: in this context, or in a copy of the current one."""
    if context is None:
        context = copy_context()
    sniffio = sys.modules.get("sniffio")
    if sniffio is not None:
        context.run(sniffio.current_async_library_cvar.set, "asyncio")
    return context


def driver_for(tasks: TaskGroup) -> Driver:
    """Return the driver for the running event loop."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return TaskDriver(tasks)
    return LoopDriver(loop)


__all__ = ["Driver", "context_of_asyncio", "driver_for", "is_pipe", "is_task_cancelled"]
