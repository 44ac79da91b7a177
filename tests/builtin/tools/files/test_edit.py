"""The tools that change files: exact, only what was read, one permission, all in the journal."""

from pathlib import Path

import pytest

from accord.builtin.tools.tool_call import REFUSALS, ToolResult
from accord.builtin.tools.toolbox import Toolbox
from tests.builtin.tools.bench import Bench, Work, bench, everywhere, text


async def edit(b: Bench, path: str, old: str, new: str) -> ToolResult:
    """Read and edit in one turn."""

    async def work(tools: Toolbox) -> ToolResult:
        await tools.read(path)
        return await tools.edit(path, old, new)

    return await b.use(work)


@everywhere
async def test_an_edit_shows_a_diff_asks_why_and_writes(tmp_path: Path, variant: str) -> None:
    """Issue: diffs and permissions; every permission request says why."""
    file = tmp_path / "a.py"
    file.write_text("def mean(values):\n    return sum(value)\n")

    async def work(tools: Toolbox) -> ToolResult:
        await tools.read("a.py")
        return await tools.edit("a.py", "sum(value)", "sum(values)", reason="The name is wrong")

    async with bench(tmp_path, variant) as b:
        result = await b.use(work)
        assert result.text == "Changed a.py in line 2."
        assert file.read_text() == "def mean(values):\n    return sum(values)\n"
        assert "The name is wrong" in b.reasons()
        call = b.last()
        assert (call["kind"], call["status"]) == ("edit", "completed")
        assert call["locations"] == [{"path": str(file), "line": 2}]
        assert any(one["type"] == "diff" for one in call["content"])
        if variant == "client":
            assert "fs/write_text_file" in b.client.methods()


@everywhere
async def test_a_refused_edit_writes_nothing(tmp_path: Path, variant: str) -> None:
    """Contract: refused by the user is a failure that says who refused."""
    (tmp_path / "a.txt").write_text("old")
    async with bench(tmp_path, variant) as b:
        b.answer = "reject_once"
        result = await edit(b, "a.txt", "old", "new")
        assert text(result, ok=False) == "The user said no. Editing a.txt did not happen."
        assert result.denied == "user"
        assert b.last()["status"] == "failed"
        assert (tmp_path / "a.txt").read_text() == "old"


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("remembered", "The user said no before, and that answer is remembered."),
        ("rule", "A rule does not allow this."),
        ("default", "Nothing allows this, and nobody could be asked."),
        ("cancelled", "The question was cancelled."),
        ("the weather", "This was not allowed."),
        (None, "This was not allowed."),
    ],
)
async def test_the_user_said_no_only_where_they_did(
    tmp_path: Path, by: str | None, said: str
) -> None:
    """Issue 14: "You said no" is said only when a person said no."""
    (tmp_path / "a.txt").write_text("old")
    async with bench(tmp_path, "v2") as b:
        b.answer, b.decided_by = "reject_once", by
        result = await edit(b, "a.txt", "old", "new")
        assert text(result, ok=False) == f"{said} Editing a.txt did not happen."
        assert result.denied == (by if by in REFUSALS else "unknown")


@everywhere
async def test_a_file_is_read_before_it_is_changed(tmp_path: Path, variant: str) -> None:
    """Issue: read before edit; refuse when the file changed since (hash)."""
    file = tmp_path / "a.txt"
    file.write_text("old")
    async with bench(tmp_path, variant) as b:
        works: list[Work] = [
            lambda t: t.edit("a.txt", "old", "new"),
            lambda t: t.write("a.txt", "new"),
            lambda t: t.edit_many({"a.txt": "new"}, "why", "title"),
        ]
        for work in works:
            assert "has not been read yet" in text(await b.use(work), ok=False)
            assert b.last()["status"] == "failed"
        await b.use(lambda t: t.read("a.txt"))
        file.write_text("older")
        assert "changed since it was read" in text(
            await b.use(lambda t: t.edit("a.txt", "old", "new")), ok=False
        )
        assert file.read_text() == "older"
        assert b.asked == []


