"""Files that a client serves to agents of the 2026-02 draft, and whose requests those are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from accord.client.permissions.permissions import Permissions
from accord.client.services.files import FileService
from accord.errors import RequestError
from accord.machine import Overlay
from tests.client.draft.draft_script import asking, drafting, open_session
from tests.client.scripted_agent import Json, ScriptedAgent

FREE: Json = {"permissions": Permissions.allow_all(), "files": True}


async def asked(folder: Path, method: str, params: Json, **options: Any) -> Json:
    """What the client answers to one request, in a turn of a session in this folder."""
    answers: list[Json] = []
    async with drafting(asking(method, params, answers), **{**FREE, **options}) as (client, _):
        session = await client.new_session(folder)
        await session.ask("x")
    return answers[0]


async def read(folder: Path, path: str, **more: Any) -> Json:
    return await asked(folder, "fs/read_text_file", {"path": path, **more})


async def write(folder: Path, path: str, content: str, **more: Any) -> Json:
    return await asked(folder, "fs/write_text_file", {"path": path, "content": content, **more})


TEXT = "one\ntwo\nthree\n"


@pytest.mark.rule("D26-11")
@pytest.mark.parametrize(
    ("bounds", "content", "truncated"),
    [
        ({}, TEXT, False),
        ({"startLine": 2}, "two\nthree\n", False),
        ({"endLine": 1}, "one\n", True),
        ({"startLine": 2, "endLine": 2}, "two\n", True),
        ({"startLine": 2, "endLine": 3}, "two\nthree\n", False),
        ({"startLine": 3, "endLine": 9}, "three\n", False),
        ({"startLine": 8}, "", False),
    ],
)
async def test_lines_are_read_from_the_first_to_the_last_named(
    tmp_path: Path, bounds: Json, content: str, truncated: bool
) -> None:
    """Draft 5.2.2: counted from 1, both included, with how many there are."""
    (tmp_path / "a.txt").write_text(TEXT)
    assert (await read(tmp_path, str(tmp_path / "a.txt"), **bounds))["result"] == {
        "content": content,
        "encoding": "utf-8",
        "totalLines": 3,
        "truncated": truncated,
    }


@pytest.mark.rule("D26-11")
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "UTF-8", "shift_jis"])
async def test_any_encoding_of_text_is_read_and_written(tmp_path: Path, encoding: str) -> None:
    """Draft 5.2.2, 5.2.3: the encoding is honoured, and named in the answer."""
    text = "日本\n" if encoding in ("utf-16", "shift_jis") else "é\n"
    answer = await write(tmp_path, "a.txt", text, encoding=encoding)
    assert answer["result"] == {"bytesWritten": len(text.encode(encoding)), "created": True}
    assert (tmp_path / "a.txt").read_bytes() == text.encode(encoding)
    answer = await read(tmp_path, "a.txt", encoding=encoding)
    assert answer["result"]["content"] == text
    assert answer["result"]["encoding"] == encoding


@pytest.mark.parametrize("encoding", ["klingon", "base64", "rot13", "undefined", "a\0b"])
async def test_what_is_no_encoding_of_text_is_refused(tmp_path: Path, encoding: str) -> None:
    """The draft's table 4.2: -32602."""
    (tmp_path / "a.txt").write_text(TEXT)
    for answer in (
        await read(tmp_path, "a.txt", encoding=encoding),
        await write(tmp_path, "a.txt", "x", encoding=encoding),
    ):
        assert answer["error"]["code"] == -32602
        assert answer["error"]["data"]["path"] == "$.encoding"
    assert (tmp_path / "a.txt").read_text() == TEXT


async def test_text_that_the_encoding_cannot_say_is_not_written(tmp_path: Path) -> None:
    """Ours: nothing is lost silently."""
    answer = await write(tmp_path, "a.txt", "日本", encoding="latin-1")
    assert answer["error"]["code"] == -32602
    assert not (tmp_path / "a.txt").exists()


@pytest.mark.rule("D26-11", "D26-33")
async def test_an_existing_file_is_overwritten_unless_that_is_forbidden(tmp_path: Path) -> None:
    """The draft's table 4.2: `overwrite: false` on an existing file is -32005; unset overwrites."""
    (tmp_path / "a.txt").write_text("old")
    answer = await write(tmp_path, "a.txt", "new!", overwrite=False)
    assert answer["error"]["code"] == -32005
    assert (tmp_path / "a.txt").read_text() == "old"
    for more in ({}, {"overwrite": True}):
        answer = await write(tmp_path, "a.txt", "new!", **more)
        assert answer["result"] == {"bytesWritten": 4, "created": False}
    answer = await write(tmp_path, "b.txt", "b", overwrite=False)
    assert answer["result"] == {"bytesWritten": 1, "created": True}


