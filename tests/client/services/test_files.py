"""Files for agents: real files, roots per session, and an answer for every failure."""

from __future__ import annotations

import os
import stat
from collections.abc import Awaitable
from pathlib import Path

import anyio
import pytest

from accord.client.services.files import FileService, explain
from accord.errors import RequestError
from accord.machine import AccessDenied, FileFailure, Overlay
from accord.machine.filesystem.async_files import INLINE_BYTES_MAX
from tests.hang_limit import HANG_SECONDS

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "root"
    root.mkdir()
    return root


def service(root: Path, **options: int) -> FileService:
    files = FileService(**options)  # type: ignore[arg-type]
    files.add_session("s", [str(root)])
    return files


async def failure(files: FileService, path: str, content: str | None = None) -> RequestError:
    """The error that a read, or a write, is answered with."""
    writing = content is not None
    work: Awaitable[object] = (
        files.write_text("s", path, content or "") if writing else files.read_text("s", path)
    )
    with anyio.fail_after(HANG_SECONDS), pytest.raises(RequestError) as raised:
        await work
    return raised.value


@pytest.mark.rule("V1-FS-04")
async def test_line_is_the_first_and_limit_the_number_of_lines(root: Path) -> None:
    """Spec: `line` counts from 1; ten lines, line 3, limit 2."""
    files, path = service(root), root / "ten"
    path.write_text("".join(f"{number}\n" for number in range(1, 11)))
    assert await files.read_text("s", str(path), 3, 2) == "3\n4\n"
    assert await files.read_text("s", str(path), 10, 5) == "10\n"
    assert await files.read_text("s", str(path), 11) == ""
    assert await files.read_text("s", str(path), None, 1) == "1\n"
    assert await files.read_text("s", str(path)) == path.read_text()


@pytest.mark.rule("V1-FS-02")
async def test_a_write_creates_a_missing_file(root: Path) -> None:
    """Spec: the file is created, and so are the directories to it."""
    files = service(root)
    await files.write_text("s", str(root / "new" / "deep" / "a.txt"), "text\n")
    assert (root / "new" / "deep" / "a.txt").read_text() == "text\n"


async def test_a_write_keeps_mode_and_newlines(root: Path) -> None:
    """Issue: atomic writes that keep mode bits and newlines."""
    files, path = service(root), root / "script"
    path.write_bytes(b"a\r\nb\r\n")
    path.chmod(0o755)
    await files.write_text("s", str(path), "c\nd\n")
    assert path.read_bytes() == b"c\r\nd\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    assert os.listdir(root) == ["script"]


@pytest.mark.rule("V1-FS-03")
async def test_reads_see_unsaved_buffers(root: Path) -> None:
    """Spec: reads include unsaved editor content."""
    overlay, path = Overlay(), root / "a"
    path.write_text("saved")
    files = FileService(overlay=overlay)
    files.add_session("s", [str(root)])
    overlay.set(path, "unsaved")
    assert await files.read_text("s", str(path)) == "unsaved"
    other = files.for_connection()
    other.add_session("t", [str(root)])
    assert await other.read_text("t", str(path)) == "unsaved"
    await files.write_text("s", str(path), "written")
    assert await files.read_text("s", str(path)) == "written"


@pytest.mark.rule("V1-FS-05")
async def test_a_missing_file_is_answered_with_its_uri(root: Path) -> None:
    """Spec: -32002."""
    error = await failure(service(root), str(root / "not here"))
    assert error.code == -32002
    assert error.data == {"uri": (root / "not here").as_uri()}


@pytest.mark.rule("V1-SESS-13", "V1-SESS-18", "V1-SESS-24", "V1-EXT-08")
@pytest.mark.parametrize(
    "path", ["../secret", "link", "linked/secret", "absolute", "inner/../../secret"]
)
async def test_nothing_outside_the_roots_is_read_or_written(root: Path, path: str) -> None:
    """Spec: the root set is enforced, links and `..` included; denials have a reason."""
    secret = root.parent / "secret"
    secret.write_text("secret")
    (root / "link").symlink_to("../secret")
    (root / "linked").symlink_to("..")
    (root / "inner").mkdir()
    (root / "absolute").symlink_to(secret)
    files = service(root)
    for content in (None, "overwritten"):
        error = await failure(files, f"{root}/{path}", content)
        assert error.code == -32052
        assert error.data == {"reason": "permission_denied", "scope": "roots"}
        assert "not in a directory of this session" in error.message
    assert secret.read_text() == "secret"


async def test_a_link_that_stays_beneath_works(root: Path) -> None:
    """Ours: links inside a project are everyday."""
    (root / "real").write_text("text")
    (root / "link").symlink_to("real")
    files = service(root)
    await files.write_text("s", str(root / "link"), "new")
    assert (root / "real").read_text() == "new"
    assert (root / "link").is_symlink()


async def test_a_session_has_its_own_roots(root: Path, tmp_path: Path) -> None:
    """Spec: the root set of a session is its cwd and its additional directories."""
    other = tmp_path.resolve() / "other"
    other.mkdir()
    (other / "a").write_text("a")
    files = service(root)
    files.add_session("t", [str(root), str(other)])
    assert await files.read_text("t", str(other / "a")) == "a"
    assert (await failure(files, str(other / "a"))).code == -32052
    files.add_session("s", [str(other)])
    assert await files.read_text("s", str(other / "a")) == "a"


async def test_a_session_that_is_over_reaches_nothing(root: Path) -> None:
    """Ours: unknown and finished sessions are answered alike."""
    files = service(root)
    files.remove_session("s")
    files.remove_session("s")
    error = await failure(files, str(root / "a"), "x")
    assert (error.code, error.data) == (-32002, {"sessionId": "s"})


