"""Fixtures of the kit for pytest: `pytest_plugins = ["accord.conformance.pytest_plugin"]`.

They start an agent or a client under test, send it raw frames, play a recording to it, and stand in
for an editor.  docs/how-to/test-with-the-kit.md shows how.

Must not know: any check but through `acp_judge`.  What always holds: what a test started is gone
when its `async with` is left.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import anyio
import pytest

from accord.conformance.agent.check_environment import Talk
from accord.conformance.agent.client_messages import DIALECTS
from accord.conformance.agent.editor_profiles import PROFILES, EditorProfile
from accord.conformance.check_definition import Role
from accord.conformance.client.fake_agent import CONVERSATIONS, Conversation
from accord.conformance.client.launch import Way, launched
from accord.conformance.frames.raw_peer import Message, RawPeer
from accord.conformance.frames.recordings import Recorded, play_client, read_recorded
from accord.conformance.rule_definition import Version
from accord.conformance.run.program import started
from accord.conformance.time_limits import ANSWER_SECONDS, CONNECT_SECONDS


class AgentUnderTest(Talk):
    """An agent and an editor that talks to it: `talk.peer` sends raw frames.

    `await talk.initialize()` says hello as the editor does; `session`, `prompt`, `updates`, `said`
    do the rest.  `talk.host` is what the editor answers with, and can be changed.
    """

    __slots__ = ("profile",)
    profile: EditorProfile

    def hello(self, **changes: Any) -> Message:
        """Return the editor's `initialize` params; None removes a key."""
        params = self.profile.hello(self.version) | changes
        return {key: value for key, value in params.items() if value is not None}

    async def play(self, recorded: Recorded) -> list[Message]:
        """Play the client of a recording to the agent, and return its answers."""
        return await play_client(recorded, self.peer)


class StartAgent(Protocol):
    """`acp_agent(command, editor="zed")` starts an agent for an `async with`."""

    def __call__(
        self,
        command: Sequence[str],
        *,
        editor: str | EditorProfile = "everything",
        version: Version = "1",
        env: Mapping[str, str] | None = None,
        patience: float = ANSWER_SECONDS,
    ) -> AbstractAsyncContextManager[AgentUnderTest]: ...


class StartClient(Protocol):
    """`acp_client(command)` starts a client whose agent the test is, for an `async with`."""

    def __call__(
        self,
        command: Sequence[str],
        *,
        way: Way = "spawn",
        version: Version = "1",
        env: Mapping[str, str] | None = None,
        patience: float = ANSWER_SECONDS,
    ) -> AbstractAsyncContextManager[Conversation]: ...


@pytest.fixture
def acp_agent(tmp_path: Path) -> StartAgent:
    """Starts an agent in the test's own folder, and plays an editor to it."""

    @asynccontextmanager
    async def start(
        command: Sequence[str],
        *,
        editor: str | EditorProfile = "everything",
        version: Version = "1",
        env: Mapping[str, str] | None = None,
        patience: float = ANSWER_SECONDS,
    ) -> AsyncGenerator[AgentUnderTest]:
        profile = PROFILES[editor] if isinstance(editor, str) else editor
        folder = str(tmp_path)
        async with (
            started(command, folder=folder, env=env or {}, patience=patience) as program,
            anyio.create_task_group() as tasks,
        ):
            host = DIALECTS[version].host(tmp_path, tasks)
            host.serve(program.peer)
            talk = AgentUnderTest(program, host, version, tmp_path, patience)
            talk.profile = profile
            try:
                yield talk
            finally:
                await host.end()
                tasks.cancel_scope.cancel()

    return start


@pytest.fixture
def acp_client(tmp_path: Path) -> StartClient:
    """Starts a client in the test's own folder; the test is its agent."""

    @asynccontextmanager
    async def start(
        command: Sequence[str],
        *,
        way: Way = "spawn",
        version: Version = "1",
        env: Mapping[str, str] | None = None,
        patience: float = ANSWER_SECONDS,
    ) -> AsyncGenerator[Conversation]:
        folder = str(tmp_path)
        async with launched(
            command, way=way, folder=folder, env=env or {}, patience=patience
        ) as client:
            yield CONVERSATIONS[version](await client.connection(CONNECT_SECONDS), version)

    return start


@pytest.fixture
def acp_recording() -> Callable[[str | Path], Recorded]:
    """Reads a file of `accord record`."""
    return read_recorded


@pytest.fixture
def acp_raw(tmp_path: Path) -> Callable[..., AbstractAsyncContextManager[RawPeer]]:
    """Starts any program on stdio, with raw frames both ways."""

    @asynccontextmanager
    async def start(
        command: Sequence[str], *, patience: float = ANSWER_SECONDS
    ) -> AsyncGenerator[RawPeer]:
        async with started(command, folder=str(tmp_path), env={}, patience=patience) as program:
            yield program.peer

    return start


@pytest.fixture(params=sorted(PROFILES))
def acp_editor(request: pytest.FixtureRequest) -> EditorProfile:
    """Runs the test once for each known editor."""
    return PROFILES[str(request.param)]


class Judge(Protocol):
    """`await acp_judge(command, only=["V1-INIT-*"])` runs checks of the kit over a program."""

    async def __call__(
        self,
        command: Sequence[str],
        *,
        role: Role = "agent",
        version: Version = "1",
        scenario: str | None = None,
        only: Sequence[str] = (),
    ) -> list[str]: ...


@pytest.fixture
def acp_judge() -> Judge:
    """Judges a program: `[]` is conformant.

    What comes back are its failures and the rules that could not be judged, one line each.  An
    agent without a scenario is judged with `generic`.
    """

    async def judge(
        command: Sequence[str],
        *,
        role: Role = "agent",
        version: Version = "1",
        scenario: str | None = None,
        only: Sequence[str] = (),
    ) -> list[str]:
        from accord.conformance.agent.check_environment import agent_stages
        from accord.conformance.agent.scenario import DEFAULT, load_scenario
        from accord.conformance.client.check_environment import client_stages
        from accord.conformance.client.scenario import read_scenario
        from accord.conformance.run.kit_run import RunOptions
        from accord.conformance.run.kit_run import judge as run

        prompts = load_scenario(scenario or ("none" if role == "client" else DEFAULT))
        stages: Any = agent_stages(command, prompts)
        if role == "client":
            path = None if scenario == "none" else scenario
            stages = client_stages(read_scenario(path, command))
        report = await run(command, role, version, stages, prompts, RunOptions(only=tuple(only)))
        failed = [one for one in report.results if report.counts_against(one)]
        found = [f"{one.rule.id}: {one.said}" for one in failed]
        found += [f"{one.rule.id}: not exercised: {one.said}" for one in report.unjudged]
        return found or ([] if report.conformant else ["no rule was judged"])

    return judge
