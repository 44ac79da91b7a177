"""The environment of a check: a fresh agent, a client for it, and separate folders.

Must not know: any rule.

What always holds: the agent gets a home, a state folder and a working folder that nobody else has,
and what a check starts is ended with it.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import anyio

from accord.conformance.agent.client_messages import DIALECTS, Dialect
from accord.conformance.agent.fake_client import Host
from accord.conformance.agent.scenario import DEFAULT_SAY, Scenario
from accord.conformance.check_definition import Check, Findings
from accord.conformance.frames.error_codes import NO_METHOD
from accord.conformance.frames.raw_peer import (
    ErrorOf,
    Frame,
    Gone,
    LoginNeeded,
    Message,
    NotAsked,
    NotReady,
    RawPeer,
    Unanswered,
    as_json,
    brief,
    same,
)
from accord.conformance.network.address import RemoteServer, Transport
from accord.conformance.rule_definition import Version
from accord.conformance.run.check_runner import OpenStage, Reached
from accord.conformance.run.program import Counterpart, connected, own_home, started
from accord.conformance.time_limits import (
    ANSWER_SECONDS,
    SILENCE_SHARE,
    STARTING,
    STARTS_IN_PATIENCE,
)
from accord.machine.own_command_line import own_file

MCP_RECORDER = Path(__file__).with_name("mcp_recorder.py")
# A request that every agent answers, with an error if it lacks params.
KNOWN_METHOD = "session/new"
# The requests that create or reopen a session.
OPENING = frozenset({"session/new", "session/load", "session/resume"})


TOOL_UPDATES = ("tool_call", "tool_call_update")


class Refused(Unanswered):
    """The agent answered with an error where a result is required."""


class Declined(Refused, NotAsked):
    """The agent answered a prompt of the kit with an error, which is allowed."""


@dataclass(slots=True)
class Talk:
    """An agent process, or a connection to a server, and a client that talks to it."""

    program: Counterpart
    host: Host
    version: Version
    folder: Path
    seconds: float
    agent: Message = field(default_factory=dict)
    reached: Reached = field(default_factory=Reached)
    # A prompt that any agent can answer.
    plain: str = DEFAULT_SAY
    # Whether the prompts are the kit's, and not chosen by the agent's author.
    tries: bool = False
    # The login of the scenario, for an agent that requires one.
    login_method: str = ""
    logged_in: bool = False
    # Whether the agent made a session, which shows that it needs no login, or has one.
    opened: bool = False

    @property
    def dialect(self) -> Dialect:
        return DIALECTS[self.version]

    @property
    def peer(self) -> RawPeer:
        return self.program.peer

    async def ask(self, method: str, params: Any, *, timeout: float | None = None) -> Message:
        """Send a request, and return its result, which is an object.

        Raises:
            Refused: the answer is an error, or the result is not an object.
            LoginNeeded: it wants a login.
        """
        answer = await self.call(method, params, timeout=timeout)
        result = answer.get("result")
        if result is None and "error" not in answer:
            result = {}
        if not isinstance(result, dict):
            raise Refused(f"{method} was answered with {brief(answer)}")
        return result

    async def call(self, method: str, params: Any, *, timeout: float | None = None) -> Message:
        """Send a request, and return its whole answer, after a login if a session needs one.

        Raises:
            LoginNeeded: it wants a login.
        """
        answer = await self.peer.call(method, params, timeout=timeout)
        if method == "session/new" and "result" in answer:
            self.opened = True
        if method in OPENING and self._wants_login(answer) and await self._needs_login(params):
            try:
                await self.login(self.login_method)
                answer = await self.peer.call(method, params, timeout=timeout)
                self.logged_in = not self._wants_login(answer)
            except NotReady:
                self.logged_in = False
            if not self.logged_in:
                raise LoginNeeded(f"{method} needs a login, and the scenario names none that works")
        return answer

    async def _needs_login(self, params: Any) -> bool:
        """Whether a plain session needs a login too, and not only one that must be refused."""
        plain = {self.dialect.folder: str(self.folder), "mcpServers": []}
        if self.opened or params == plain:
            return not self.opened
        answer = await self.peer.call("session/new", plain, timeout=self.seconds)
        self.opened = "result" in answer
        return self._wants_login(answer)

    def _wants_login(self, answer: Message) -> bool:
        error = answer.get("error")
        return isinstance(error, dict) and error.get("code") == self.dialect.login_needed

    async def prepare(self, method: str, params: Any) -> Message:
        """Send a request that prepares the check; another check judges whether it works."""
        try:
            return await self.ask(method, params, timeout=self.seconds)
        except NotReady:
            raise
        except Unanswered as error:
            raise NotReady(f"{method} does not work: {error}") from None

    async def error_of(self, method: str, params: Any) -> ErrorOf:
        """Send a request that must fail, and return its error; empty if it succeeded."""
        return ErrorOf(await self.call(method, params))

    def hello(self, **changes: Any) -> Message:
        """Return the params of `initialize`; None removes a key."""
        params = self.dialect.hello | changes
        return {key: value for key, value in params.items() if value is not None}

    async def initialize(self, **changes: Any) -> Message:
        """Agree on the version, and return the agent's capabilities."""
        wait = STARTING * self.peer.patience
        began = time.monotonic()
        with self.reached.step("initialize", usual=not changes):
            self.agent = await self.ask("initialize", self.hello(**changes), timeout=wait)
        # A machine on which a start takes long is slow in general.
        slow = STARTS_IN_PATIENCE * (time.monotonic() - began)
        self.peer.patience = max(self.peer.patience, min(slow, self.seconds))
        if self.agent.get("protocolVersion") != self.dialect.number:
            found = self.agent.get("protocolVersion")
            raise NotReady(f"the agent does not speak version {self.version} but {as_json(found)}")
        if self.dialect.mark not in self.agent:
            raise NotReady(f"the agent does not speak version {self.version}")
        return self.capabilities

    @property
    def capabilities(self) -> Message:
        found = self.agent.get(self.dialect.capabilities)
        return found if isinstance(found, dict) else {}

    def can(self, path: str) -> bool:
        """Whether the agent advertised this dotted path of its capabilities."""
        found: Any = self.capabilities
        for key in path.split("."):
            found = found.get(key) if isinstance(found, dict) else None
        return found is not None and found is not False

    async def login(self, method: str) -> None:
        """Log in with a method of the agent, if the scenario names one."""
        if method:
            await self.prepare(self.dialect.login, {"methodId": method})

    async def new_session(self, **changes: Any) -> Message:
        """Make a session in the folder, and return the whole result."""
        params = {self.dialect.folder: str(self.folder), "mcpServers": []} | changes
        with self.reached.step("session/new", usual=not changes):
            return await self.ask("session/new", params, timeout=max(self.seconds, 10))

    async def session(self, **changes: Any) -> str:
        """Initialize, make a session, and return its id."""
        if not self.agent:
            await self.initialize()
        made = await self.new_session(**changes)
        return str(made["sessionId"])

    async def prompt(self, session: str, text: str) -> Message:
        """Run a whole turn.  Return the prompt's result in v1, the last idle state in v2."""
        since = len(self.peer.frames)
        sent = await self.send_prompt(session, text)
        try:
            if self.dialect.ends_idle:
                return await self.idle(session, since=since, prompt=sent)
            answer = await self.peer.answer_to(sent, timeout=self.seconds)
        except Unanswered as error:
            self.note_hanging(sent, since, error)
            if text == self.plain:
                self.reached.failed.setdefault("session/prompt", str(error))
            raise
        result = answer.get("result")
        if not isinstance(result, dict):
            raise self.refusal(answer)
        return result

    def refusal(self, answer: Message) -> Refused:
        """Return the error for a prompt that got this answer."""
        said = f"session/prompt was answered with {brief(answer)}"
        error = answer.get("error")
        if self.tries and isinstance(error, dict) and error.get("code") != NO_METHOD:
            return Declined(said)
        return Refused(said)

    def note_hanging(self, sent: Any, since: int, error: Unanswered) -> None:
        """Note that the turn of a prompt did not end, unless it is only slow.

        A slow one says something, runs a tool, or waits for its client.
        """
        came = self.peer.frames[since:]
        status = {
            one.get("toolCallId", one.get("id")): one["status"]
            for one in self.updates(since=since, session=self.session_of(sent))
            if one.get("status") and one.get("sessionUpdate") in TOOL_UPDATES
        }
        answered = [one.object.get("id") for one in came if one.sent and one.is_response]
        asked = [one.object["id"] for one in came if not one.sent and one.is_request]
        busy = "in_progress" in status.values() or any(one not in answered for one in asked)
        silent = not busy and self.peer.silence(since) >= self.seconds * SILENCE_SHARE
        if silent or isinstance(error, Gone):
            self.peer.note_unanswered(sent, error)

    def gave_up(self, sent: Any, error: Unanswered) -> None:
        """Note that a request got no answer; a prompt may only be slow."""
        at = self.peer.place_of(sent)
        if at is None:
            return
        if self.peer.frames[at].method != "session/prompt" or isinstance(error, Gone):
            self.peer.note_unanswered(sent, error)
        elif not self.dialect.ends_idle and not self.waits_in_line(at):
            self.note_hanging(sent, at, error)

    def waits_in_line(self, at: int) -> bool:
        """Whether an earlier prompt to the same session has no answer yet."""
        frames = self.peer.frames
        answered = [one.object.get("id") for one in frames if not one.sent and one.is_response]
        return any(
            one.sent
            and one.method == "session/prompt"
            and one.params.get("sessionId") == frames[at].params.get("sessionId")
            and one.object.get("id") not in answered
            for one in frames[:at]
        )

    async def answered(self, session: str, text: str | None) -> Message:
        """Return the whole answer to a prompt, a result or an error.

        Raises:
            NotReady: none came: that turns end is checked elsewhere.
        """
        sent = await self.send_prompt(session, text or "")
        try:
            return await self.peer.answer_to(sent, timeout=self.seconds)
        except Unanswered as error:
            raise NotReady(f"the prompt {as_json(text)} does not work: {error}") from None

    async def say(self, session: str, text: str | None) -> Message:
        """Run a turn that prepares the check; another check judges whether it works."""
        try:
            return await self.prompt(session, text or "")
        except NotReady:
            raise
        except Unanswered as error:
            raise NotReady(f"the prompt {as_json(text)} does not work: {error}") from None

    async def send_prompt(self, session: str, text: str) -> Any:
        """Send a prompt without waiting, and return the id of the request."""
        block = {"type": "text", "text": text}
        params = {"sessionId": session, self.dialect.prompt: [block]}
        return await self.peer.ask("session/prompt", params)

    async def idle(
        self, session: str, *, since: int, timeout: float | None = None, prompt: Any = None
    ) -> Message:
        """Return the next idle state of a v2 session.

        Raises:
            Refused: the request whose id is `prompt` got an error, so that there is no turn.
        """

        def fits(frame: Frame) -> bool:
            if frame.is_response:
                return "error" in frame.object and same(frame.object.get("id"), prompt)
            return self.update_in(frame, session).get("state") == "idle"

        frame = await self.peer.expect(
            fits, "an idle state", since=since, timeout=timeout or self.seconds
        )
        if frame.is_response:
            raise self.refusal(frame.object)
        return self.dialect.update_of(frame)

    def session_of(self, sent: Any) -> Any:
        """Return the session of the request with this id."""
        at = self.peer.place_of(sent)
        return None if at is None else self.peer.frames[at].params.get("sessionId")

    def update_in(self, frame: Frame, session: Any) -> Message:
        """Return the update of this session in a frame, or an empty object."""
        own = frame.params.get("sessionId") == session
        return self.dialect.update_of(frame) if own else {}

    def updates(
        self,
        *,
        since: int = 0,
        until: int | None = None,
        kind: str | None = None,
        session: Any = None,
    ) -> list[Message]:
        """Return the updates in a range of frames, of one kind and session if these are given.

        One of the draft is its data, with its type as `sessionUpdate`.
        """
        found = [
            self.dialect.update_of(frame) if session is None else self.update_in(frame, session)
            for frame in self.peer.frames[since:until]
            if not frame.sent
        ]
        return [one for one in found if one and (kind is None or one.get("sessionUpdate") == kind)]

    def said(self, *, since: int = 0) -> str:
        """Return all text of the agent's messages."""
        texts: list[str] = []
        for update in self.updates(since=since):
            if str(update.get("sessionUpdate", "")).startswith("agent_message"):
                content = update.get("content")
                blocks = content if isinstance(content, list) else [content]
                texts += [str(one.get("text", "")) for one in blocks if isinstance(one, dict)]
                # The draft has plain text there.
                texts += [content] if isinstance(content, str) else []
        return "".join(texts)

    def came(self, *, since: int = 0) -> str:
        """Return everything that the agent sent, as text."""
        frames = self.peer.frames[since:]
        return "\n".join(one.raw.decode("utf-8", "replace") for one in frames if not one.sent)


