"""Changes of files in v2: `changes`, the patch that illustrates them, and what is on the disk."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from accord.agent import Turn
from accord.machine import AlreadyThere
from tests.agent.raw_client import Message, RawClient
from tests.agent.v2.play import allow, chosen, made, playing, statuses, turn

ODD = 'a "quoted" caf\u00e9\tname.txt'


async def changed(folder: Path, work: Any, answer: str = "allow_once") -> RawClient:
    """The client after a turn of this work in a folder."""
    async with playing(made(work)) as client:
        client.serve["session/request_permission"] = lambda params: chosen(answer)
        session_id = await client.new_session(str(folder))
        state = await turn(client, session_id)
        assert state["stopReason"] == "end_turn", state
    return client


def diff_in(client: RawClient) -> Message:
    """The one diff of the one tool call."""
    (diff,) = client.updates("tool_call_update")[0]["content"]
    assert diff["type"] == "diff"
    assert set(diff) <= {"type", "changes", "patch", "_meta"}
    found: Message = diff
    return found


def applied(patch: Message, folder: Path, before: dict[str, str]) -> dict[str, str]:
    """What git makes of the patch: the files of a scratch copy after it was applied.

    The paths are absolute, so the scratch copy repeats them beneath its root.
    """
    assert patch["format"] == "git_patch"
    scratch = folder.parent / "scratch"
    for path, content in before.items():
        place = scratch / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode())
    scratch.mkdir(exist_ok=True)
    file = folder.parent / "the.patch"
    file.write_bytes(patch["text"].encode())
    # `-p1` takes the leading slash away, which leaves the path beneath the scratch copy.
    subprocess.run(
        ["git", "apply", "-p1", "--unsafe-paths", f"--directory={scratch}", str(file)],
        cwd="/",
        check=True,
        capture_output=True,
    )
    return {
        f"/{path.relative_to(scratch)}": path.read_bytes().decode()
        for path in scratch.rglob("*")
        if path.is_file()
    }


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

TEXTS = [
    ("one\ntwo\nthree\n", "one\n2\nthree\n"),
    ("no newline", "no newline, changed"),
    ("a\n", "a"),
    ("a", "a\n"),
    ("page\x0cbreak\u2028line\n", "page\x0cbroken\u2028line\n"),
    ("caf\u00e9\n", "th\u00e9\n"),
    ("", "now full\n"),
    ("now empty\n", ""),
    ("\n".join(map(str, range(100))), "\n".join(map(str, range(1, 101)))),
]


@needs_git
@pytest.mark.rule("V2-UPS-18", "V2-UPS-19")
@pytest.mark.parametrize(("old", "new"), TEXTS)
@pytest.mark.parametrize("name", ["plain.txt", "with space.txt", ODD])
async def test_an_edit_has_the_change_and_a_patch_that_does_just_that(
    tmp_path: Path, old: str, new: str, name: str
) -> None:
    """Spec: absolute paths without prefixes, git's quoting, and a patch that agrees."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / name).write_bytes(old.encode())

    async def work(turn: Turn) -> None:
        assert await turn.edit(name, new)

    client = await changed(folder, work)
    diff = diff_in(client)
    path = str(folder / name)
    assert diff["changes"] == [{"operation": "modify", "path": path}]
    assert diff["patch"]["text"].startswith("diff --git ")
    assert " a/" not in diff["patch"]["text"].split("\n")[0]
    assert applied(diff["patch"], folder, {path: old}) == {path: new}
    assert (folder / name).read_bytes() == new.encode()
    assert statuses(client) == ["pending", "in_progress", "completed"]


@needs_git
@pytest.mark.rule("V2-UPS-18", "V2-UPS-19")
@pytest.mark.parametrize("content", ["hello\n", "hello", ""])
@pytest.mark.parametrize("name", ["new.txt", ODD])
async def test_a_new_file_is_an_add(tmp_path: Path, name: str, content: str) -> None:
    """Spec: `/dev/null` for the side that is missing."""
    folder = tmp_path / "work"
    folder.mkdir()

    async def work(turn: Turn) -> None:
        assert await turn.edit(name, content)

    diff = diff_in(await changed(folder, work))
    path = str(folder / name)
    assert diff["changes"] == [{"operation": "add", "path": path}]
    assert "--- /dev/null\n" in diff["patch"]["text"]
    assert applied(diff["patch"], folder, {}) == {path: content}


