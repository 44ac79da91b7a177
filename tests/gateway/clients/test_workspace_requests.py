"""Files of a session for its clients: found, read and written beneath its folders alone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from accord import Client, Permissions
from accord.errors import RequestFailed
from accord.gateway.clients.workspace_requests import FILE_BYTES_MAX, FileIndexes
from accord.machine.file_search import file_index
from tests.gateway.served_gateway import key_of, served_gateway
from tests.hang_limit import HANG_SECONDS

pytestmark = pytest.mark.anyio


class User:
    """Somebody who follows a session."""

    def __init__(self, client: Client, session_id: str) -> None:
        self.client = client
        self.session_id = session_id

    async def __call__(self, method: str, **params: Any) -> Any:
        named = {"sessionId": self.session_id, **params}
        return await self.client.call_extension(f"_accord.workspace/{method}", named)

    async def read(self, path: str) -> str:
        answer = await self("read", path=path)
        text: str = answer["text"]
        return text

    async def found(self, query: str, **params: Any) -> list[str]:
        answer = await self("search", query=query, **params)
        return [one["path"] for one in answer["files"]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with files, one that git would ignore, and a secret beside it."""
    made = tmp_path / "project"
    (made / "src").mkdir(parents=True)
    (made / "src/main.py").write_text("print('hello')\n")
    (made / "notes.md").write_bytes("# Notés\r\n".encode())
    (made / ".gitignore").write_text("*.log\n")
    (made / "debug.log").write_text("noise")
    (tmp_path / "secret").write_text("secret")
    (made / "out").symlink_to(tmp_path / "secret")
    (made / "up").symlink_to(tmp_path)
    return made


@asynccontextmanager
async def people(project: Path, role: str = "viewer", **options: Any) -> AsyncIterator[list[User]]:
    """The owner of a session in this folder, and somebody else with a role in it."""
    async with served_gateway(**{"workspace": True, **options}) as port:

        def client(name: str) -> Any:
            url = f"ws://127.0.0.1:{port}/acp"
            return Client.connect(url, token=key_of(name), permissions=Permissions.allow_all())

        async with client("ann") as ann, client("bob") as bob:
            session = await ann.new_session(cwd=str(project))
            params = {"sessionId": session.id, "user": "bob", "role": role}
            await ann.call_extension("_accord.session/set_role", params)
            yield [User(ann, session.id), User(bob, session.id)]


async def refused(asking: Any) -> Any:
    """What an answer says about why not."""
    with pytest.raises(RequestFailed) as caught:
        await asking
    return caught.value


def hash_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


async def test_files_are_found_as_git_would(project: Path) -> None:
    async with people(project) as (ann, _):
        assert await ann.found("main") == ["src/main.py"]
        assert await ann.found("log") == []
        everything = await ann.found("")
        assert {"src/main.py", "notes.md", ".gitignore"} <= set(everything)
        assert len(await ann.found("", limit=1)) == 1
        for wrong in (0, 201, "1"):
            await refused(ann("search", query="", limit=wrong))
        await refused(ann("search", query=3))


async def test_a_repository_is_asked_of_git(project: Path) -> None:
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    async with people(project) as (ann, _):
        assert await ann.found("debug") == []
        assert await ann.found("notes") == ["notes.md"]


async def test_a_name_that_is_not_utf_8_hides_no_other(project: Path) -> None:
    with open(os.path.join(os.fsencode(project), b"main-\xff.txt"), "wb"):
        pass
    async with people(project) as (ann, _):
        assert await ann.found("main") == ["src/main.py"]


async def test_a_file_is_read_with_the_hash_of_its_bytes(project: Path) -> None:
    async with people(project) as (ann, _):
        answer = await ann("read", path="notes.md")
        digest = sha256((project / "notes.md").read_bytes()).hexdigest()
        assert answer == {"text": "# Notés\r\n", "hash": digest}
        assert await ann.read(str(project / "src/main.py")) == "print('hello')\n"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../secret", "outside"),
        ("/etc/passwd", "outside"),
        ("out", "outside"),
        ("up/secret", "outside"),
        ("src/../../secret", "outside"),
        ("/proc/self/environ", "outside"),
        ("nowhere.txt", "missing"),
        ("src", "not_a_file"),
        ("pipe", "not_a_file"),
        ("large", "too_large"),
        ("binary", "not_text"),
    ],
)
async def test_what_cannot_be_read_is_refused_with_a_reason(
    project: Path, path: str, reason: str
) -> None:
    os.mkfifo(project / "pipe")
    with (project / "large").open("wb") as large:
        large.truncate(FILE_BYTES_MAX + 1)
    (project / "binary").write_bytes(b"ELF\0")
    async with people(project) as (ann, _):
        failed = await refused(ann("read", path=path))
        assert failed.data["reason"] == reason
        for wrong in ("", "a\0b", "x" * 5000, None):
            await refused(ann("read", path=wrong))