@dataclass(slots=True)
class AgentStage:
    """The stage of a check: `talk` is a fresh agent, `another` starts it again."""

    judge: Findings
    scenario: Scenario
    version: Version
    command: Sequence[str]
    root: Path
    environment: dict[str, str]
    stack: AsyncExitStack
    patience: float
    reached: Reached = field(default_factory=Reached)
    # The server that is judged, instead of a command.
    remote: RemoteServer | None = None
    # The caller's folder, for relative names on the command line.
    started_in: str = field(default_factory=os.getcwd)
    talks: list[Talk] = field(default_factory=list)

    @property
    def talk(self) -> Talk:
        return self.talks[-1]

    @property
    def folder(self) -> Path:
        """Return the working folder of sessions."""
        return self.root / "work"

    @property
    def programs(self) -> Path:
        """Return a folder on the agent's search path that is empty at first."""
        return self.root / "bin"

    @property
    def transport(self) -> Transport:
        return "stdio" if self.remote is None else self.remote.address.transport

    def need_own_process(self, said: str) -> None:
        """End the check here over a network: its open rules concern a process that the kit started.

        Raises:
            NotAsked: a server is judged, which the kit can neither start nor end.
        """
        if self.remote is not None:
            self.judge.skip_open(said)
            raise NotAsked(said)

    async def another(self) -> Talk:
        """Start the agent again with the same home and folders, or connect to the server again."""
        program: Counterpart = await self.stack.enter_async_context(
            started(
                self.command,
                folder=self.started_in,
                env=self.environment,
                patience=self.patience,
            )
            if self.remote is None
            else connected(self.remote, self.patience)
        )
        program.peer.gate = self.reached.need
        program.peer.known_method = KNOWN_METHOD
        tasks = await self.stack.enter_async_context(anyio.create_task_group())
        host = DIALECTS[self.version].host(self.folder, tasks)
        host.serve(program.peer)
        self.stack.callback(tasks.cancel_scope.cancel)
        self.stack.push_async_callback(host.end)
        self.talks.append(
            Talk(
                program,
                host,
                self.version,
                self.folder,
                self.scenario.seconds,
                reached=self.reached,
                plain=self.scenario.prompt("say") or "",
                tries=self.scenario.tries,
                login_method=self.scenario.login,
            )
        )
        program.peer.gave_up = self.talk.gave_up
        return self.talk

    def target(self) -> str:
        """Return the content of the file that the prompt for `edit` changes; empty if gone."""
        try:
            return (self.folder / self.scenario.target).read_text("utf-8", "replace")
        except OSError:
            return ""

    @property
    def target_before(self) -> str:
        """Return the earlier content of that file."""
        return self.scenario.files[self.scenario.target]

    def restore_files(self) -> None:
        """Restore the files of the working folder, and remove added ones."""
        for path in self.folder.iterdir():
            if path.is_file() and not path.is_symlink():
                path.unlink()
        _write_files(self.folder, self.scenario)

    def mcp_server(self, name: str = "accord-check") -> tuple[Message, Path]:
        """Make a working stdio MCP server, and the file in which it records its requests."""
        log = self.root / f"{name}.jsonl"
        command, *args = own_file(str(MCP_RECORDER), str(log))
        server: Message = {
            "name": name,
            "command": command,
            "args": args,
            "env": [{"name": "ACCORD_CHECK_TOKEN", "value": "s3cr3t-of-the-server"}],
        }
        return server | DIALECTS[self.version].server, log

    def conversations(self) -> Sequence[Sequence[Frame]]:
        return [talk.peer.frames for talk in self.talks]

    def stderr(self) -> str:
        return "".join(talk.program.stderr.decode("utf-8", "replace") for talk in self.talks)

    def exit_codes(self) -> Sequence[int]:
        codes = (talk.program.exit_code for talk in self.talks)
        return [code for code in codes if code is not None]