async def test_a_file_that_changes_while_the_user_thinks_is_left_alone(tmp_path: Path) -> None:
    """Issue: refuse when the file changed since."""
    file = tmp_path / "a.txt"
    file.write_text("old")
    async with bench(tmp_path) as b:

        def answer(_: object) -> object:
            file.write_text("somebody else's")
            return {"outcome": {"outcome": "selected", "optionId": "allow_once"}}

        b.client.serve["session/request_permission"] = answer
        result = await edit(b, "a.txt", "old", "new")
        assert "changed while permission was asked for" in text(result, ok=False)
        assert file.read_text() == "somebody else's"


@everywhere
async def test_line_ends_and_the_byte_order_mark_stay(tmp_path: Path, variant: str) -> None:
    """Brief: CRLF and BOM are preserved."""
    file = tmp_path / "a.txt"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n")
    async with bench(tmp_path, variant) as b:
        assert (await edit(b, "a.txt", "two\nthree", "2\n3")).ok
        assert file.read_bytes() == b"\xef\xbb\xbfone\r\n2\r\n3\r\n"
        assert (await b.use(lambda t: t.write("a.txt", "a\nb\n"))).ok
        assert file.read_bytes() == b"\xef\xbb\xbfa\r\nb\r\n"


@everywhere
async def test_new_files_are_made_with_their_folders(tmp_path: Path, variant: str) -> None:
    """A file that is missing needs no reading."""
    async with bench(tmp_path, variant) as b:
        result = await b.use(lambda t: t.write("src/new.py", "x = 1\n", "It is needed"))
        assert result.ok
        assert (tmp_path / "src" / "new.py").read_text() == "x = 1\n"
        assert b.last()["title"] == "Create src/new.py"
        # What was written counts as read.
        assert (await b.use(lambda t: t.edit("src/new.py", "1", "2"))).ok


@everywhere
async def test_nothing_outside_the_root_is_written_moved_or_deleted(
    tmp_path: Path, variant: str
) -> None:
    """Issue: a symlink out of the root."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "in.txt").write_text("in")
    outside = tmp_path / "outside.txt"
    outside.write_text("out")
    (root / "link").symlink_to(outside)
    (root / "dir").symlink_to(tmp_path)
    async with bench(root, variant) as b:
        works: list[Work] = [
            lambda t: t.write("link", "x"),
            lambda t: t.write("../new.txt", "x"),
            lambda t: t.write("dir/new.txt", "x"),
            lambda t: t.edit("link", "out", "x"),
            lambda t: t.delete("dir/outside.txt"),
            lambda t: t.delete("../outside.txt"),
            lambda t: t.move("in.txt", "../in.txt"),
            lambda t: t.move("in.txt", "dir/in.txt"),
            lambda t: t.run("ls", cwd=".."),
        ]
        for work in works:
            assert "outside the session's folders" in text(await b.use(work), ok=False)
        assert outside.read_text() == "out"
        assert sorted(one.name for one in tmp_path.iterdir()) == ["outside.txt", "root"]
        assert b.asked == []


@everywhere
async def test_files_are_moved_and_deleted_with_permission(tmp_path: Path, variant: str) -> None:
    """Issue: move and delete, with their kinds."""
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "taken.txt").write_text("t")
    async with bench(tmp_path, variant) as b:
        said = text(await b.use(lambda t: t.move("a.txt", "taken.txt")), ok=False)
        assert said == "taken.txt already exists."
        assert (await b.use(lambda t: t.move("a.txt", "b.txt"))).ok
        assert b.last()["kind"] == "move"
        assert (await b.use(lambda t: t.delete("b.txt"))).ok
        assert b.last()["kind"] == "delete"
        assert not (tmp_path / "b.txt").exists()
        said = text(await b.use(lambda t: t.delete("b.txt")), ok=False)
        assert said == "There is no file b.txt."
        assert "Only single files can be deleted" in text(
            await b.use(lambda t: t.delete(".")), ok=False
        )
        assert len(b.asked) == 2


@everywhere
async def test_several_files_are_one_permission_and_one_undo(tmp_path: Path, variant: str) -> None:
    """Contract: edit_many, and undo of the last turn's edits."""
    for name in ("a.py", "b.py", "gone.py"):
        (tmp_path / name).write_text(f"mean = '{name}'\n")

    async def rename(tools: Toolbox) -> ToolResult:
        changes: dict[str, str | None] = {"gone.py": None, "new.py": "average = 1\n"}
        for name in ("a.py", "b.py"):
            old = await tools.text(name)
            assert old is not None
            changes[name] = old.replace("mean", "average")
        await tools.text("gone.py")
        return await tools.edit_many(changes, "Rename it everywhere", "Rename mean to average")

    async with bench(tmp_path, variant) as b:
        result = await b.use(rename, "rename mean to average")
        assert result.text == "Changed 4 files: gone.py, new.py, a.py, b.py."
        assert (tmp_path / "a.py").read_text() == "average = 'a.py'\n"
        assert not (tmp_path / "gone.py").exists()
        assert len(b.asked) == 1
        assert len(b.last()["locations"]) == 4
        undone = await b.use(lambda t: t.undo(), "/undo")
        assert undone.text == "Undone: gone.py, new.py, a.py, b.py."
        assert len(b.asked) == 2
        assert "Undo what “rename mean to average” changed" in b.reasons()
        assert (tmp_path / "a.py").read_text() == "mean = 'a.py'\n"
        assert (tmp_path / "gone.py").read_text() == "mean = 'gone.py'\n"
        assert not (tmp_path / "new.py").exists()
        assert "nothing to undo" in text(await b.use(lambda t: t.undo()), ok=False)