@pytest.mark.rule("D26-33")
async def test_directories_are_made_unless_that_is_forbidden(tmp_path: Path) -> None:
    """Draft 5.2.3: `createDirectories`."""
    answer = await write(tmp_path, "a/b/c.txt", "x", createDirectories=False)
    assert answer["error"]["code"] == -32004
    assert not (tmp_path / "a").exists()
    for name, more in (("a/b/c.txt", {"createDirectories": True}), ("d/e.txt", {})):
        assert (await write(tmp_path, name, "x", **more))["result"]["created"] is True


@pytest.mark.rule("D26-25", "D26-23", "D26-33")
async def test_relative_paths_count_from_the_working_directory_and_stay_in_it(
    tmp_path: Path,
) -> None:
    """Draft 14.3; what is elsewhere is denied, -32005, what is not there -32004."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_text("inside")
    (tmp_path / "out.txt").write_text("outside")
    assert (await read(tmp_path / "sub", "a.txt"))["result"]["content"] == "inside"
    for path in ("../out.txt", str(tmp_path / "out.txt")):
        assert (await read(tmp_path / "sub", path))["error"]["code"] == -32005
        assert (await write(tmp_path / "sub", path, "x"))["error"]["code"] == -32005
    assert (await read(tmp_path / "sub", "no.txt"))["error"]["code"] == -32004
    assert (tmp_path / "out.txt").read_text() == "outside"


@pytest.mark.rule("D26-33")
async def test_what_the_user_does_not_allow_is_permission_denied(tmp_path: Path) -> None:
    """The draft's table 9: -32002 is the user's word."""
    denied = {"permissions": Permissions.deny_all()}
    params = {"path": "a.txt", "content": "x"}
    answer = await asked(tmp_path, "fs/write_text_file", params, **denied)
    assert answer["error"]["code"] == -32002
    assert not (tmp_path / "a.txt").exists()


@pytest.mark.rule("D26-17", "D26-33", "D26-20")
async def test_a_method_that_was_not_offered_is_a_capability_that_is_missing(
    tmp_path: Path,
) -> None:
    """The draft's table 9: -32007; what nobody knows is -32601."""
    for method, params, code in (
        ("fs/read_text_file", {"path": "a"}, -32007),
        ("terminal/create", {"command": "ls"}, -32007),
        ("_x/y", {}, -32601),
        ("fs/watch", {}, -32601),
        ("elicitation/create", {}, -32601),
    ):
        answer = await asked(tmp_path, method, params, files=False)
        assert answer["error"]["code"] == code, method


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("fs/read_text_file", {"sessionId": "s1", "path": "/a"}),
        ("fs/read_text_file", {"path": "/a", "line": 1, "limit": 2}),
        ("fs/write_text_file", {"sessionId": "s1", "path": "/a", "content": ""}),
        ("fs/read_text_file", {"path": "/a", "startLine": 5, "endLine": 4}),
        ("fs/read_text_file", {}),
        ("fs/read_text_file", [1]),
        (
            "session/request_permission",
            {"sessionId": "s1", "toolCall": {"toolCallId": "t"}, "options": []},
        ),
        (
            "session/request_permission",
            {"sessionId": "s1", "operation": "file_read", "resource": "/a", "options": []},
        ),
        ("terminal/output", {"sessionId": "s1", "terminalId": "t"}),
    ],
)
async def test_an_agent_that_changes_its_dialect_is_refused_in_its_own_numbers(
    tmp_path: Path, method: str, params: Any
) -> None:
    """Issue 5, the draft's table 1.3: -32602, and the connection goes on."""
    answer = await asked(tmp_path, method, params)
    assert answer["error"]["code"] == -32602


