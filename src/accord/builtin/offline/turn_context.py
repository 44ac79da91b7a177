"""What the actions of one turn share: the tools, the project as read once, what was handed over."""

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
from accord.builtin.offline.runs.run_result import TestRun
from accord.builtin.offline.runs.runners import (
    TestCommand,
    find_command,
    python_of,
)
from accord.builtin.offline.source_code.project import Project, read_project
from accord.builtin.tools.result import BY_USER, REFUSALS, Denial
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
"""Places that one tool call names."""

LAST_RUN = "last_run"
"""Under what name a session keeps its last test run."""

Place = tuple[str, int]


class Work:
    """One turn at work."""

    def __init__(self, turn: Turn, message: Message, tools: Toolbox, workspace: Workspace) -> None:
        self.turn = turn
        self.tools = tools
        self.workspace = workspace
        self.message = message
        # Whether the last command or test run of this turn ended well; None before there was one.
        self.went_well: bool | None = None
        self._is_run_put_aside = False
        self._project: Project | None = None

    @property
    def model(self) -> str | None:
        """The model that answers what is no slash command; None where nobody does."""
        chosen = self.turn.options.get("model")
        return chosen if isinstance(chosen, str) and chosen != "offline" else None

    # ---- saying

    async def say(self, *paragraphs: str) -> None:
        """One message; what is empty is left out."""
        # Of what tools read much is quoted: no secret that is known gets out by that.
        text = self.tools.context.redactor.text("\n\n".join(one for one in paragraphs if one))
        async with self.turn.message() as message:
            for line in text.splitlines(keepends=True):
                await message.write(line)

    async def refused(self, text: str, what: str, denied: Denial | None) -> None:
        """Say that something was not done, and who decided that."""
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
        """Take a text that stands in the prompt for one that came with it."""
        pasted = Attached("the pasted text", text, is_part=True)
        self.message = replace(self.message, attached=(*self.message.attached, pasted))

    def path_of(self, attached: Attached) -> str:
        """Where an attached text is in the project; its address for what is no file."""
        uri = attached.uri
        try:
            parts = urlsplit(uri)
        except ValueError:
            # As of an address with half a bracket.
            return uri
        if parts.scheme == "file":
            return relative(self.turn.session, unquote(parts.path))
        return relative(self.turn.session, uri) if uri.startswith("/") else uri

    async def project(self, about: str | None = None, *, fresh: bool = False) -> Project:
        """The project, read once a turn; with what the prompt brought instead of the disk's.

        Of a project that is too large to be read, all of what has the name it is about is read.
        """
        if self._project is None or fresh:
            plain = None if about is None else re.split(r"\.|::|#", about)[-1]
            found = await read_project(str(self.turn.cwd), plain or None)
            self._project = found.with_texts(self.embedded())
        return self._project

    async def compute(self, function: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
        """Work something out in a thread: a large project must not hold up a cancellation."""
        return await to_thread.run_sync(partial(function, *args, **more), abandon_on_cancel=True)

    def forget_project(self) -> None:
        """Files were changed: the next question reads them again."""
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
        """Which of several the user means, where the client can ask; else None."""
        field = FormField(title="Which one?", choices=tuple(choices))
        try:
            answer = await self.turn.ask(question, choice=field)
        except RequestFailed:
            return None
        chosen = answer.values.get("choice") if answer.accepted else None
        return chosen if isinstance(chosen, str) else None

    # ---- tests

    async def test_command(self, target: str | None = None) -> TestCommand | None:
        """How the tests of this project are run: as the session says, or as found."""
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
        """The project's own, else what the user would get."""
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
        """Have the tests run anew before anything is repaired."""
        self._is_run_put_aside = True

    async def remember_run(self, run: TestRun) -> None:
        """Keep a run for `fix it`."""
        self._is_run_put_aside = False
        self.workspace.last_run = run
        await self.turn.session.keep(LAST_RUN, run.to_bytes())
