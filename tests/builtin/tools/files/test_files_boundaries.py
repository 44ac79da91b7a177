"""What hostile folders and impatient agents do not get: files behind links, hooks, unread edits."""

import subprocess
from pathlib import Path

from tests.builtin.tools.bench import bench, text
from tests.hang_limit import HANG_SECONDS


def _repository(folder: Path) -> None:
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *command], cwd=folder, check=True, timeout=HANG_SECONDS)


async def test_a_folder_that_became_a_link_is_not_searched(tmp_path: Path) -> None:
    """Issue: boundary-checked I/O.  Git still lists what was in a folder that is now a link."""
    outside, project = tmp_path / "outside", tmp_path / "project"
    (project / "a" / "b").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.py").write_text("marker = 'outside'\n")
    (project / "a" / "b" / "secret.py").write_text("x = 1\n")
    (project / "main.py").write_text("marker = 'inside'\n")
    _repository(project)
    (project / "a" / "b" / "secret.py").unlink()
    (project / "a" / "b").rmdir()
    (project / "a" / "b").symlink_to(outside)
    async with bench(project) as b:
        found = text(await b.use(lambda t: t.grep("marker")), ok=True)
        assert found == "main.py:1: marker = 'inside'"
        assert "secret" not in text(await b.use(lambda t: t.glob("**")), ok=True)


async def test_a_hook_behind_a_link_is_asked_for_like_a_command(tmp_path: Path) -> None:
    """A link in the project to `.git` must not be a way around the question."""
    (tmp_path / ".git" / "hooks").mkdir(parents=True)
    (tmp_path / "innocent").symlink_to(".git/hooks")
    async with bench(tmp_path) as b:
        await b.set_mode("auto-edit")
        b.answer = "reject_once"
        result = await b.use(lambda t: t.write("innocent/pre-commit", "#!/bin/sh\n"))
        assert result.denied == "user"
        assert len(b.asked) == 1
        assert not (tmp_path / ".git" / "hooks" / "pre-commit").exists()


async def test_only_reading_counts_as_reading(tmp_path: Path) -> None:
    """Issue: read before edit.  A move or delete that came to nothing showed nobody the text."""
    (tmp_path / "a.txt").write_text("a")
    async with bench(tmp_path) as b:
        text(await b.use(lambda t: t.move("a.txt", "a.txt")), ok=False)
        b.answer = "reject_once"
        text(await b.use(lambda t: t.delete("a.txt")), ok=False)
        assert b.last()["kind"] == "delete"
        b.answer = "allow_once"
        refused = text(await b.use(lambda t: t.edit("a.txt", "a", "b")), ok=False)
        assert "has not been read yet" in refused


async def test_a_delete_that_cannot_be_is_shown_as_a_delete(tmp_path: Path) -> None:
    """Issue: the tools own the kind."""
    async with bench(tmp_path) as b:
        text(await b.use(lambda t: t.delete("nope.txt")), ok=False)
        assert b.last()["kind"] == "delete"


async def test_what_changed_while_the_user_thought_is_neither_deleted_nor_moved(
    tmp_path: Path,
) -> None:
    """Issue: refuse when the file changed since.  Undo would bring back the text of before."""
    path = tmp_path / "a.txt"
    async with bench(tmp_path) as b:

        def change(params: object) -> object:
            path.write_text("mine")
            return {"outcome": {"outcome": "selected", "optionId": "allow_once"}}

        b.client.serve["session/request_permission"] = change
        path.write_text("a")
        assert "changed while" in text(await b.use(lambda t: t.delete("a.txt")), ok=False)
        path.write_text("a")
        assert "changed while" in text(await b.use(lambda t: t.move("a.txt", "b.txt")), ok=False)
        assert path.read_text() == "mine"


async def test_files_that_are_too_large_to_search_are_named(tmp_path: Path) -> None:
    """Issue: every result capped, and says so.  “Nothing matches” alone would be untrue."""
    (tmp_path / "large.txt").write_text("needle " * 700_000)
    (tmp_path / "large.bin").write_bytes(b"\0" * 5_000_000)
    (tmp_path / "small.txt").write_text("hay")
    async with bench(tmp_path) as b:
        found = text(await b.use(lambda t: t.grep("needle")), ok=True)
        assert found.startswith("Nothing matches needle.\n[not searched")
        assert found.endswith("4.2 MB: large.txt]")