def agent_stages(
    command: Sequence[str],
    scenario: Scenario,
    *,
    patience: float = ANSWER_SECONDS,
    remote: RemoteServer | None = None,
) -> OpenStage:
    """Return the function that opens the stage of each check, for a command or a server."""
    reached = {name: Reached() for name in DIALECTS}

    @asynccontextmanager
    async def open_stage(check: Check[Any], judge: Findings) -> AsyncGenerator[AgentStage]:
        # The behaviour of an agent under faults shows nothing about its normal behaviour.
        so_far = Reached() if check.faults else reached[check.version]
        so_far.need("initialize")
        with tempfile.TemporaryDirectory(
            prefix="accord-check-", ignore_cleanup_errors=True
        ) as name:
            root, environment = _prepare(name, scenario)
            more = {**check.prompts, **scenario.prompts}
            async with AsyncExitStack() as stack:
                stage = AgentStage(
                    judge,
                    replace(scenario, prompts=more, tries=True) if check.prompts else scenario,
                    check.version,
                    command,
                    root,
                    environment,
                    stack,
                    patience,
                    so_far,
                    remote,
                )
                await stage.another()
                yield stage

    return open_stage


async def speaks(open_stage: OpenStage, version: Version) -> bool:
    """Whether this agent accepts a version.

    Raises:
        NotStarted: it cannot be started.
    """

    async def hello(stage: AgentStage) -> None:
        await stage.talk.initialize()

    check = Check("speaks", (), "agent", version, hello)
    spoken = True
    async with open_stage(check, Findings(())) as stage:
        try:
            await check.run(cast("AgentStage", stage))
        except Unanswered:
            spoken = False
    return spoken


def _prepare(name: str, scenario: Scenario) -> tuple[Path, dict[str, str]]:
    root = Path(os.path.realpath(name))
    for folder in ("work", "bin"):
        (root / folder).mkdir()
    _write_files(root / "work", scenario)
    (root / "secret.txt").write_text("what-is-outside\n", "utf-8")
    (root / "work" / "link.txt").symlink_to(root / "secret.txt")
    return root, {
        **own_home(root),
        "PATH": f"{root / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "NO_COLOR": "1",
        "TERM": "dumb",
        **scenario.environment,
    }


def _write_files(folder: Path, scenario: Scenario) -> None:
    for name, text in scenario.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def went_well(result: Message) -> bool:
    """Whether a turn succeeded; another check judges its stop reason."""
    return result.get("stopReason") not in ("refusal", "cancelled")