async def test_another_connection_has_sessions_of_its_own(root: Path) -> None:
    """Ours: two agents may use the same session id."""
    files = service(root).for_connection()
    assert (await failure(files, str(root / "a"))).code == -32002


def test_a_root_that_is_missing_is_the_caller_s_mistake(root: Path) -> None:
    """Ours: a session is not opened on half of its directories."""
    with pytest.raises(FileFailure):
        FileService().add_session("s", [str(root), str(root / "missing")])


@pytest.mark.parametrize(
    ("path", "content", "field"),
    [
        ("relative", None, "$.path"),
        ("/{root}/nul\0", None, "$.path"),
        ("{root}", None, "$.path"),
        ("{root}", "x", "$.path"),
        ("{root}/pipe", None, "$.path"),
        ("{root}/big", None, "$.path"),
        ("{root}/new", "x" * 200, "$.content"),
        ("{root}/new", "half \ud83d", "$.content"),
    ],
)
async def test_what_cannot_be_is_answered_with_the_field(
    root: Path, path: str, content: str | None, field: str
) -> None:
    """Issue: -32602 carries the path and reason of the bad field."""
    os.mkfifo(root / "pipe")
    (root / "big").write_text("x\n" * 100)
    error = await failure(service(root, bytes_max=100), path.format(root=root), content)
    assert error.code == -32602
    assert error.data["path"] == field
    assert error.data["reason"]


async def test_a_part_of_a_file_that_is_too_large_can_be_read(root: Path) -> None:
    """Ours: the answer says so."""
    (root / "big").write_text("x\n" * 100)
    files = service(root, bytes_max=100)
    assert "line and limit" in (await failure(files, str(root / "big"))).message
    assert await files.read_text("s", str(root / "big"), 1, 2) == "x\nx\n"


def test_failures_of_the_system_are_told() -> None:
    """Ours: nobody gets a bare internal error."""
    denied = explain(AccessDenied("/a", "permission denied"))
    assert (denied.code, denied.data["scope"]) == (-32052, "system")
    other = explain(FileFailure("/a b", "disk full"))
    assert (other.code, other.data) == (-32603, {"reason": "io_error", "uri": "file:///a%20b"})


def test_what_is_offered() -> None:
    """Contract: capabilities are advertised exactly for what is there."""
    assert FileService().capabilities() == {"readTextFile": True, "writeTextFile": True}


def test_small_files_are_read_at_once_and_others_not(root: Path) -> None:
    """Ours: a task for a small file costs more than the file."""
    files = service(root)
    (root / "small.txt").write_text("one\ntwo\n")
    (root / "big.txt").write_bytes(b"x" * (INLINE_BYTES_MAX + 1))
    assert files.read_now("s", str(root / "small.txt"), 2, 1) == "two\n"
    assert files.read_now("s", str(root / "big.txt")) is None
    with pytest.raises(RequestError) as caught:
        files.read_now("s", str(root / "nowhere.txt"))
    assert caught.value.code == -32002
    files.overlay.set(str(root / "small.txt"), "unsaved")
    assert files.read_now("s", str(root / "small.txt")) is None


async def test_a_service_with_its_own_read_uses_it_for_small_files_too(root: Path) -> None:
    """Users: a service is replaced by overriding it, and nothing goes past it."""

    class Loud(FileService):
        async def read_text(
            self, session_id: str, path: str, line: int | None = None, limit: int | None = None
        ) -> str:
            return (await super().read_text(session_id, path, line, limit)).upper()

    (root / "small.txt").write_text("one")
    files = Loud()
    files.add_session("s", [str(root)])
    assert files.read_now("s", str(root / "small.txt")) is None
    assert await files.read_text("s", str(root / "small.txt")) == "ONE"


async def test_a_path_is_located_where_it_really_leads(root: Path) -> None:
    """Ours: what is asked about is the place, not the spelling."""
    files = service(root)
    (root / "real").mkdir()
    (root / "link").symlink_to(root / "real")
    assert files.locate("s", str(root / "link" / "a")) == str(root / "real" / "a")
    assert files.locate("s", str(root / "new" / "b" / "c")) == str(root / "new" / "b" / "c")
    for outside in ("/etc/hostname", str(root / ".." / "x")):
        with pytest.raises(RequestError) as raised:
            files.locate("s", outside)
        assert raised.value.data == {"reason": "permission_denied", "scope": "roots"}


async def test_a_link_that_is_changed_after_the_yes_writes_nothing(root: Path) -> None:
    """Ours: between the answer of the user and the write nobody can put another file there."""
    files = service(root)
    for name in ("notes", "secrets"):
        (root / name).mkdir()
    link = root / "link"
    link.symlink_to(root / "notes")
    path = str(link / "a")
    at = files.locate("s", path)
    await files.write_text("s", path, "fine", at=at)
    link.unlink()
    link.symlink_to(root / "secrets")
    with pytest.raises(RequestError, match="it led to"):
        await files.write_text("s", path, "evil", at=at)
    assert (root / "notes" / "a").read_text() == "fine"
    assert list((root / "secrets").iterdir()) == []


class Shouting(FileService):
    """A service of somebody who changes one thing."""

    async def read_text(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None
    ) -> str:
        return (await super().read_text(session_id, path, line, limit)).upper()


async def test_a_class_of_somebody_elses_stays_that_on_every_connection(root: Path) -> None:
    """Issue 2: each of them replaceable."""
    files = Shouting().for_connection()
    files.add_session("s", [str(root)])
    (root / "a").write_text("quiet")
    assert await files.read_text("s", str(root / "a")) == "QUIET"
