"""What the client of a world does for its agent: files, terminals, forms; each takes its time.

Nothing of it is real.  Each writes down what was done, and complains of what must not be asked of
it: a terminal that was released, two forms at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import anyio

from accord.errors import RequestError
from tests.simulation.event_log import Chronicle

# By session and path.
Place = tuple[str, str]


class PlayedFiles:
    """Texts in memory."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._texts: dict[Place, str] = {}
        self._sessions: set[str] = set()
        # What the agent may find, by what it was answered; None: no such file.
        self.may_be: dict[Place, set[str | None]] = {}

    def add_session(self, session_id: str, roots: Sequence[str]) -> None:
        """It may read and write from now on."""
        self._sessions.add(session_id)

    def remove_session(self, session_id: str) -> None:
        """And no longer."""
        self._sessions.discard(session_id)

    async def read_text(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None
    ) -> str:
        """What is there."""
        self._must_be_open(session_id)
        await anyio.sleep(self._random.random() * 0.01)
        text = self._texts.get((session_id, path))
        if text is None:
            raise RequestError.resource_missing(path)
        return text

    async def write_text(self, session_id: str, path: str, content: str) -> None:
        """In the middle of two waits: whoever is cancelled may have written or not."""
        self._must_be_open(session_id)
        await anyio.sleep(self._random.random() * 0.01)
        self._texts[session_id, path] = content
        await anyio.sleep(self._random.random() * 0.01)

    def _must_be_open(self, session_id: str) -> None:
        if session_id not in self._sessions:
            raise RequestError.permission_denied("the session is closed", "roots")


@dataclass(frozen=True, slots=True)
class PlayedExit:
    """How a command ended."""

    code: int | None
    signal: str | None


@dataclass(frozen=True, slots=True)
class PlayedScreen:
    """What a terminal shows."""

    text: str
    truncated: bool
    exit: PlayedExit | None


@dataclass(slots=True)
class PlayedCommand:
    """One that runs for a while, and prints its name at the end."""

    session_id: str
    text: str
    ends_at: float
    code: int
    killed: anyio.Event = field(default_factory=anyio.Event)

    @property
    def exit(self) -> PlayedExit | None:
        """How it ended, if it has."""
        if self.killed.is_set():
            return PlayedExit(None, "SIGKILL")
        return PlayedExit(self.code, None) if anyio.current_time() >= self.ends_at else None


class PlayedTerminals:
    """Commands that are only clocks: `run SECONDS CODE TEXT`."""

    def __init__(self, chronicle: Chronicle, random: Random) -> None:
        self._chronicle = chronicle
        self._random = random
        self.open: dict[str, PlayedCommand] = {}
        self._released: set[str] = set()
        self._made = 0

    async def create(
        self,
        session_id: str,
        command: str,
        args: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        output_byte_limit: int | None = None,
    ) -> str:
        """It runs from now on."""
        await anyio.sleep(self._random.random() * 0.02)
        self._made += 1
        terminal_id = f"terminal{self._made}"
        seconds, code, text = args
        ends_at = anyio.current_time() + float(seconds)
        self.open[terminal_id] = PlayedCommand(session_id, text, ends_at, int(code))
        return terminal_id

    def output(self, session_id: str, terminal_id: str) -> PlayedScreen:
        """What it has printed."""
        command = self._find(session_id, terminal_id)
        ended = command.exit
        return PlayedScreen("" if ended is None else command.text, False, ended)

    async def wait_for_exit(self, session_id: str, terminal_id: str) -> PlayedExit:
        """Wait for its end."""
        command = self._find(session_id, terminal_id)
        with anyio.move_on_after(max(0.0, command.ends_at - anyio.current_time())):
            await command.killed.wait()
        return command.exit or PlayedExit(command.code, None)

    async def kill(self, session_id: str, terminal_id: str) -> None:
        """End it."""
        command = self._find(session_id, terminal_id)
        if command.exit is None:
            command.killed.set()

    async def release(self, session_id: str, terminal_id: str) -> None:
        """End it and forget it, at once."""
        self._find(session_id, terminal_id).killed.set()
        del self.open[terminal_id]
        self._released.add(terminal_id)
        await anyio.sleep(self._random.random() * 0.01)

    def close_session(self, session_id: str) -> None:
        """The session is over, and so is what runs in it."""
        for terminal_id, command in tuple(self.open.items()):
            if command.session_id == session_id:
                command.killed.set()
                del self.open[terminal_id]

    def close_all(self) -> None:
        """The agent is gone."""
        for command in self.open.values():
            command.killed.set()
        self.open.clear()

    def _find(self, session_id: str, terminal_id: str) -> PlayedCommand:
        command = self.open.get(terminal_id)
        if terminal_id in self._released and not self._chronicle.broken:
            self._chronicle.wrong(f"{terminal_id} was used after its release")
        if command is None or command.session_id != session_id:
            raise RequestError.resource_missing(terminal_id)
        return command


class PlayedUser:
    """Fills forms in as the plan says, one at a time."""

    def __init__(self, chronicle: Chronicle, random: Random, decides: str) -> None:
        self._chronicle = chronicle
        self._random = random
        self._decides = decides
        self._looks_at: list[str] = []
        # What was typed, by what was asked.
        self.typed: dict[str, str] = {}

    async def fill_in(self, form: Any) -> Any:
        """Type something, decline, or look at it for long."""
        self._looks_at.append(form.message)
        if len(self._looks_at) > 1:
            self._chronicle.wrong(f"the user sees several forms at once: {self._looks_at}")
        try:
            match self._decides:
                case "no":
                    return False
                case "never":
                    await anyio.sleep(30)
                    return None
                case _:
                    await anyio.sleep(self._random.random() * 0.2)
        finally:
            self._looks_at.remove(form.message)
        self.typed[form.message] = f"to {form.message}: {self._random.random()}"
        return {"word": self.typed[form.message]}


class Services:
    """All of them, of one life of the client."""

    def __init__(self, chronicle: Chronicle, random: Random, decides: str) -> None:
        self.files = PlayedFiles(random)
        self.terminals = PlayedTerminals(chronicle, random)
        self.user = PlayedUser(chronicle, random, decides)
