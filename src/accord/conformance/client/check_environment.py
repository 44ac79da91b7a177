"""The environment of a check of a client: starts the client, and plays its agent.

Must not know: any rule.  What always holds: every client that a check started is gone after it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, cast

from accord.conformance.check_definition import Check, Findings
from accord.conformance.client.fake_agent import (
    BASELINE,
    CONVERSATIONS,
    MANUAL,
    NUMBERS,
    Conversation,
    Offer,
    modes,
)
from accord.conformance.client.launch import Launched, Listen, Way, launched
from accord.conformance.client.scenario import ClientScenario
from accord.conformance.client.session_service import SERVED, SessionService
from accord.conformance.frames.raw_peer import Frame, NotAsked, Unanswered
from accord.conformance.network.http_listener import HttpListener
from accord.conformance.rule_definition import Version
from accord.conformance.run.check_runner import OpenStage, Reached
from accord.conformance.run.program import own_home
from accord.conformance.time_limits import ANSWER_SECONDS, CONNECT_SECONDS, HELD_BACK_SECONDS

# The step that a client answers requests, and a method that shows whether it does.
ANSWERING = "answering requests"
UNKNOWN_METHOD = "_accord.dev/unknown"


@dataclass(slots=True)
class ClientStage:
    """One check of one client."""

    judge: Findings
    version: Version
    folder: Path
    scenario: ClientScenario
    way: Way
    patience: float
    # The variables for its settings and state, which are separate in every check.
    home: Mapping[str, str] = field(default_factory=dict)
    # The address where the kit listens, over a network.
    listen: Listen | None = None
    client: Launched | None = None
    talks: list[Conversation] = field(default_factory=list)
    programs: AsyncExitStack = field(default_factory=AsyncExitStack)
    reached: Reached = field(default_factory=Reached)
    _outputs: list[bytearray] = field(default_factory=list)

    def conversations(self) -> Sequence[Sequence[Frame]]:
        """The conversations in the version that is judged; its rules do not bind the others."""
        return [talk.peer.frames for talk in self.talks if talk.version == self.version]

    def stderr(self) -> str:
        return b"".join(self._outputs).decode("utf-8", "backslashreplace")

    def exit_codes(self) -> Sequence[int]:
        code = None if self.client is None else self.client.process.returncode
        return [] if code is None else [code]

    @property
    def listener(self) -> HttpListener:
        """The requests of the client to the kit's server."""
        assert self.client is not None
        assert self.client.listener is not None
        return self.client.listener

    async def start(
        self, purpose: str = "prompt", *, manual: Sequence[str] = (), way: Way | None = None
    ) -> Conversation:
        """Start the client for a purpose, and wait until it connects, in this or the usual way.

        Raises:
            NotAsked: nobody said how the client is started for it; noted for every open rule.
            Unanswered: it does not connect.
        """
        how = self.scenario.get(purpose)
        if how is None:
            self.leave_open(f"no scenario says how to make the client do this: {purpose}")
        self.reached.need(f"starting the agent for {purpose!r}")
        client = await self.programs.enter_async_context(
            launched(
                how.command,
                way=way or self.way,
                listen=self.listen,
                folder=str(self.folder),
                env={**self.home, **self.scenario.environment},
                patience=self.patience,
            )
        )
        self.client = client
        self._outputs.append(client.output)
        with self.reached.step(f"starting the agent for {purpose!r}"):
            return await self.connected(manual=manual)

    async def connected(self, *, manual: Sequence[str] = ()) -> Conversation:
        """Wait for the next connection of the started client."""
        assert self.client is not None
        peer = await self.client.connection(CONNECT_SECONDS)
        peer.gate = self._need_answers
        talk = CONVERSATIONS[self.version](peer, self.version, MANUAL | frozenset(manual))
        self.talks.append(talk)
        return talk

    def _need_answers(self, method: str) -> None:
        """Do not send requests to a client that answers none, unless that is checked."""
        if method != UNKNOWN_METHOD:
            self.reached.need(ANSWERING)

    async def was_held_back(self, talk: Conversation, first: Frame) -> bool:
        """Whether the client's first message came late, with the end of its output.

        Then nothing else can be seen of it, and it is not started again.
        """
        if first.at < HELD_BACK_SECONDS:
            return False
        await talk.peer.quiet()
        if not talk.peer.closed.is_set():
            return False
        for purpose in self.scenario.purposes:
            step = f"starting the agent for {purpose!r}"
            self.reached.failed.setdefault(step, "the client holds its messages back")
        return True

    async def hello(
        self, purpose: str = "prompt", *, manual: Sequence[str] = ()
    ) -> tuple[Conversation, Frame]:
        """Start the client and wait for its `initialize`, which is not answered yet.

        A client may begin in the words of the official versions and turn to the draft when the
        agent answers in its own: it then starts the agent once more.  That second beginning is
        what comes back; where there is none, the first.
        """
        talk = await self.start(purpose, manual=manual)
        with self.reached.step(f"initialize for {purpose!r}"):
            frame = await talk.request("initialize")
        if not self._lacks_draft(frame) or self.way == "stdio":
            return talk, frame
        await talk.reply(frame, self.offer().answer(self.version))
        assert self.client is not None
        if not await self.client.comes_back(talk.peer, self.patience):
            return talk, frame
        again = await self.connected(manual=manual)
        return again, await again.request("initialize")

    async def begin(
        self, purpose: str = "prompt", offer: Offer | None = None, *, manual: Sequence[str] = ()
    ) -> Conversation:
        """Start the client and answer its `initialize`.

        Raises:
            NotAsked: it does not speak this version; noted as skipped for every open rule.
        """
        talk, frame = await self.hello(purpose, manual=manual)
        talk.hello = frame.params
        await talk.reply(frame, (offer or self.offer()).answer(self.version))
        asked = frame.params.get("protocolVersion")
        if isinstance(asked, int) and asked < NUMBERS[self.version]:
            self.judge.skip_open(f"the client speaks version {asked} at most")
            raise NotAsked("another version")
        self.need(not self._lacks_draft(frame), "the client does not speak the draft")
        return talk

    def _lacks_draft(self, frame: Frame) -> bool:
        """Whether a check of the draft meets an `initialize` of an official version."""
        return self.version == "draft" and not is_draft(frame)

    def offer(self, **more: Any) -> Offer:
        """Return the offer of an agent with what every client may use: in v2, one capability."""
        return Offer(capabilities=BASELINE[self.version], **more)

    async def to_session(
        self, purpose: str = "prompt", offer: Offer | None = None, **fields: Any
    ) -> tuple[Conversation, Frame]:
        """Start the client and open its first session."""
        talk = await self.begin(purpose, offer)
        step = f"a session for {purpose!r}"
        try:
            if offer is not None or fields:
                return talk, await talk.session(**(fields or modes(self.version)))
            with self.reached.step(step):
                return talk, await talk.session(**modes(self.version))
        except Unanswered:
            if self._is_of_another_version(talk):
                self.reached.failed.pop(step, None)
                self.judge.skip_open(f"the client does not speak version {self.version}")
                raise NotAsked("another version") from None
            raise

    def _is_of_another_version(self, talk: Conversation) -> bool:
        """Whether the client disconnected because it asked for a later version."""
        asked = talk.hello.get("protocolVersion")
        later = isinstance(asked, int) and asked > NUMBERS[self.version]
        return later and talk.peer.closed.is_set() and not self._went_on(talk)

    async def whole_run(self, offer: Offer, **how: Any) -> Conversation:
        """Start the client and serve it until it has done all of its work.

        `how` is what `SessionService` takes beside the conversation and the folder.

        Raises:
            NotAsked: it does not speak this version, or an earlier check saw no prompt of it.
        """
        self.reached.need("a session for 'prompt'")
        self.reached.need("a prompt for 'prompt'")
        talk = await self.begin("prompt", offer, manual=SERVED)
        await SessionService(talk, str(self.folder), **how).serve()
        if self._is_of_another_version(talk):
            self.judge.skip_open(f"the client does not speak version {self.version}")
            raise NotAsked("another version")
        return talk

    async def to_prompt(
        self, purpose: str = "prompt", offer: Offer | None = None, **fields: Any
    ) -> tuple[Conversation, Frame]:
        """Start the client, open its session and take its first prompt."""
        talk, _ = await self.to_session(purpose, offer, **fields)
        if offer is not None or fields:
            return talk, await talk.prompt()
        with self.reached.step(f"a prompt for {purpose!r}"):
            return talk, await talk.prompt()

    async def cancelled(self, talk: Conversation) -> Frame:
        """Make the client cancel its turn, by a signal if configured, and return the notification.

        Raises:
            NotAsked: nobody said that the client cancels, and it does not; noted as not exercised.
            Unanswered: it should cancel, and does not.
        """
        how = self.scenario.get("cancel")
        if how is not None and how.signal is not None and self.client is not None:
            self.client.send_signal(how.signal)
        try:
            return await talk.notification("session/cancel")
        except Unanswered:
            if self.only_tries("cancel"):
                self.leave_open("the client does not cancel its turn when interrupted (SIGINT)")
            raise

    def only_tries(self, purpose: str) -> bool:
        """Whether the scenario does not promise that the client does this."""
        how = self.scenario.get(purpose)
        return how is not None and how.tries

    def _went_on(self, talk: Conversation) -> bool:
        return any(frame.method != "initialize" for frame in talk.peer.received())

    def leave_open(self, said: str) -> NoReturn:
        """End the check here; its open rules were not exercised, for this reason."""
        for rule in self.judge.rules:
            if rule not in self.judge.found:
                self.judge.not_exercised(rule, said)
        raise NotAsked(said)

    def need(self, ok: bool, said: str) -> None:
        """End the check here unless this holds; its open rules do not bind this client."""
        if not ok:
            self.judge.skip_open(said)
            raise NotAsked(said)


