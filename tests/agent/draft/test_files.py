"""Files of a client of the 2026-02 draft, with all that only the draft can say of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from accord.agent import Agent, Turn
from accord.errors import LocalProtocolError, RemoteProtocolError, RequestFailed
from accord.machine.errors import (
    AccessDenied,
    AlreadyThere,
    FileFailure,
    NoSuchFile,
)
from tests.agent.draft.draft_client import draft_client
from tests.agent.raw_client import Message, raw_client

TEXT = "".join(f"line {n}\n" for n in range(1, 8))


def agent_that(handler: Any) -> Agent:
    """An agent with this handler."""
    agent = Agent("files", version="1")
    agent.on_prompt(handler)
    return agent


def reader(got: list[Any], **how: Any) -> Agent:
    """An agent that reads a file and keeps what came of it."""

    async def read(turn: Turn) -> None:
        try:
            got.append(await turn.read_text("a.txt", **how))
        except Exception as error:
            got.append(error)

    return agent_that(read)


def writer(got: list[Any], **how: Any) -> Agent:
    """An agent that writes a file and keeps what came of it."""

    async def write(turn: Turn) -> None:
        try:
            got.append(await turn.write_text("b/a.txt", "new", **how))
        except Exception as error:
            got.append(error)

    return agent_that(write)


# ---- reading


@pytest.mark.parametrize(
    ("how", "asked"),
    [
        ({}, {}),
        ({"line": 3}, {"startLine": 3}),
        ({"limit": 2}, {"startLine": 1, "endLine": 2}),
        ({"line": 3, "limit": 2}, {"startLine": 3, "endLine": 4}),
        ({"encoding": "latin-1"}, {"encoding": "latin-1"}),
    ],
)
async def test_lines_and_encoding_are_asked_for_in_the_drafts_words(
    how: dict[str, Any], asked: Message
) -> None:
    """The draft's table 4.2: no session, both ends named, absolute paths."""
    got: list[Any] = []
    async with draft_client(reader(got, **how)) as client:
        session = await client.new_session("/somewhere")
        prompt = client.start_prompt(session)
        request = await client.next("fs/read_text_file")
        assert request["params"] == {"path": "/somewhere/a.txt", **asked}
        client.reply(request, {"content": "text\n", "encoding": "utf-8"})
        await client.answer(prompt)
    assert got == ["text\n"]


async def test_no_lines_are_nothing_and_nobody_is_asked() -> None:
    """The draft's table 4.2: `limit` 0 is answered locally."""
    got: list[Any] = []
    async with draft_client(reader(got, limit=0)) as client:
        session = await client.new_session()
        await client.prompt(session)
    assert got == [""]


def served(lines: int, *, total: bool = True, cut_within: bool = False) -> Any:
    """A client that tells so many lines at most and calls the rest truncated."""

    def serve(params: Message) -> Message:
        start, end = params.get("startLine", 1), params.get("endLine")
        wanted = TEXT.splitlines(keepends=True)[start - 1 : end]
        content = "".join(wanted[:lines])
        more = len(wanted) > lines
        if cut_within and more:
            content += wanted[lines][:3]
        result: Message = {"content": content, "encoding": "utf-8", "truncated": more}
        return result | ({"totalLines": 7} if total else {})

    return serve


@pytest.mark.parametrize("total", [True, False])
@pytest.mark.parametrize("cut_within", [True, False])
@pytest.mark.parametrize("how", [{}, {"line": 2, "limit": 5}])
async def test_what_the_client_cut_off_is_asked_for(
    total: bool, cut_within: bool, how: dict[str, Any]
) -> None:
    """Issue 5: `truncated` and `totalLines`; a text that is returned is whole."""
    got: list[Any] = []
    async with draft_client(reader(got, **how)) as client:
        client.serve["fs/read_text_file"] = served(2, total=total, cut_within=cut_within)
        session = await client.new_session()
        await client.prompt(session)
    lines = TEXT.splitlines(keepends=True)
    assert got == ["".join(lines[1:6] if how else lines)]


@pytest.mark.parametrize(
    "answer",
    [
        {"content": "endless line", "encoding": "utf-8", "truncated": True},
        {"content": "a\nb\n", "encoding": "utf-8", "truncated": True, "totalLines": 2},
    ],
)
async def test_a_text_that_cannot_be_had_whole_is_an_error_and_a_whole_one_is_none(
    answer: Message,
) -> None:
    """A part of a file must never be taken for all of it: an edit would lose the rest."""
    got: list[Any] = []
    async with draft_client(reader(got)) as client:
        client.serve["fs/read_text_file"] = lambda _params: answer
        session = await client.new_session()
        await client.prompt(session)
    if "totalLines" in answer:
        assert got == ["a\nb\n"]
    else:
        assert isinstance(got[0], FileFailure)


@pytest.mark.rule("D26-33")
@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (-32004, NoSuchFile),
        (-32005, AccessDenied),
        (-32002, AccessDenied),
        (-32603, RequestFailed),
        (-32009, RequestFailed),
    ],
)
async def test_refusals_are_the_errors_of_our_own_files(code: int, kind: type[Exception]) -> None:
    """The draft's table 9, read by an agent."""
    got: list[Any] = []
    async with draft_client(reader(got)) as client:
        session = await client.new_session()
        prompt = client.start_prompt(session)
        client.refuse(await client.next("fs/read_text_file"), code)
        await client.answer(prompt)
    assert type(got[0]) is kind or (kind is RequestFailed and isinstance(got[0], kind))


