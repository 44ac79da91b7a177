"""The offline brain on projects that are not the demo: restarts, choices, odd files."""

from pathlib import Path

import pytest

from accord import Elicitations, EmbeddedResource, FormRequest
from accord.builtin.demo_project import write_demo_project
from accord.schema import v2
from accord.store import MemoryStore
from tests.builtin.offline.talk import talking, write


async def test_undo_and_fix_work_after_a_restart(tmp_path: Path) -> None:
    """Research table: close, reopen, pick the session; /undo still works."""
    write_demo_project(tmp_path)
    store = MemoryStore()
    async with talking(tmp_path, store=store) as talk:
        await talk.say("run the tests")
        await talk.say("change 'no values' to 'nothing' in calc.py")
        session_id = talk.session.id
    async with talking(tmp_path, store=store, load=session_id) as talk:
        assert "Undone: calc.py" in await talk.say("/undo")
        answer = await talk.say("fix it")
        assert "Repaired `calc.py:8`" in answer
        assert talk.kinds() == ["read", "edit", "execute"]


async def test_a_repair_is_found_anew_when_the_file_changed(tmp_path: Path) -> None:
    """Ours: what is remembered may be of before a change that the user made."""
    write_demo_project(tmp_path)
    calc = tmp_path / "calc.py"
    async with talking(tmp_path) as talk:
        await talk.say("run the tests")
        calc.write_text("\n\n\n\n\n\n" + calc.read_text())
        answer = await talk.say("fix it")
        assert "Repaired `calc.py:14`" in answer
        assert "**Green**" in answer


async def test_files_of_one_name_are_asked_about_or_listed(tmp_path: Path) -> None:
    """Brief: asks where the client can, else lists them."""
    write(tmp_path, {"a/x.py": '"""A."""\n', "b/x.py": '"""B."""\nold = 1\n'})
    async with talking(tmp_path) as talk:
        for typed in ("explain x.py", "show x.py", "change 'old' to 'new' in x.py"):
            answer = await talk.say(typed)
            assert "Several files match: `a/x.py` and `b/x.py`." in answer

    async def choose(request: FormRequest) -> dict[str, str]:
        return {"choice": "b/x.py"}

    async with talking(tmp_path, elicitation=Elicitations(on_form=choose)) as talk:
        assert "> B." in await talk.say("explain x.py")
        assert "old = 1" in await talk.say("show x.py")
        assert "Changed b/x.py" in await talk.say("change 'old' to 'new' in x.py")


async def test_folders_modules_and_prose_are_explained(tmp_path: Path) -> None:
    """Ours: no dead end for what is plainly there."""
    write(
        tmp_path,
        {
            "pkg/__init__.py": "",
            "pkg/core.py": '"""The core."""\nfrom . import odd\nclass Box:\n    """Holds."""\n'
            "    def open(self): ...\n",
            "pkg/odd.py": "def broken(:\n",
            "notes.md": "# Notes\n\nWhat we know.\n\n## More\n",
            "pyproject.toml": "[project]\nscripts = {go = 'pkg.core:main'}\n",
        },
    )
    async with talking(tmp_path) as talk:
        assert "`pkg/core.py`" in await talk.say("explain pkg")
        assert "> The core." in await talk.say("explain core")
        assert "It does not parse" in await talk.say("explain odd.py")
        answer = await talk.say("explain Box")
        assert "> Holds." in answer
        assert "`def open(self)`" in answer
        assert "I found nothing in this project that uses it by name." in answer
        answer = await talk.say("explain notes.md")
        assert "> What we know." in answer
        assert "- More" in answer
        assert "is a folder with 3 files" in await talk.say("where is pkg")
        assert "It is `notes.md`." in await talk.say("where is notes.md")
        assert "`go` (`pkg.core:main`)" in await talk.say("/map")
        assert "is defined in `pkg/odd.py:1`" in await talk.say("where is broken")


async def test_odd_files_are_said_to_be_odd(tmp_path: Path) -> None:
    """Issue: a missing file, a binary file, a directory, a link out of the root."""
    outside = tmp_path / "outside.txt"
    outside.write_text("secret\n")
    root = tmp_path / "root"
    write(root, {"folder/a.txt": "a\n"})
    (root / "data.bin").write_bytes(b"\0\1\2")
    (root / "link.txt").symlink_to(outside)
    async with talking(root) as talk:
        assert "binary" in await talk.say("show data.bin")
        assert "no file missing.txt" in (await talk.say("read missing.txt")).lower()
        assert "secret" not in await talk.say("show link.txt")
        assert "No file that I searched contains" in await talk.say("find secret")
        assert "folder" in await talk.say("explain folder/")
        assert "none in a language that I read" in await talk.say("what is this project?")


async def test_commands_say_how_they_ended(tmp_path: Path) -> None:
    """Issue: a command that does not exist, one that prints nothing."""
    async with talking(tmp_path) as talk:
        assert "`true` succeeded with no output." in await talk.say("$ true")
        assert "failed with exit code 3" in await talk.say("$ exit 3")
        assert "no_such_command_at_all" in await talk.say("run no_such_command_at_all")


async def test_pytest_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: what is missing, and how to get it."""
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho 'python: No module named pytest' >&2\nexit 1\n")
    python.chmod(0o755)
    write(tmp_path, {"test_a.py": "def test_a(): ...\n"})
    async with talking(tmp_path) as talk:
        for typed in ("run the tests", "fix it"):
            answer = await talk.say(typed)
            assert "No tests ran: pytest is not installed." in answer
            assert "pip install pytest" in answer


async def test_a_file_without_a_word_is_explained(tmp_path: Path) -> None:
    """Ours: what else could be wanted?"""
    resource = EmbeddedResource(
        resource=v2.EmbeddedResourceResource(uri="memo://x/notes.py", text='"""A memo."""\n')
    )
    async with talking(tmp_path) as talk:
        assert "> A memo." in await talk.say(resource)