@needs_git
@pytest.mark.rule("V2-UPS-18", "V2-UPS-19")
@pytest.mark.parametrize("content", ["one\ntwo\n", "no newline", "", "one\nlast"])
@pytest.mark.parametrize("name", ["old.txt", ODD])
async def test_a_deletion_shows_what_is_lost(tmp_path: Path, name: str, content: str) -> None:
    """Spec: operation `delete`, with the patch that git would write."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / name).write_bytes(content.encode())

    async def work(turn: Turn) -> None:
        assert await turn.delete(name)

    client = await changed(folder, work)
    diff = diff_in(client)
    path = str(folder / name)
    assert diff["changes"] == [{"operation": "delete", "path": path, "fileType": "text"}]
    assert applied(diff["patch"], folder, {path: content}) == {}
    assert not (folder / name).exists()
    assert client.updates("tool_call_update")[0]["kind"] == "delete"


@pytest.mark.rule("V2-UPS-18")
async def test_a_file_that_is_no_text_goes_without_a_patch(tmp_path: Path) -> None:
    """Spec: `changes` is the truth; a patch where feasible."""
    (tmp_path / "image.png").write_bytes(b"\x89PNG\0\xff\xfe")

    async def work(turn: Turn) -> None:
        assert await turn.delete("image.png")

    diff = diff_in(await changed(tmp_path, work))
    assert diff == {
        "type": "diff",
        "changes": [{"operation": "delete", "path": str(tmp_path / "image.png")}],
    }


@needs_git
@pytest.mark.rule("V2-UPS-21", "V2-UPS-18")
@pytest.mark.parametrize(("name", "target"), [("a.txt", "sub/b.txt"), (ODD, "plain name.txt")])
async def test_a_move_names_both_paths(tmp_path: Path, name: str, target: str) -> None:
    """Spec: `oldPath` and `path`, and a patch that renames."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / name).write_text("same\n")

    async def work(turn: Turn) -> None:
        assert await turn.move(name, target)

    client = await changed(folder, work)
    diff = diff_in(client)
    old, new = str(folder / name), str(folder / target)
    assert diff["changes"] == [{"operation": "move", "oldPath": old, "path": new}]
    assert applied(diff["patch"], folder, {old: "same\n"}) == {new: "same\n"}
    assert not (folder / name).exists()
    assert (folder / target).read_text() == "same\n"
    assert client.updates("tool_call_update")[0]["kind"] == "move"


@pytest.mark.rule("V2-PERM-08")
async def test_nothing_is_touched_without_consent(tmp_path: Path) -> None:
    """Spec: no is no."""
    (tmp_path / "a.txt").write_text("kept\n")

    async def work(turn: Turn) -> None:
        assert not await turn.edit("a.txt", "lost\n")
        assert not await turn.delete("a.txt")
        assert not await turn.move("a.txt", "b.txt")

    client = await changed(tmp_path, work, "reject_once")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "kept\n"
    assert statuses(client) == ["pending", "failed"] * 3


async def test_a_move_never_replaces_and_what_is_missing_is_said(tmp_path: Path) -> None:
    """Ours: a name that is taken stays; the handler gets an error that it can catch."""
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")

    async def work(turn: Turn) -> None:
        with pytest.raises(AlreadyThere):
            await turn.move("a.txt", "b.txt")
        with pytest.raises(FileNotFoundError):
            await turn.move("c.txt", "d.txt")
        with pytest.raises(FileNotFoundError):
            await turn.delete("c.txt")

    client = await changed(tmp_path, work)
    assert (tmp_path / "b.txt").read_text() == "b"
    assert statuses(client)[-1] == "failed"


@pytest.mark.rule("V2-UPS-18")
async def test_a_diff_that_a_handler_shows_has_an_absolute_path(tmp_path: Path) -> None:
    """Spec: absolute; ours: relative names start from the session's folder."""

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Edit", kind="edit") as call:
            await call.show_diff("x.txt", "a\n", "b\n")

    async with playing(made(work)) as client:
        allow(client)
        session_id = await client.new_session(str(tmp_path))
        await turn(client, session_id)
    shown = client.updates("tool_call_content_chunk")[0]["content"]
    assert shown["changes"] == [{"operation": "modify", "path": str(tmp_path / "x.txt")}]
