"""People who talk to a gateway that is killed, and remember what they were shown.

What every talker checks, whenever it is back: whatever it was shown is still there, every prompt's
numbers are there from the first one on, once and in order, a turn that was cut short is said to
have been interrupted, once, and no request was left without an answer.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import anyio

from accord import Client, Permissions, RemoteLimits, Session
from accord.errors import AccordError
from accord.gateway.application import path_of
from tests.gateway.durability.gateway_program import TOKEN
from tests.hang_limit import HANG_SECONDS

LIMITS = replace(
    RemoteLimits(),
    reconnect_seconds_min=0.02,
    reconnect_seconds_max=0.1,
    grace_seconds=HANG_SECONDS,
)
_NUMBER = re.compile(r"(\w+)\.(\d+) ")
INTERRUPTED = "The turn was interrupted"


@dataclass
class Asked:
    """One prompt, and what came of its request."""

    key: str
    count: int
    error: AccordError | None = None


@dataclass
class Talker:
    """One person at one session: how they connect, what they asked, what they saw."""

    name: str
    scheme: str
    version: int
    agent: str
    chunk_seen: Callable[[], None]
    session_id: str | None = None
    asked: list[Asked] = field(default_factory=list)
    seen: str = ""

    def _traffic(self, way: str, data: bytes) -> None:
        if way == "received":
            for _ in range(data.count(b"agent_message_chunk")):
                self.chunk_seen()

    @asynccontextmanager
    async def connected(self, port: int) -> AsyncGenerator[tuple[Client, Session]]:
        """Connect, and come back to the session if there is one already."""
        async with Client.connect(
            f"{self.scheme}://127.0.0.1:{port}{path_of(self.agent)}",
            token=TOKEN,
            versions=(self.version,),
            remote_limits=LIMITS,
            permissions=Permissions.allow_all(),
            traffic=self._traffic,
        ) as client:
            if self.session_id is None:
                session = await client.new_session(cwd="/")
                self.session_id = session.id
            else:
                session = await client.load_session(self.session_id, cwd="/")
            yield client, session

    async def ask(self, session: Session, count: int) -> Asked:
        """Ask for `count` numbers; an error of the request is kept, and nothing else happens."""
        asked = Asked(f"{self.name}p{len(self.asked)}", count)
        self.asked.append(asked)
        try:
            with anyio.fail_after(HANG_SECONDS):
                await session.ask(f"{asked.key} {count}")
        except AccordError as error:
            asked.error = error
        self.look(session)
        return asked

    def look(self, session: Session) -> None:
        """Compare what the session shows with what it showed before."""
        seen = "".join(one.text for one in session.transcript.messages if one.role == "agent")
        before, now = _NUMBER.findall(self.seen), _NUMBER.findall(seen)
        assert now[: len(before)] == before, (self.name, before[-5:], now[-5:])
        said: dict[str, list[int]] = {}
        for key, number in now:
            said.setdefault(key, []).append(int(number))
        order = [asked.key for asked in self.asked if asked.key in said]
        assert list(said) == order, (self.name, list(said), order)
        for asked in self.asked:
            numbers = said.get(asked.key, [])
            assert numbers == list(range(len(numbers))), (asked.key, numbers)
            if asked.error is None:
                assert len(numbers) == asked.count, (asked.key, len(numbers), asked.count)
        self.seen = seen

    def check_remarks(self, reached: set[str]) -> None:
        """Every turn that was cut short is said to have been, once, and no other is."""
        said = dict.fromkeys((asked.key for asked in self.asked), 0)
        for key, _ in _NUMBER.findall(self.seen):
            said[key] += 1
        failed = [asked for asked in self.asked if asked.error is not None]
        most = len(failed)
        least = sum(said[one.key] < one.count and one.key in reached for one in failed)
        told = self.seen.count(INTERRUPTED)
        assert least <= told <= most, (self.name, least, told, most, self.seen[-300:])


__all__ = ["INTERRUPTED", "Asked", "Talker"]