async def test_undo_refuses_where_a_file_changed_since(tmp_path: Path) -> None:
    """Brief: refusing where the file changed since."""
    file = tmp_path / "a.txt"
    file.write_text("old")
    async with bench(tmp_path) as b:
        await edit(b, "a.txt", "old", "new")
        file.write_text("newer")
        said = text(await b.use(lambda t: t.undo()), ok=False)
        assert said == "Not undone: a.txt changed since. Nothing was touched."
        assert file.read_text() == "newer"
        file.write_text("new")
        assert (await b.use(lambda t: t.undo())).ok
        assert file.read_text() == "old"


async def test_undo_takes_back_one_turn_after_the_other_and_moves_too(tmp_path: Path) -> None:
    """Brief: the journal has what each turn changed; a file changed twice keeps its first text."""
    file = tmp_path / "a.txt"
    file.write_text("1")
    async with bench(tmp_path) as b:

        async def twice(tools: Toolbox) -> None:
            await tools.read("a.txt")
            await tools.edit("a.txt", "1", "2")
            await tools.edit("a.txt", "2", "3")

        await b.use(twice)
        await b.use(lambda t: t.move("a.txt", "b.txt"))
        assert (await b.use(lambda t: t.undo())).ok
        assert file.read_text() == "3"
        assert not (tmp_path / "b.txt").exists()
        assert (await b.use(lambda t: t.undo())).ok
        assert file.read_text() == "1"


async def test_the_journal_outlives_the_process(tmp_path: Path) -> None:
    """Issue: /undo (journal in the session) still works after a restart."""
    (tmp_path / "a.txt").write_text("old")
    async with bench(tmp_path) as b:
        await edit(b, "a.txt", "old", "new")
        b.workspaces.clear()
        assert (await b.use(lambda t: t.undo())).ok
        assert (tmp_path / "a.txt").read_text() == "old"


@pytest.mark.parametrize("kind", ["allow_always", "reject_always"])
async def test_an_always_is_remembered_for_the_file(tmp_path: Path, kind: str) -> None:
    """Contract: remembered grants are the library's job; the tools must use them."""
    (tmp_path / "a.txt").write_text("1 2")
    async with bench(tmp_path) as b:
        b.answer = kind
        first = await edit(b, "a.txt", "1", "one")
        second = await edit(b, "a.txt", "2", "two")
        assert first.ok is second.ok is (kind == "allow_always")
        # Nobody was asked the second time, and that is what is said.
        assert ("for the session" in second.text) is (kind == "reject_always")
        assert "for the session" not in first.text
        assert len(b.asked) == 1
