"""The state that the actions of one turn share: tools, the project, attachments, test runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from urllib.parse import unquote, urlsplit

from anyio import to_thread

from accord.agent.session.paths import relative
from accord.agent.tools.elicitation import FormField
from accord.builtin.offline.prompt.message import Attached, Message
from accord.builtin.offline.runs.project_test_results import TestRun
from accord.builtin.offline.runs.project_test_runners import (
    TestCommand,
    find_command,
    python_of,
)
from accord.builtin.offline.source_code.project_texts import Project, read_project
from accord.builtin.tools.tool_call import BY_USER, REFUSALS, Denial
from accord.errors import RequestFailed
from accord.machine.own_command_line import interpreter
from accord.machine.processes.program_lookup import find_program

if TYPE_CHECKING:
    from accord.agent.turn import Turn
    from accord.builtin.tools.toolbox import Toolbox
    from accord.builtin.workspace import Workspace

P = ParamSpec("P")
T = TypeVar("T")

LOCATIONS_MAX = 50
"""Most locations of one tool call."""

LAST_RUN = "last_run"
"""The name under which a session stores its last test run."""

Place = tuple[str, int]


class Work:
    """The tools, the project and the attachments of one turn."""

    def __init__(self, turn: Turn, message: Message, tools: Toolbox, workspace: Workspace) -> None:
        self.turn = turn
        self.tools = tools
        self.workspace = workspace
        self.message = message
        # Whether the last command or test run of this turn succeeded; None before the first.
        self.went_well: bool | None = None
        self._is_run_put_aside = False
        self._project: Project | None = None

    @property
    def model(self) -> str | None:
        """The model that answers prompts other than slash commands; None if there is none."""
        chosen = self.turn.options.get("model")
        return chosen if isinstance(chosen, str) and chosen != "offline" else None

    # ---- saying

    async def say(self, *paragraphs: str) -> None:
        """Send one message; empty paragraphs are left out."""
        # Answers quote what tools read, so known secrets are redacted.
        text = self.tools.context.redactor.text("\n\n".join(one for one in paragraphs if one))
        async with self.turn.message() as message:
            for line in text.splitlines(keepends=True):
                await message.write(line)

    async def refused(self, text: str, what: str, denied: Denial | None) -> None:
        """Say that something was not done, and who refused it."""
        if denied is None or denied not in REFUSALS:
            await self.say(text)
            return
        agreed = "All right, " if denied in BY_USER else ""
        said = f"{agreed}{what}: {REFUSALS[denied][1]}."
        await self.say(said[:1].upper() + said[1:])

    # ---- looking

    def embedded(self) -> dict[str, str]:
        """The texts that came with the prompt, by path in the project, or else by their URI."""
        return {
            self.path_of(one): one.text
            for one in self.message.attached
            if one.text is not None and not one.is_part
        }

    def mentioned(self) -> list[str]:
        """The files that the prompt points at, with their text or without."""
        return list(dict.fromkeys(self.path_of(one) for one in self.message.attached))

    def paste(self, text: str) -> None:
        """Treat a text in the prompt as an attachment."""
        pasted = Attached("the pasted text", text, is_part=True)
        self.message = replace(self.message, attached=(*self.message.attached, pasted))

    def path_of(self, attached: Attached) -> str:
        """The path of an attached text in the project; its URI if it is not a file."""
        uri = attached.uri
        try:
            parts = urlsplit(uri)
        except ValueError:
            # Such as an address with half a bracket.
            return uri
        if parts.scheme == "file":
            return relative(self.turn.session, unquote(parts.path))
        return relative(self.turn.session, uri) if uri.startswith("/") else uri

    async def project(self, about: str | None = None, *, fresh: bool = False) -> Project:
        """The project, read once a turn; texts from the prompt replace those on disk.

        Of a project that is too large, all files that contain the name `about` are read.
        """
        if self._project is None or fresh:
            plain = None if about is None else re.split(r"\.|::|#", about)[-1]
            found = await read_project(str(self.turn.cwd), plain or None)
            self._project = found.with_texts(self.embedded())
        return self._project

    async def compute(self, function: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
        """Run a function in a thread, so that a large project does not delay a cancellation."""
        return await to_thread.run_sync(partial(function, *args, **more), abandon_on_cancel=True)

    def forget_project(self) -> None:
        """Read the project again for the next question, because files changed."""
        self._project = None

    async def looked(
        self, title: str, name: str, given: dict[str, object], places: Sequence[Place], text: str
    ) -> None:
        """Show a lookup in the code as a tool call, with the places it found."""
        call = self.turn.tool_call(title, kind="search", name=name, raw_input=given)
        async with call:
            await call.start()
            if places:
                await call.set_locations(*places[:LOCATIONS_MAX])
            await call.show(self.tools.context.redactor.text(text))
            await call.complete(raw_output={"count": len(places)})

    async def choose(self, question: str, choices: Sequence[str]) -> str | None:
        """Ask the user which of several is meant; None if the client cannot ask."""
        field = FormField(title="Which one?", choices=tuple(choices))
        try:
            answer = await self.turn.ask(question, choice=field)
        except RequestFailed:
            return None
        chosen = answer.values.get("choice") if answer.accepted else None
        return chosen if isinstance(chosen, str) else None

    # ---- tests

    async def test_command(self, target: str | None = None) -> TestCommand | None:
        """The command that runs the tests: from the session's options, or detected."""
        configured = self.turn.options.get("test_command")
        if isinstance(configured, str) and configured.strip() not in ("", "auto"):
            line = configured.strip()
            whole = f"{line} {quote(target)}" if target else line
            return TestCommand(whole, "your command", "the session says so")
        project = await self.project()
        return find_command(project.files, project.paths, self._python(project), target)

    async def runnable(self, line: str) -> str:
        """A command line; a Python file of the project, which no shell would find, gets Python."""
        first = line.split(maxsplit=1)[0]
        if not first.endswith(".py"):
            return line
        project = await self.project()
        return f"{quote(self._python(project))} {line}" if first in project.paths else line

    def _python(self, project: Project) -> str:
        """The project's own Python, else the user's."""
        otherwise = "python3" if find_program("python3") else interpreter()
        return python_of(project.pythons, otherwise)

    async def last_run(self) -> TestRun | None:
        """The last run of this session, also after a restart; None once it was put aside."""
        if self._is_run_put_aside:
            return None
        known = self.workspace.last_run
        if known is None:
            kept = await self.turn.session.kept(LAST_RUN)
            known = None if kept is None else TestRun.from_bytes(kept)
            self.workspace.last_run = known
        return known if isinstance(known, TestRun) else None

    def put_last_run_aside(self) -> None:
        """Ignore the last run, so that a repair starts with a new one."""
        self._is_run_put_aside = True

    async def remember_run(self, run: TestRun) -> None:
        """Store a run for `fix it`."""
        self._is_run_put_aside = False
        self.workspace.last_run = run
        await self.turn.session.keep(LAST_RUN, run.to_bytes())
