"""What happened in a world, and what was wrong about it.

The agent writes down what it says before it says it and again when it has said it; the client what
it saw.  Every piece of text is a token that names its prompt, its run and its number, so that one
that is lost, doubled, swapped or given to the wrong turn shows.
"""

import re
from dataclasses import dataclass, field

# <prompt.run.stream#number~filler>
TOKEN = re.compile(r"<([a-z0-9]+)\.(\d+)\.(\d+)#(\d+)~[^<>]*>")


@dataclass(slots=True)
class Run:
    """One time that the agent's handler ran for a prompt."""

    key: str
    number: int
    # By stream, in order: what was begun to be said, and how many of these surely were.
    begun: dict[int, list[str]] = field(default_factory=dict)
    said: dict[int, int] = field(default_factory=dict)
    end: str | None = None
    error: int | None = None

    def token(self, stream: int, filler: str) -> str:
        """The next piece of text of a stream."""
        pieces = self.begun.setdefault(stream, [])
        token = f"<{self.key}.{self.number}.{stream}#{len(pieces)}~{filler}>"
        pieces.append(token)
        return token


@dataclass(slots=True)
class Chronicle:
    """Of one world."""

    violations: list[str] = field(default_factory=list)
    runs: dict[str, list[Run]] = field(default_factory=dict)
    # Prompts in the order in which handlers began, by session.
    began: dict[str, list[str]] = field(default_factory=dict)
    # Sessions (by their name in the plan) in which the client asked for a stop, or closed.
    cancelled: set[str] = field(default_factory=set)
    # The same for waits with a deadline, with the moment.
    cancels_at: dict[str, float] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    # Whether something was broken on purpose: much may be missing then, nothing may be wrong.
    broken: bool = False
    logged_in: bool = True
    # How often the client had asked for a stop on the wire when a prompt was begun.
    stops: dict[str, int] = field(default_factory=dict)
    first_stop: dict[str, float] = field(default_factory=dict)
    stops_before: dict[str, int] = field(default_factory=dict)
    # Prompts that a cancel found waiting when it came to the agent, and those that it found at
    # work, with the moment.
    doomed: set[str] = field(default_factory=set)
    stopped_at: dict[str, float] = field(default_factory=dict)
    prompts_done: int = 0
    updates_seen: int = 0

    def wrong(self, what: str) -> None:
        """Something must not be; the first few are kept."""
        if len(self.violations) < 20:
            self.violations.append(what)

    def check(self, holds: bool, what: str) -> None:
        """Write down what does not hold."""
        if not holds:
            self.wrong(what)

    def cancel_came(self, arrived: list[str], now: float) -> None:
        """The agent hears a cancel for a session; these are its prompts that have arrived."""
        for key in arrived:
            runs = self.runs.get(key, [])
            if not runs:
                self.doomed.add(key)
            elif runs[-1].end is None:
                self.stopped_at.setdefault(key, now)

    def run(self, key: str) -> Run:
        """The handler begins with a prompt."""
        runs = self.runs.setdefault(key, [])
        made = Run(key, len(runs))
        runs.append(made)
        self.began.setdefault(session_of(key), []).append(key)
        return made


def session_of(key: str) -> str:
    """The session's name in the plan."""
    return key[:2]


def tokens_in(text: str) -> list[str]:
    """All tokens of a text, in order."""
    return [match.group(0) for match in TOKEN.finditer(text)]


def check_order(
    chronicle: Chronicle, where: str, tokens: list[str], *, from_the_start: bool = True
) -> None:
    """Each stream counts from 0 on, without a gap and without a second time.

    Who began to look later sees it from there on.
    """
    counts: dict[tuple[str, str, str], int] = {}
    for token in tokens:
        match = TOKEN.fullmatch(token)
        assert match is not None
        key, run, stream, number = match.groups()
        expected = counts.get((key, run, stream), 0 if from_the_start else int(number))
        if int(number) != expected:
            chronicle.wrong(f"{where}: {token} came where number {expected} was due")
            return
        counts[key, run, stream] = expected + 1