def is_draft(frame: Frame) -> bool:
    """Whether an `initialize` has the form of the 2026-02 draft."""
    params = frame.params
    return isinstance(params.get("capabilities"), dict) and not (
        params.keys() & {"clientCapabilities", "info"}
    )


async def client_speaks(open_stage: OpenStage, version: Version) -> bool:
    """Whether this client begins with a version, or changes to it.

    Raises:
        NotStarted: it cannot be started.
    """

    first: list[Frame] = []

    async def hello(stage: ClientStage) -> None:
        first.append((await stage.hello())[1])

    check = Check("speaks", (), "client", version, hello)
    async with open_stage(check, Findings(())) as stage:
        try:
            await check.run(cast("ClientStage", stage))
        except Unanswered:
            pass
    return bool(first) and SPEAKS[version](first[0])


def _speaks_v1(frame: Frame) -> bool:
    # A client that begins with a later version also sends the keys of the first one.
    older = not _speaks_v2(frame) or "clientCapabilities" in frame.params
    return older and not is_draft(frame)


def _speaks_v2(frame: Frame) -> bool:
    asked = frame.params.get("protocolVersion")
    return isinstance(asked, int) and asked >= NUMBERS["2"]


# Whether an `initialize` shows that the client speaks a version.
SPEAKS: dict[Version, Callable[[Frame], bool]] = {
    "1": _speaks_v1,
    "2": _speaks_v2,
    "draft": is_draft,
}


def client_stages(
    scenario: ClientScenario,
    *,
    way: Way = "spawn",
    patience: float = ANSWER_SECONDS,
    listen: Listen | None = None,
) -> Callable[[Check[Any], Findings], AbstractAsyncContextManager[ClientStage]]:
    """Return the function that opens the stage of each check of this client."""
    reached: dict[Version, Reached] = {}

    @asynccontextmanager
    async def opened(check: Check[Any], judge: Findings) -> AsyncGenerator[ClientStage]:
        with tempfile.TemporaryDirectory(
            prefix="accord-client-", ignore_cleanup_errors=True
        ) as folder:
            here, home = _folders(folder)
            stage = ClientStage(judge, check.version, here, scenario, way, patience, home, listen)
            if not check.faults:
                # The behaviour of a client under faults shows nothing about its normal behaviour.
                stage.reached = reached.setdefault(check.version, Reached())
            async with stage.programs:
                yield stage

    return opened


def _folders(root: str) -> tuple[Path, dict[str, str]]:
    """Make the client's working folder and the variables of its home.

    Links are followed, since clients compare paths as texts.
    """
    real = Path(os.path.realpath(root))
    here = real / "project"
    here.mkdir()
    return here, own_home(real)
