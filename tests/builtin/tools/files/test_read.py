"""The tool `read`: windows, bounds, and files that are not text."""

import os
from pathlib import Path

from tests.builtin.tools.bench import bench, everywhere, text


@everywhere
async def test_a_file_comes_with_line_numbers_and_a_place(tmp_path: Path, variant: str) -> None:
    """Issue: tools show kind, locations, raw input and output."""
    (tmp_path / "a.py").write_text("one\ntwo\nthree\n")
    async with bench(tmp_path, variant) as b:
        result = await b.use(lambda t: t.read("a.py", 2, 1))
        assert result.text == "     2\ttwo\n[lines 2 to 2 of 3; continue with line=3]"
        assert result.data == "two\n"
        call = b.last()
        assert (call["kind"], call["status"]) == ("read", "completed")
        assert call["locations"] == [{"path": str(tmp_path / "a.py"), "line": 2}]
        assert call["rawInput"] == {"path": str(tmp_path / "a.py"), "line": 2, "limit": 1}
        assert call["rawOutput"] == {"firstLine": 2, "lastLine": 2, "totalLines": 3}
        assert b.asked == []


@everywhere
async def test_bad_inputs_are_failures_that_a_person_understands(
    tmp_path: Path, variant: str
) -> None:
    """Issue: a missing file, a binary file, a directory, a symlink out of the root."""
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "calc.py").write_text("x")
    (root / "calc.py").write_text("x")
    (root / "pic.png").write_bytes(b"\x89PNG\0\0\0")
    (tmp_path / "secret.txt").write_text("outside")
    (root / "out").symlink_to(tmp_path / "secret.txt")
    (root / "dir_out").symlink_to(tmp_path)
    os.mkfifo(root / "pipe")
    async with bench(root, variant) as b:
        said = {}
        paths = ("clac.py", "pic.png", "sub", "out", "dir_out/secret.txt", "../secret.txt", "pipe")
        for path in paths:
            said[path] = text(await b.use(lambda t, p=path: t.read(p)), ok=False)  # type: ignore[misc]
            assert b.last()["status"] == "failed"
            assert said[path] in str(b.last()["content"][0]["content"]["text"])
        assert said["clac.py"] == "There is no file clac.py. Similar names: calc.py."
        assert said["pic.png"].startswith("pic.png is a binary file of 7 bytes")
        assert said["sub"].startswith("sub is a folder, not a file. In it: calc.py.")
        assert "not a regular file" in said["pipe"]
        for path in ("out", "dir_out/secret.txt", "../secret.txt"):
            assert "outside the session's folders" in said[path]
        assert "no line 5" in text(await b.use(lambda t: t.read("calc.py", 5)), ok=False)
        assert "start at 1" in text(await b.use(lambda t: t.read("calc.py", 0, 0)), ok=False)
        # And the session goes on.
        assert (await b.use(lambda t: t.read("calc.py"))).ok
        assert not any(
            f.get("method") == "fs/read_text_file" and "secret" in str(f) for f in b.client.frames
        )


@everywhere
async def test_a_file_of_a_gigabyte_is_never_read_whole(tmp_path: Path, variant: str) -> None:
    """Issue: a file of 1 GB."""
    big = tmp_path / "big.log"
    with big.open("wb") as file:
        file.write(b"first\nsecond\n" * 10_000)
        file.write(b"no end")
        file.truncate(1_000_000_000)
    async with bench(tmp_path, variant) as b:
        window = await b.use(lambda t: t.read("big.log", 3, 2))
        assert window.text == (
            "     3\tfirst\n     4\tsecond\n[lines 3 to 4; continue with line=5]"
        )
        said = text(await b.use(lambda t: t.read("big.log", 20_001)), ok=False)
        assert "too large to be shown" in said
        edited = await b.use(lambda t: t.edit("big.log", "first", "1st"))
        assert "too much to be read at once" in text(edited, ok=False)
        assert "fs/read_text_file" not in b.client.methods()


async def test_a_long_file_is_capped_and_says_so(tmp_path: Path) -> None:
    """Issue: every result capped, and says so."""
    (tmp_path / "long.txt").write_text("x" * 100 + "\n" + ("y" * 99 + "\n") * 5_000)
    (tmp_path / "wide.txt").write_text("z" * 100_000)
    (tmp_path / "empty.txt").write_text("")
    async with bench(tmp_path) as b:
        result = await b.use(lambda t: t.read("long.txt", limit=5_000))
        assert len(result.text) <= 50_000
        assert result.text.endswith("; continue with line=449]")
        wide = await b.use(lambda t: t.read("wide.txt"))
        assert len(wide.text) < 3_000
        assert "cut after 2,000 characters" in wide.text
        assert (await b.use(lambda t: t.read("empty.txt"))).text == "empty.txt is empty."


async def test_the_unsaved_text_of_the_client_is_what_is_read(tmp_path: Path) -> None:
    """Issue: files go through the client where it offers them."""
    async with bench(tmp_path, "client") as b:
        b.client.serve["fs/read_text_file"] = lambda _: {"content": "unsaved\n"}
        assert (await b.use(lambda t: t.read("new.txt"))).data == "unsaved\n"
        assert await b.use(lambda t: t.text("new.txt")) == "unsaved\n"
