"""An agent that the gateway hosts: how it is started, and which version it speaks.

Which version that is, is found out once, by starting it.  All of its sessions speak this version;
clients of other versions get a translator.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import anyio
from anyio.abc import TaskGroup

from accord.errors import AccordError, RequestFailed
from accord.gateway.agents.agent_process import AgentProcess, Version
from accord.gateway.configuration.agent_settings import AgentSettings
from accord.proxy.relay.translated_transport import Translated
from accord.schema.codec import encode, to_python
from accord.schema.struct import Raw
from accord.transport.subprocess import SubprocessTransport
from accord.transport.transport import Transport
from accord.version import __version__

START_SECONDS_MAX: Final = 30.0
"""How long an agent may take to answer `initialize`."""

ANSWERS_KEPT: Final = 64

Connect = Callable[[str | None], Transport]
"""Makes a transport to a new process of the agent, which works in this folder."""


@dataclass(frozen=True)
class Profile:
    """What the agent answered when it was first started."""

    version: Version
    dialect: Literal["v1", "v2", "draft"]
    initialized: dict[str, Any] = field(default_factory=dict)


class HostedAgent:
    """Starts processes of one agent."""

    def __init__(self, settings: AgentSettings, connect: Connect) -> None:
        self.settings = settings
        self.name = settings.name
        self._connect = connect
        self._profile: Profile | None = None
        self._finding_out = anyio.Lock()
        # The answers to `initialize`, by what clients can do.
        self._answers: OrderedDict[bytes, Raw] = OrderedDict()

    async def profile(self) -> Profile:
        """Return the agent's version and its capabilities; the first caller starts it for that.

        Raises:
            SpawnFailed: it cannot be started.
            RequestFailed: it does not answer `initialize`, or refuses it.
        """
        async with self._finding_out:
            if self._profile is None:
                with anyio.move_on_after(START_SECONDS_MAX) as limit:
                    self._profile = await self._find_out()
                if limit.cancelled_caught or self._profile is None:
                    raise _too_slow(self.name)
            return self._profile

    async def _find_out(self) -> Profile:
        found: list[Literal["v1", "v2", "draft"]] = []
        transport = Translated(lambda: self._connect(None), to="v1", found=found.append)
        answer = Raw(b"{}")
        # Out of the group, which would wrap it.
        problem: AccordError | None = None
        async with anyio.create_task_group() as tasks:
            process = AgentProcess(self.name, transport, tasks)
            try:
                answer = await process.start(encode(_INTRODUCTION))
            except AccordError as error:
                problem = error
            finally:
                await process.aclose()
                tasks.cancel_scope.cancel()
        if problem is not None:
            raise problem
        dialect = found[0] if found else "v1"
        initialized = to_python(answer)
        return Profile("v2" if dialect == "v2" else "v1", dialect, initialized)

    def known_answer(self, initialize: Mapping[str, Any]) -> Raw | None:
        """Return what the agent answered to a client that can do the same.

        So a client that only looks, or comes back to a session that runs, starts no process.
        """
        return self._answers.get(_question(initialize))

    def _remember(self, initialize: Mapping[str, Any], answer: Raw) -> None:
        self._answers[_question(initialize)] = answer
        if len(self._answers) > ANSWERS_KEPT:
            self._answers.popitem(last=False)

    async def start(
        self,
        initialize: Mapping[str, Any],
        cwd: str | None,
        tasks: TaskGroup,
        ended: Callable[[AgentProcess], None] = lambda _: None,
    ) -> AgentProcess:
        """Start a process and initialize it with what a client said.

        Raises:
            SpawnFailed: it cannot be started.
            RequestFailed: it does not answer `initialize`, or refuses it.
        """
        profile = await self.profile()
        transport = self._connect(cwd)
        if profile.dialect == "draft":
            transport = Translated(transport, to="v1", speaks="draft")
        process = AgentProcess(self.name, transport, tasks, ended=ended)
        with anyio.move_on_after(START_SECONDS_MAX) as limit:
            try:
                self._remember(initialize, await process.start(encode(dict(initialize))))
            except BaseException:
                await process.aclose()
                raise
        if limit.cancelled_caught:
            raise _too_slow(self.name)
        return process


def command_of(
    command: Sequence[str], env: Mapping[str, str] | None = None, cwd: str | None = None
) -> Connect:
    """Return what starts a command; without a folder of the session it runs in `cwd`."""

    def connect(folder: str | None) -> Transport:
        return SubprocessTransport(command, cwd=folder or cwd, env=env)

    return connect


def _question(initialize: Mapping[str, Any]) -> bytes:
    """Return what an answer may depend on: everything but the client's name."""
    asked = {key: one for key, one in initialize.items() if key not in ("clientInfo", "info")}
    return encode(dict(sorted(asked.items())))


def _too_slow(name: str) -> RequestFailed:
    said = f"{name} did not answer initialize within {START_SECONDS_MAX:g} s"
    return RequestFailed("initialize", -32059, said, {"reason": "timeout"})


_INTRODUCTION: Final = {
    "protocolVersion": 1,
    "clientInfo": {"name": "accord-gateway", "version": __version__},
    "clientCapabilities": {},
}
