"""The offline brain says nothing that is not so, and shows no secret."""

from pathlib import Path

import pytest

from accord.builtin.offline.source_code import project_overview, project_texts
from accord.builtin.tools.search.grep_process import Reader, read
from accord.schema import v2
from tests.builtin.offline.talk import talking, write


async def test_of_a_huge_file_nobody_claims_to_know_the_length(tmp_path: Path) -> None:
    """Issue: a file of 1 GB; never an invention.  It is read by windows and never counted."""
    (tmp_path / "huge.txt").write_text("a line of text\n" * 400_000)
    async with talking(tmp_path) as talk:
        assert "… and at least 1," in await talk.say("show huge.txt")
        assert "too large for me to read whole" in await talk.say("explain huge.txt")
        answer = await talk.say("find line of")
        assert "Not searched because they exceed 4.2 MB: huge.txt." in answer


async def test_a_long_line_is_cut_and_that_is_said(tmp_path: Path) -> None:
    """Issue: every result capped, and says so."""
    (tmp_path / "long.txt").write_text("a" * 100_000)
    async with talking(tmp_path) as talk:
        answer = await talk.say("show long.txt")
        assert len(answer) < 1_000
        assert "Lines are cut after 500 characters." in answer


async def test_what_is_quoted_from_files_has_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: secrets never in output, also where the brain words it and not a tool."""
    monkeypatch.setenv("SOME_API_KEY", "sk-1234567890abcdef")
    write(tmp_path, {".env": "KEY=sk-1234567890abcdef\n", "a.py": 'key = "sk-1234567890abcdef"\n'})
    async with talking(tmp_path) as talk:
        for typed in ("show .env", "find sk-1234", "explain .env", "where is key", "explain key"):
            answer = await talk.say(typed)
            assert "sk-1234567890abcdef" not in answer
            assert "[secret]" in answer
        shown = "".join(call.text for call in talk.session.transcript.tool_calls)
        assert "sk-1234567890abcdef" not in shown


async def test_of_a_project_that_is_too_large_all_that_has_the_name_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rename of the first 10,000 files would have broken the others; never an invention."""
    monkeypatch.setattr(project_texts, "PROJECT_FILES_MAX", 3)
    monkeypatch.setattr(project_overview, "MODULES_READ_MAX", 2)
    write(tmp_path, {f"a{number}.py": "x = 1\n" for number in range(5)})
    write(tmp_path, {"y.py": "def late():\n    pass\n", "z.py": "from y import late\nlate()\n"})
    async with talking(tmp_path) as talk:
        assert "defined in `y.py:1`" in await talk.say("where is late")
        assert "`z.py:2`" in await talk.say("who calls late")
        assert "`late`** is a function in `y.py:1`" in await talk.say("explain late")
        assert "in 2 files" in await talk.say("rename late to soon")
        assert (tmp_path / "z.py").read_text() == "from y import soon\nsoon()\n"
        answer = await talk.say("what is this project?")
        assert "In the first 2 of 3 files: 2 modules" in answer
        assert "larger than I read" in answer


async def test_what_was_not_found_is_not_said_to_be_missing(tmp_path: Path) -> None:
    """Issue 14: a method of JavaScript is not a definition that patterns know, but exists."""
    write(tmp_path, {"a.js": "class A {\n  load() { return 1 }\n}\n"})
    async with talking(tmp_path) as talk:
        for typed in ("where is load", "explain load"):
            answer = await talk.say(typed)
            assert "I found no definition of `load` in this project." in answer
            assert "`a.js:2`" in answer
        answer = await talk.say("please sing about load and nothing else")
        assert "1 file has at least one of them" in answer


async def test_a_name_in_too_many_files_is_not_renamed_in_some_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: rename across files, exact."""
    monkeypatch.setattr(project_texts, "PROJECT_FILES_MAX", 2)
    write(tmp_path, {f"a{number}.py": "def late(): pass\n" for number in range(6)})
    async with talking(tmp_path) as talk:
        assert "too large for me" in await talk.say("rename late to soon")
        assert talk.diffs() == []


async def test_files_that_a_rename_could_not_look_into_are_named(tmp_path: Path) -> None:
    """Not UTF-8, too large: they may have the name all the same."""
    write(tmp_path, {"a.py": "def late():\n    pass\n"})
    (tmp_path / "old.py").write_bytes(b"# caf\xe9\nfrom a import late\n")
    async with talking(tmp_path) as talk:
        answer = await talk.say("rename late to soon")
        assert "Not searched because they are too large or not UTF-8: `old.py`." in answer


async def test_a_folder_that_is_gone_is_told_and_not_an_error(tmp_path: Path) -> None:
    """Issue: each gives a notice a person understands, and the session goes on."""
    folder = tmp_path / "project"
    write(folder, {"a.py": "x = 1\n"})
    async with talking(folder) as talk:
        (folder / "a.py").unlink()
        folder.rmdir()
        for typed in ("what is this project?", "run the tests", "$ ls", "find x", "rename x to y"):
            assert "does not exist" in await talk.say(typed)
        assert "I work without" in await talk.say("/help")


async def test_an_address_that_is_none_is_no_reason_to_fail(tmp_path: Path) -> None:
    """Ours: clients hand on what a user dropped on them."""
    link = v2.ResourceLink(name="x", uri="http://[::1")
    async with talking(tmp_path) as talk:
        assert await talk.say(link, "explain it")


def test_files_that_the_system_makes_up_do_not_end_a_search() -> None:
    """A search from the top of the file system met files that can be opened and not read."""
    reader = Reader(b"/proc/self")
    assert read(reader, b"mem", 100) is None
    assert read(reader, b"status", 100_000)
    reader.close()