async def test_a_write_needs_the_hash_of_what_is_there(project: Path) -> None:
    async with people(project, "editor") as (ann, bob):
        seen = (await ann("read", path="src/main.py"))["hash"]
        written = await bob("write", path="src/main.py", text="first\n", expectedHash=seen)
        assert written == {"hash": hash_of("first\n")}
        late = await refused(ann("write", path="src/main.py", text="late\n", expectedHash=seen))
        assert late.data == {"reason": "changed", "hash": hash_of("first\n")}
        assert (project / "src/main.py").read_text() == "first\n"


async def test_a_file_keeps_its_line_ends(project: Path) -> None:
    async with people(project) as (ann, _):
        seen = await ann("read", path="notes.md")
        written = await ann("write", path="notes.md", text="a\nb\n", expectedHash=seen["hash"])
        assert (project / "notes.md").read_bytes() == b"a\r\nb\r\n"
        assert written["hash"] == hash_of("a\r\nb\r\n")


async def test_null_makes_and_deletes_files(project: Path) -> None:
    """What an undo needs where an agent has deleted or made a file."""
    async with people(project) as (ann, _):
        await ann("write", path="new/one.txt", text="new", expectedHash=None)
        assert (project / "new/one.txt").read_text() == "new"
        again = await refused(ann("write", path="new/one.txt", text="2", expectedHash=None))
        assert again.data["reason"] == "changed"
        gone = await ann("write", path="new/one.txt", text=None, expectedHash=hash_of("new"))
        assert gone == {"hash": None}
        assert not (project / "new/one.txt").exists()
        late = await refused(ann("write", path="new/one.txt", text="2", expectedHash=hash_of("")))
        assert late.data == {"reason": "changed", "hash": None}


async def test_nothing_is_written_outside(project: Path) -> None:
    async with people(project) as (ann, _):
        for path in ("../new", "up/new", "/tmp/../new", "out"):
            failed = await refused(ann("write", path=path, text="x", expectedHash=None))
            assert failed.data["reason"] == "outside", path
        assert (project.parent / "secret").read_text() == "secret"
        assert not (project.parent / "new").exists()
        long = "x" * (FILE_BYTES_MAX + 1)
        failed = await refused(ann("write", path="long", text=long, expectedHash=None))
        assert failed.data["reason"] == "too_large"
        for wrong in ({"text": "x"}, {"expectedHash": None}, {"text": 1, "expectedHash": None}):
            await refused(ann("write", path="new", **wrong))


async def test_viewers_and_strangers_reach_no_file(project: Path) -> None:
    """Issue 18: editors and above."""
    async with people(project) as (ann, bob):
        for method, params in (
            ("search", {"query": ""}),
            ("read", {"path": "notes.md"}),
            ("write", {"path": "x", "text": "", "expectedHash": None}),
        ):
            failed = await refused(bob(method, **params))
            assert failed.data == {"reason": "role", "role": "viewer", "needed": "editor"}
        params = {"sessionId": ann.session_id, "user": "bob"}
        await ann.client.call_extension("_accord.session/remove", params)
        failed = await refused(bob("read", path="notes.md"))
        assert "there is no session" in str(failed)


async def test_a_gateway_must_be_told_to_show_files(project: Path) -> None:
    """An agent without tools would otherwise give its users the files of the gateway's machine."""
    async with people(project, workspace=False) as (ann, _):
        for method in ("search", "read", "write"):
            await refused(ann(method, query="", path="notes.md", text="", expectedHash=None))
        assert not any("workspace" in one for one in ann.client.extensions)
    async with people(project) as (ann, _):
        assert "_accord.workspace/search" in ann.client.extensions


async def test_a_folder_that_now_leads_out_of_the_agents_root_is_refused(project: Path) -> None:
    root = project.parent
    async with people(project, root=root) as (ann, _):
        assert await ann.read("notes.md")
        os.rename(project, root / "moved")
        project.symlink_to("/etc")
        failed = await refused(ann("read", path="passwd"))
        assert failed.data["reason"] == "outside_root"


async def test_only_the_indexes_that_were_searched_last_are_kept(tmp_path: Path) -> None:
    """Each of a large project takes tens of megabytes."""
    (tmp_path / "one.py").write_text("")
    async with anyio.create_task_group() as tasks:
        indexes = FileIndexes(tasks)
        for number in range(20):
            folder = tmp_path / str(number)
            folder.mkdir()
            tasks.start_soon(indexes.find, (str(folder),), "", 1)
    assert await indexes.find((str(tmp_path),), "one", 5) == ["one.py"]
    assert len(indexes._indexes) == 8


async def test_a_search_does_not_wait_for_the_disk_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 18: quick in 100,000 files, at every key."""
    monkeypatch.setattr(file_index, "FRESH_SECONDS", -1.0)
    (tmp_path / "one.py").write_text("")
    async with anyio.create_task_group() as tasks:
        indexes, folders = FileIndexes(tasks), (str(tmp_path),)
        assert await indexes.find(folders, "", 9) == ["one.py"]
        (tmp_path / "two.py").write_text("")
        with anyio.fail_after(HANG_SECONDS):
            while await indexes.find(folders, "", 9) != ["one.py", "two.py"]:
                await anyio.lowlevel.checkpoint()