async def test_updates_of_another_dialect_are_told_and_ignored(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Ours: a notification cannot be answered."""

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)
        prompt = await agent.expect("session/prompt")
        agent.say("official words")
        agent.write({"jsonrpc": "2.0", "method": "elicitation/complete", "params": {}})
        agent.write({"jsonrpc": "2.0", "method": "auth/status_update", "params": {}})
        agent.result(prompt, {"stopReason": "end_turn"})

    async with drafting(script) as (client, _):
        session = await client.new_session()
        assert (await session.ask("x")).text == ""
    assert "malformed session/update" in caplog.text


async def test_a_draft_request_to_a_client_that_speaks_v1_is_refused() -> None:
    """The draft's table 1.3: later hits are errors, -32602."""
    from tests.client.scripted_agent import connected

    answers: list[Json] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        params = {"sessionId": "s1", "operation": "file_write", "resource": "/a"}
        request = agent.request("session/request_permission", params)
        answers.append(await agent.answer_to(request))
        agent.write(
            {
                "jsonrpc": "2.0",
                "method": "session/update",
                "params": {"sessionId": "s1", "type": "plan", "data": {"planId": "p", "steps": []}},
            }
        )
        agent.result(await agent.expect("session/prompt"), {"stopReason": "end_turn"})

    async with connected(script) as (client, _):
        session = await client.new_session()
        await session.ask("x")
        assert session.transcript.plan is None
    assert answers[0]["error"]["code"] == -32602


async def test_unsaved_text_is_what_is_read(tmp_path: Path) -> None:
    """Ours: as for every agent."""
    (tmp_path / "a.txt").write_text("saved")
    overlay = Overlay()
    overlay.set(tmp_path / "a.txt", "unsaved\nmore")
    files = FileService(overlay=overlay)
    params = {"path": "a.txt", "encoding": "utf-16", "endLine": 1}
    answer = await asked(tmp_path, "fs/read_text_file", params, files=files)
    assert answer["result"]["content"] == "unsaved\n"
    assert answer["result"]["totalLines"] == 2


class Plain:
    """A service of a program's own, with v1's two methods alone."""

    def __init__(self) -> None:
        self.texts = {"/w/a.txt": TEXT}

    def read_text(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        if path not in self.texts:
            raise RequestError.resource_missing(path)
        lines = self.texts[path].splitlines(keepends=True)[(line or 1) - 1 :]
        return "".join(lines if limit is None else lines[:limit])

    async def write_text(self, session_id: str, path: str, content: str) -> None:
        self.texts[path] = content


async def test_a_service_that_knows_only_v1_serves_what_it_can() -> None:
    """Ours: UTF-8, lines, and whether a file is there."""
    files = Plain()

    async def ask(method: str, params: Json) -> Json:
        return await asked(Path("/tmp"), method, params, files=files)

    answer = await ask("fs/read_text_file", {"path": "/w/a.txt"})
    assert answer["result"]["totalLines"] == 3
    answer = await ask("fs/read_text_file", {"path": "/w/a.txt", "startLine": 2, "endLine": 2})
    assert answer["result"] == {"content": "two\n", "encoding": "utf-8", "truncated": True}
    for method, more in (("fs/read_text_file", {}), ("fs/write_text_file", {"content": ""})):
        answer = await ask(method, {"path": "/w/a.txt", "encoding": "utf-16", **more})
        assert answer["error"]["code"] == -32602
    exists = {"path": "/w/a.txt", "content": "x", "overwrite": False}
    assert (await ask("fs/write_text_file", exists))["error"]["code"] == -32005
    new = {**exists, "path": "/w/b.txt"}
    assert (await ask("fs/write_text_file", new))["result"] == {"bytesWritten": 1, "created": True}
    answer = await ask("fs/write_text_file", {"path": "/w/a.txt", "content": "é"})
    assert answer["result"] == {"bytesWritten": 2, "created": False}


async def test_a_service_that_reads_in_its_own_way_is_not_gone_past(tmp_path: Path) -> None:
    """Ours: whoever overrides `read_text` alone has reasons."""

    class Guarded(FileService):
        async def read_text(
            self, session_id: str, path: str, line: int | None = None, limit: int | None = None
        ) -> str:
            return "guarded"

    (tmp_path / "a.txt").write_text("secret")
    answer = await asked(tmp_path, "fs/read_text_file", {"path": "a.txt"}, files=Guarded())
    assert answer["result"]["content"] == "guarded"


class Blind:
    """A service that only writes."""

    def write_text(self, session_id: str, path: str, content: str) -> None:
        pass


async def test_a_service_that_cannot_read_cannot_promise_not_to_overwrite() -> None:
    """Ours."""
    params = {"path": "/a", "content": "x", "overwrite": False}
    answer = await asked(Path("/tmp"), "fs/write_text_file", params, files=Blind())
    assert answer["error"]["code"] == -32602
