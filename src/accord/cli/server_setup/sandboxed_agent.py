"""The transport to an agent in a sandbox, whose command line is made while others are served."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from anyio import to_thread
from anyio.abc import TaskGroup

from accord.transport.subprocess import StderrListener, SubprocessTransport
from accord.transport.transport import Receiver


class SandboxedAgent(SubprocessTransport):
    """Starts what `prepare` returns, which looks at files and may ask the kernel."""

    def __init__(
        self,
        prepare: Callable[[], Sequence[str]],
        *,
        cwd: str | Path,
        env: Mapping[str, str],
        stderr: StderrListener,
    ) -> None:
        super().__init__((), cwd=cwd, env=env, stderr=stderr)
        self._prepare = prepare

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Prepare the sandbox in a thread, then start the process.

        Raises:
            SandboxRefused: this agent or its folders cannot be put into one.
            SpawnFailed: the program or folder does not exist.
        """
        self._command = tuple(await to_thread.run_sync(self._prepare))
        await super().start(receiver, tasks)


__all__ = ["SandboxedAgent"]
