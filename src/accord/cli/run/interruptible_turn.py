"""Runs one prompt from the start of the agent to its exit, with signals and a time limit.

Must not know how output is written; a `Report` does.

What always holds
    * The first Ctrl-C cancels the turn and waits for its end; the second exits at once.  An agent
      that ignores the first is ended by the deadline of `machine/processes/exit_on_signal.py`.
    * A question is asked only after everything before it is shown.
    * A slow reader of our output slows the agent down; nothing piles up.
    * However the run ends, the agent's processes are ended; a check starts after that.
    * Only a prompt that failed because of a missing login is sent again.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import anyio

from accord import Client, Decision, PermissionRequest, RateLimited, Session, Update
from accord.cli.agent_setup.agent_credential import credential_of
from accord.cli.agent_setup.login_choice import LoginQuestion, is_attended
from accord.cli.agent_setup.permissions import PermissionSetup
from accord.cli.console import complain
from accord.cli.run.check_command import SHELL, run_check
from accord.cli.run.exit_status import Outcome
from accord.cli.run.job import Job
from accord.cli.run.permission_prompt import PermissionPrompt
from accord.cli.run.prompt import Prompt
from accord.cli.run.report_formats import Report
from accord.cli.run.session import open_session
from accord.cli.usage_error import UsageError
from accord.client.audit.log import AuditLog
from accord.client.audit.services import (
    AuditedFiles,
    AuditedTerminals,
    record_decision,
    record_tool_call,
)
from accord.client.options import ClientOptions, DraftOptions
from accord.client.permissions.request import Decided
from accord.client.session.retry import Retry
from accord.client.session.session import PromptTurn, Reply, UpdateStream
from accord.configuration.dialects_file import dialect_memory
from accord.errors import AccordError, AuthenticationRequired, LocalProtocolError
from accord.machine.processes import exit_on_signal as shutdown
from accord.transcript import ToolCall
from accord.transport.subprocess import ConnectNotices

CANCEL_SECONDS_MAX = 10.0
"""How long an agent may take to end a cancelled turn.