@pytest.mark.parametrize("answer", [{}, {"content": 3, "encoding": "x"}, None, []])
async def test_an_answer_that_is_none_is_the_clients_mistake(answer: Any) -> None:
    """A peer's mistake never looks like a file."""
    read: list[Any] = []
    async with draft_client(reader(read)) as client:
        client.serve["fs/read_text_file"] = lambda _params: answer
        session = await client.new_session()
        await client.prompt(session)
    assert isinstance(read[0], RemoteProtocolError)
    written: list[Any] = []
    async with draft_client(writer(written)) as client:
        client.serve["fs/write_text_file"] = lambda _params: answer
        session = await client.new_session()
        await client.prompt(session)
    assert isinstance(written[0], RemoteProtocolError)


# ---- writing


@pytest.mark.parametrize("created", [True, False])
@pytest.mark.parametrize(
    ("how", "asked"),
    [
        ({}, {"createDirectories": True, "overwrite": True}),
        (
            {"overwrite": False, "create_directories": False, "encoding": "utf-16"},
            {"createDirectories": False, "overwrite": False, "encoding": "utf-16"},
        ),
    ],
)
async def test_what_is_written_is_described_and_the_facts_are_read(
    created: bool, how: dict[str, Any], asked: Message
) -> None:
    """The draft's table 4.2: encoding, createDirectories, overwrite; `created` comes back."""
    got: list[Any] = []
    async with draft_client(writer(got, **how)) as client:
        session = await client.new_session("/somewhere")
        prompt = client.start_prompt(session)
        request = await client.next("fs/write_text_file")
        assert request["params"] == {"path": "/somewhere/b/a.txt", "content": "new", **asked}
        client.reply(request, {"bytesWritten": 3, "created": created})
        await client.answer(prompt)
    assert got == [created]


async def test_a_file_that_is_not_to_be_replaced_stays() -> None:
    """The draft's table 4.2: -32005 where `overwrite` is false and the file exists."""
    got: list[Any] = []
    for how in ({"overwrite": False}, {}):
        async with draft_client(writer(got, **how)) as client:
            session = await client.new_session()
            prompt = client.start_prompt(session)
            client.refuse(await client.next("fs/write_text_file"), -32005)
            await client.answer(prompt)
    assert [type(one) for one in got] == [AlreadyThere, AccessDenied]


@pytest.mark.rule("D26-17")
async def test_files_that_the_client_does_not_offer_are_our_own(tmp_path: Path) -> None:
    """The draft's table 7: the intersection of capabilities; every detail counts there too."""
    got: list[Any] = []

    async def work(turn: Turn) -> None:
        got.append(await turn.write_text("sub/a", "one\n"))
        got.append(await turn.write_text("sub/a", "two\n"))
        got.append(await turn.read_text("sub/a"))
        for call in (
            turn.write_text("sub/a", "three", overwrite=False),
            turn.write_text("no/such", "x", create_directories=False),
            turn.read_text("sub/a", encoding="latin-1"),
        ):
            try:
                got.append(await call)
            except Exception as error:
                got.append(type(error))

    async with draft_client(agent_that(work), {}) as client:
        session = await client.new_session(str(tmp_path))
        await client.prompt(session)
    assert got == [True, False, "two\n", AlreadyThere, NoSuchFile, LocalProtocolError]
    assert (tmp_path / "sub" / "a").read_text() == "two\n"
    assert not (tmp_path / "no").exists()


async def test_a_client_of_v1_is_asked_as_v1_has_it() -> None:
    """What only the draft can say is done by us, or refused as a caller's mistake."""
    got: list[Any] = []

    async def work(turn: Turn) -> None:
        got.append(await turn.write_text("/a", "x"))
        for call in (
            turn.write_text("/a", "x", overwrite=False),
            turn.write_text("/b", "x", overwrite=False),
            turn.write_text("/a", "x", encoding="latin-1"),
        ):
            try:
                got.append(await call)
            except Exception as error:
                got.append(type(error))

    offer = {"fs": {"readTextFile": True, "writeTextFile": True}}
    async with raw_client(agent_that(work), capabilities=offer) as client:
        session = await client.new_session()
        prompt = client.start_prompt(session)
        client.serve["fs/write_text_file"] = lambda _params: {}
        client.reply(await client.next("fs/read_text_file"), {"content": "x"})
        client.refuse(await client.next("fs/read_text_file"), -32002, data={"uri": "file:///b"})
        await client.answer(prompt)
    assert got == [None, AlreadyThere, True, LocalProtocolError]


@pytest.mark.rule("D26-34", "D26-25")
async def test_a_whole_edit_reads_asks_and_writes(tmp_path: Path) -> None:
    """The file request comes behind `in_progress`; a relative path is of the working folder."""

    async def edit(turn: Turn) -> None:
        await turn.edit("a.txt", "two\n", reason="to change it")

    async with draft_client(agent_that(edit)) as client:
        session = await client.new_session("/somewhere")
        client.serve["fs/read_text_file"] = lambda _params: {"content": "one\n", "encoding": "x"}
        prompt = client.start_prompt(session)
        request = await client.next("session/request_permission")
        assert request["params"]["resource"] == "/somewhere/a.txt"
        output = client.told("tool_call_update")[0]["output"]
        assert output["hunks"][0]["content"] == "@@ -1 +1 @@\n-one\n+two\n"
        client.grant(request, scope="once")
        written = await client.next("fs/write_text_file")
        assert client.statuses()[-1] == "in_progress"
        client.reply(written, {"bytesWritten": 4, "created": False})
        assert (await client.answer(prompt))["result"]["stopReason"] == "end_turn"
        assert client.statuses()[-1] == "completed"
