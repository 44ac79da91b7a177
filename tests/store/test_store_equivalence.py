"""Whatever is done to a store, one in a file answers as the one in memory does."""

import shutil
import tempfile
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import anyio.from_thread
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from accord.schema import v2
from accord.store import MemoryStore, SessionLog, SessionRecord
from accord.store.chunk_merge import Coalescer
from accord.store.sqlite import SqliteStore

T = TypeVar("T")

FOLDERS = st.sampled_from(("/w", "/v"))
TEXT = st.text(st.characters(codec="utf-8"), max_size=6)
UPDATES = (
    st.builds(
        v2.AgentMessageChunk,
        message_id=st.sampled_from("mn"),
        content=st.builds(v2.TextContent, text=TEXT),
    )
    | st.builds(v2.AgentMessage, message_id=TEXT)
    | st.builds(v2.ToolCallUpdate, tool_call_id=TEXT, title=TEXT | st.none())
    | st.builds(v2.TerminalOutputChunk, terminal_id=st.just("t"), data=st.binary(max_size=4))
)


class Both(RuleBasedStateMachine):
    """Does everything to both stores and compares what they say."""

    sessions: Bundle[str] = Bundle("sessions")

    def __init__(self) -> None:
        super().__init__()
        self._folder = Path(tempfile.mkdtemp())
        self._portal_context = anyio.from_thread.start_blocking_portal()
        self._portal = self._portal_context.__enter__()
        self._memory = MemoryStore(page_sessions=2)
        self._file = SqliteStore(self._folder / "s.sqlite3", page_sessions=2)
        self._made = 0

    def teardown(self) -> None:
        self._portal.call(self._file.aclose)
        self._portal_context.__exit__(None, None, None)
        shutil.rmtree(self._folder)

    def _same(self, method: str, *arguments: Any) -> Any:
        """The answer of both, which is one."""

        async def ask(store: Any) -> Any:
            return await getattr(store, method)(*arguments)

        first, second = self._portal.call(ask, self._memory), self._portal.call(ask, self._file)
        assert first == second, method
        return first

    def _logs(self, method: str, *arguments: Any) -> tuple[SessionLog, SessionLog] | None:
        async def ask(store: Any) -> Any:
            return await getattr(store, method)(*arguments)

        first, second = self._portal.call(ask, self._memory), self._portal.call(ask, self._file)
        assert (first is None) == (second is None), method
        return None if first is None else (first, second)

    def _new_id(self) -> str:
        self._made += 1
        return f"s{self._made}"

    @initialize()
    def begin(self) -> None:
        self._same("list", None, None)

    @rule(target=sessions, cwd=FOLDERS, title=TEXT | st.none())
    def create(self, cwd: str, title: str | None) -> str:
        record = SessionRecord(self._new_id(), cwd, title=title)
        assert self._logs("create", record) is not None
        return record.session_id

    @rule(target=sessions, source=sessions)
    def fork(self, source: str) -> str:
        record = SessionRecord(self._new_id(), "/w")
        self._logs("fork", source, record)
        return record.session_id

    @rule(name=sessions, updates=st.lists(UPDATES, max_size=5))
    def append(self, name: str, updates: list[Any]) -> None:
        logs = self._logs("open", name)

        async def add(log: SessionLog) -> None:
            waiting: list[Awaitable[None]] = []
            for update in updates:
                one = log.append(update)
                if one is not None:
                    waiting.append(one)
            for one in waiting:
                await one

        for log in logs or ():
            self._portal.call(add, log)

    @rule(name=sessions)
    def replay(self, name: str) -> None:
        async def read(log: SessionLog) -> list[Any]:
            return [update async for update in log.replay()]

        logs = self._logs("open", name)
        if logs is not None:
            memory, file = (self._portal.call(read, log) for log in logs)
            merged = Coalescer()
            assert merged.take(memory) + merged.rest() == file

    @rule(name=sessions, title=TEXT | st.none(), archived=st.booleans(), cwd=FOLDERS)
    def put(self, name: str, title: str | None, archived: bool, cwd: str) -> None:
        record = self._same("get", name) or SessionRecord(name, "/w")
        changed = replace(record, title=title, archived=archived, cwd=cwd, options={"o": archived})
        self._same("put", changed)
        self._same("get", name)

    @rule(name=sessions, key=st.sampled_from("ab"), value=st.binary(max_size=4))
    def keep(self, name: str, key: str, value: bytes) -> None:
        self._same("keep", name, key, value)
        self._same("kept", name, key)

    @rule(name=consumes(sessions))
    def delete(self, name: str) -> None:
        self._same("delete", name)
        self._same("get", name)
        self._same("kept", name, "a")

    @rule(name=sessions)
    def release(self, name: str) -> None:
        self._same("release", name)

    @rule()
    def restart(self) -> None:
        """The process ends in good order, and another begins."""
        self._portal.call(self._file.aclose)
        self._file = SqliteStore(self._folder / "s.sqlite3", page_sessions=2)

    @rule(cwd=FOLDERS | st.none(), archived=st.booleans() | st.none())
    def pages(self, cwd: str | None, archived: bool | None) -> None:
        cursor = None
        while True:
            page = self._same("list", cwd, cursor, archived)
            cursor = page.next_cursor
            if cursor is None:
                return

    @invariant()
    def first_page(self) -> None:
        self._same("list", None, None)


TestBoth = Both.TestCase
TestBoth.settings = settings(max_examples=25, stateful_step_count=20)
TestBoth = pytest.mark.filterwarnings("ignore::ResourceWarning")(TestBoth)