After a signal the whole process has less time: see `machine/processes/exit_on_signal.py`.
"""

OUTPUT_SECONDS_MAX = 2.0
"""How long to wait for a blocked reader after the run was cancelled."""

PAUSE_SECONDS_MAX = 0.5
"""How long to wait for the current line before writing something else."""


def _tell_notice(text: str) -> None:
    complain(f"accord: {text}")


class Run:
    """One run.  Guards: the order of output and questions, and the meaning of Ctrl-C."""

    def __init__(
        self,
        job: Job,
        deciding: PermissionSetup,
        report: Report,
        asker: PermissionPrompt | None,
        log: AuditLog | None,
    ) -> None:
        self._job = job
        self._deciding = deciding
        self._report = report
        self._asker = asker
        self._log = log
        self.outcome = Outcome()
        self._reply: Reply | None = None
        self._turn: PromptTurn | None = None
        self._login = LoginQuestion() if is_attended() else None
        self._everything = anyio.CancelScope()
        self._stopping = False
        # The updates to show, and whether a taken one is not written yet.
        self._stream: UpdateStream | None = None
        self._is_showing = False
        self._caught_up = anyio.Event()
        self._recorded: set[str] = set()

    async def run(self) -> Outcome:
        """Run the prompt and the check.

        Raises:
            UsageError: the agent cannot do what the command line requests.
        """
        wrong: UsageError | None = None
        with self._everything:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._listen)
                if self._job.timeout is not None:
                    tasks.start_soon(self._time_out, self._job.timeout)
                try:
                    await self._work()
                    await self._check()
                except UsageError as error:
                    wrong = error
                except AccordError as error:
                    self.outcome.error = self._sentence(error)
                tasks.cancel_scope.cancel()
        if wrong is not None:
            raise wrong
        self._report.finished(self.outcome, self._reply)
        given_up = self.outcome.timed_out or self.outcome.interrupted
        with anyio.move_on_after(OUTPUT_SECONDS_MAX if given_up else None):
            await self._report.drain()
        return self.outcome

    async def _work(self) -> None:
        job, login = self._job, self._login
        async with Client.spawn(
            *job.start_command(),
            cwd=job.agent_cwd,
            env=job.env,
            stderr=ConnectNotices.of(job.command, _tell_notice)
            or (None if login is None else login.heard),
            login_terminal=login is not None,
            **self._options(),
        ) as client:
            await self._converse(client)

    def _options(self) -> ClientOptions:
        job, grants = self._job, self._deciding.grants
        files: Any = True if self._log is None else AuditedFiles(self._log)
        terminals: Any = True if self._log is None else AuditedTerminals(self._log)
        if job.sandbox is not None:
            # What the client does for an agent would happen outside.
            files = terminals = False
        permissions = self._deciding.permissions(
            None if self._asker is None else self._ask
        ).derived(
            on_decided=self._decided, before_decision=None if grants is None else grants.refresh
        )
        options = ClientOptions(
            permissions=permissions,
            files=files,
            terminals=terminals,
            versions=job.versions,
            retry=Retry(job.retry, self._report.retrying),
            draft=DraftOptions(
                credential=credential_of(job.api_key_env, may_ask=self._asker is not None),
                dialects=dialect_memory(),
                ui=("diff_viewer",),
            ),
        )
        if self._login is not None:
            options["login"] = self._login.choose
        return options

    async def _converse(self, client: Client) -> None:
        session = await self._open(client)
        self._report.began(client, session)
        error = await self._take_turn(session)
        if isinstance(error, AuthenticationRequired):
            again = await self._log_in(client, session)
            error = error if again is None else await self._take_turn(again)
        if error is not None:
            raise error

    async def _log_in(self, client: Client, session: Session) -> Session | None:
        """Log in after a prompt failed; return the session to send it again in, or None."""
        login, reply = self._login, self._reply
        if login is None or (reply is not None and (reply.text or reply.tool_calls)):
            return None
        # v1 asks before the turn ends; then only a login in a terminal remains.
        is_due = not login.was_asked or login.is_in_terminal
        if not login.was_asked:
            await login.choose(client.auth_methods)
        if login.chosen is None or not is_due:
            return None
        await client.authenticate(login.chosen.method_id)
        # A login in a terminal restarts the agent, which ends its sessions.
        return await self._open(client) if login.is_in_terminal else session

    async def _open(self, client: Client) -> Session:
        session = await open_session(client, self._job)
        if self._login is not None:
            self._login.done()
            self._login.was_asked = False
        return session

    async def _take_turn(self, session: Session) -> AccordError | None:
        """Run the turn; return the error that it failed with, if any."""
        # First, because a prompt that cannot be sent is wrong usage.
        turn = _prompt(session, self._job.prompt)
        failure: AccordError | None = None
        self._stream = stream = session.updates()
        async with anyio.create_task_group() as readers:
            readers.start_soon(self._read, session, stream)
            try:
                try:
                    async with turn:
                        self._turn = turn
                        if self._stopping:
                            await turn.cancel()
                        # So that a blocked reader of our output stops the agent.
                        await turn.wait(reads_on=False)
                finally:
                    self._reply = turn.reply
                    self.outcome.stop_reason = turn.stop_reason
            except AccordError as error:
                failure = error
            # From now on there is nothing to cancel.
            self._turn = None
            await self._until_shown()
            stream.close()
        return failure

    async def _check(self) -> None:
        """Run the command of `--check`."""
        command = self._job.check
        if command is None or not self.outcome.is_to_be_checked:
            return
        report = self._report

        async def show(text: str) -> None:
            report.check_printed(text)
            await report.drain()

        report.checking(command)
        await report.drain()
        words = self._job.check_command(SHELL, command)
        self.outcome.check = await run_check(command, self._job.cwd, show, words)
        report.checked(self.outcome.check)

    async def _read(self, session: Session, stream: UpdateStream) -> None:
        async for update in stream:
            self._is_showing = True
            if self._login is not None and self._login.is_under_way:
                self._login.done()
            self._report.update(update)
            self._record(session, update)
            if self._report.is_full or not stream.waiting:
                await self._report.drain()
            if not stream.waiting:
                self._is_showing = False
                self._caught_up.set()
                self._caught_up = anyio.Event()

    def _record(self, session: Session, update: Update) -> None:
        call = update.item
        if self._log is None or not isinstance(call, ToolCall) or not call.is_final:
            return
        if call.tool_call_id not in self._recorded:
            self._recorded.add(call.tool_call_id)
            record_tool_call(self._log, session.id, call)

    async def _until_shown(self) -> None:
        while self._is_showing or (self._stream is not None and self._stream.waiting):
            await self._caught_up.wait()

    # ---- permissions

    async def _ask(self, request: PermissionRequest) -> Decision:
        assert self._asker is not None
        await self._until_shown()
        return await self._asker.ask(request)

    def _decided(self, decided: Decided, agent: str | None) -> None:
        if self._log is not None:
            record_decision(self._log, decided, agent)
        if not decided.allowed:
            self.outcome.denied.append(decided)
        self._report.decided(decided)

    def _sentence(self, error: AccordError) -> str:
        """Return what went wrong, and what the user can do about it."""
        if isinstance(error, AuthenticationRequired):
            said = f"the agent needs a login: {error.message}"
            return f"{said}\nrun `{self._job.login_command}` to log in"
        if isinstance(error, RateLimited) and self._job.retry:
            wait = error.retry_after or 0.0
            if wait > self._job.retry:
                return f"{error}; use `--retry {ceil(wait)}` to wait that long"
            return f"{error}; gave up after {self._job.retry:g} s (see --retry)"
        return str(error)

    # ---- cancellation and timeout

    async def _listen(self) -> None:
        with anyio.open_signal_receiver(*shutdown.handled_signals()) as signals:
            async for number in signals:
                self.outcome.interrupted = True
                shutdown.begin(number)
                if self._turn is not None and not self._stopping:
                    self._report.pause()
                    with anyio.move_on_after(PAUSE_SECONDS_MAX):
                        await self._report.drain()
                    complain("accord: cancelling; press Ctrl-C again to quit at once")
                await self._stop()

    async def _time_out(self, seconds: float) -> None:
        await anyio.sleep(seconds)
        if not self.outcome.interrupted:
            self.outcome.timed_out = True
        await self._stop()

    async def _stop(self) -> None:
        """Cancel the turn; exit if there is none, or if it is already cancelled."""
        if self._turn is None or self._stopping:
            self._everything.cancel()
            return
        self._stopping = True
        self._everything.deadline = anyio.current_time() + CANCEL_SECONDS_MAX
        try:
            await self._turn.cancel()
        except AccordError:
            # The agent has exited, which ends the turn too.
            pass


def _prompt(session: Session, prompt: Prompt) -> PromptTurn:
    try:
        return session.prompt(prompt.blocks(session.client.capabilities, session.roots))
    except LocalProtocolError as error:
        raise UsageError(str(error)) from error
