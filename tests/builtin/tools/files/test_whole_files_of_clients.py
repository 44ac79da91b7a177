"""Files of clients that show and save them in forms of their own; edits and undo all the same."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accord.builtin.tools.tool_call import ToolResult
from accord.builtin.tools.toolbox import Toolbox
from tests.agent.raw_client import OPEN, Message
from tests.builtin.tools.bench import Bench, bench, text

BOM = b"\xef\xbb\xbf"
FILES = {
    "plain": b"one\ntwo\n",
    "no newline at its end": b"one\ntwo",
    "two newlines at its end": b"one\ntwo\n\n",
    "CRLF": b"one\r\ntwo\r\n",
    "byte order mark": BOM + b"one\ntwo\n",
    "everything": BOM + b"one\r\ntwo\r\n",
}


class Client:
    """A client that reads bytes as a text and makes bytes of a text, in its own way."""

    def __init__(
        self, shows: Callable[[str], str], saves: Callable[[str, bytes], bytes], b: Bench
    ) -> None:
        self.shows, self.saves, self.bench = shows, saves, b
        self.writes = 0
        b.client.serve |= {"fs/read_text_file": self.read, "fs/write_text_file": self.write}

    def read(self, params: Message) -> Any:
        try:
            data = Path(params["path"]).read_bytes()
        except OSError as error:
            self.bench.client.refuse(self.bench.client.frames[-1], -32603, str(error))
            return OPEN
        return {"content": self.shows(data.decode("utf-8", "replace"))}

    def write(self, params: Message) -> Any:
        path = Path(params["path"])
        before = path.read_bytes() if path.exists() else b""
        self.writes += 1
        path.write_bytes(self.saves(params["content"], before))
        return {}


def raw(content: str, before: bytes) -> bytes:
    """Saves what it is sent."""
    return content.encode()


def by_lines(content: str, before: bytes) -> bytes:
    """Ends every line, the last one too."""
    return "".join(f"{line}\n" for line in content.split("\n")).encode()


def as_it_was(content: str, before: bytes) -> bytes:
    """A buffer that remembers the mark and the line ends of its file, and ends every line."""
    ends = "\r\n" if b"\r\n" in before else "\n"
    lines = "".join(f"{line}{ends}" for line in content.split("\n"))
    return (BOM if before.startswith(BOM) else b"") + lines.encode()


def without_last(shown: str) -> str:
    """As lines that are joined."""
    return shown.removesuffix("\n").removesuffix("\r")


def as_buffer(shown: str) -> str:
    """Joins lines, and drops everything that is not a line."""
    return "\n".join(shown.removeprefix("\ufeff").splitlines())


CLIENTS: dict[str, tuple[Callable[[str], str], Callable[[str, bytes], bytes]]] = {
    "reads without the last newline, saves as it is": (without_last, raw),
    "reads and saves lines": (without_last, by_lines),
    "reads without forms, saves as it is": (as_buffer, raw),
    "reads without forms, saves as it was": (as_buffer, as_it_was),
}


def words(result: ToolResult, *, ok: bool = True) -> str:
    """What a tool said, which did as it was told unless `ok` says otherwise."""
    return text(result, ok=ok)


async def change(b: Bench) -> ToolResult:
    """Read and edit in one turn."""

    async def work(tools: Toolbox) -> ToolResult:
        await tools.read("a.txt")
        return await tools.edit("a.txt", "two", "zwei")

    return await b.use(work)


@pytest.mark.parametrize("kind", CLIENTS)
@pytest.mark.parametrize("form", FILES)
async def test_an_edit_keeps_the_form_of_a_file_and_undo_restores_every_byte(
    kind: str, form: str, tmp_path: Path
) -> None:
    """Issue 14: files that a client reads back without their last newline."""
    file, before = tmp_path / "a.txt", FILES[form]
    file.write_bytes(before)
    can_end_bare = kind.endswith("saves as it is")
    async with bench(tmp_path, "client") as b:
        client = Client(*CLIENTS[kind], b)
        said = words(await change(b))
        if not can_end_bare and not before.endswith(b"\n"):
            # It cannot save such a file, and that is said.
            assert said.endswith("The client saved a.txt with different newlines at its end.")
            undone = words(await b.use(lambda t: t.undo()), ok=False)
            assert (
                undone
                == "Undo is incomplete: the client saved a.txt with different newlines at its end."
            )
            return
        assert said == "Changed a.txt in line 2."
        assert file.read_bytes() == before.replace(b"two", b"zwei")
        writes = client.writes
        assert words(await b.use(lambda t: t.undo())) == "Undone: a.txt."
        assert file.read_bytes() == before
        # What the client makes of a text is found out once.
        assert client.writes == writes + 1


async def test_a_new_file_has_one_newline_at_its_end(tmp_path: Path) -> None:
    """Issue 14: a client that ends every line made two of it."""
    async with bench(tmp_path, "client") as b:
        Client(without_last, by_lines, b)
        words(await b.use(lambda t: t.write("new.txt", "one\n")))
        assert (tmp_path / "new.txt").read_bytes() == b"one\n"
        assert words(await b.use(lambda t: t.undo())) == "Undone: new.txt."
        assert not (tmp_path / "new.txt").exists()


async def test_text_that_is_not_saved_yet_keeps_its_form(tmp_path: Path) -> None:
    """Issue 14: the editor has newer text than the file, without the last newline."""
    file = tmp_path / "a.txt"
    file.write_bytes(b"one\r\ntwo\r\n")
    async with bench(tmp_path, "client") as b:
        Client(lambda shown: as_buffer(shown).replace("one", "eins"), raw, b)
        words(await change(b))
        assert file.read_bytes() == b"eins\r\nzwei\r\n"


async def test_a_client_that_does_not_save_is_told_of_after_an_undo(tmp_path: Path) -> None:
    """Issue 14: /undo that did not restore the file says so."""
    file = tmp_path / "a.txt"
    file.write_bytes(b"one\ntwo\n")
    async with bench(tmp_path, "client") as b:
        client = Client(without_last, raw, b)
        words(await change(b))
        buffers: dict[str, str] = {}
        client.bench.client.serve |= {
            "fs/write_text_file": lambda p: {"_meta": buffers.update(text=p["content"])},
            "fs/read_text_file": lambda p: {"content": buffers.get("text", file.read_text())},
        }
        said = words(await b.use(lambda t: t.undo()), ok=False)
        assert (
            said == "Undo is incomplete: a.txt is restored in the client, which has not saved it."
        )
        assert file.read_bytes() == b"one\nzwei\n"
        # It is saved meanwhile: nothing is left to do, and the journal is even.
        file.write_bytes(b"one\ntwo\n")
        assert words(await b.use(lambda t: t.undo())) == "Undone: a.txt."
        assert "nothing to undo" in words(await b.use(lambda t: t.undo()), ok=False)


async def test_a_client_that_changes_the_text_on_saving_is_told_of(tmp_path: Path) -> None:
    """Issue 14: a formatter; the edit says it, and an undo that is not one too."""
    file = tmp_path / "a.txt"
    file.write_bytes(b"one\ntwo\n")
    async with bench(tmp_path, "client") as b:
        client = Client(without_last, lambda content, _: b"# formatted\n" + content.encode(), b)
        assert words(await change(b)).endswith("The client saved a.txt with different text.")
        assert client.writes == 1
        said = words(await b.use(lambda t: t.undo()), ok=False)
        assert said == "Undo is incomplete: the client saved a.txt with different text."


@pytest.mark.parametrize("code", [-32603, -32000])
async def test_a_client_that_refuses_to_write_is_told_of(code: int, tmp_path: Path) -> None:
    """Issue 14: neither an edit nor an undo claims what did not happen."""
    file = tmp_path / "a.txt"
    file.write_bytes(b"one\ntwo\n")
    async with bench(tmp_path, "client") as b:
        client = Client(without_last, raw, b)
        words(await change(b))

        def refuse(params: Message) -> Any:
            b.client.refuse(b.client.frames[-1], code, "it is locked")
            return OPEN

        b.client.serve["fs/write_text_file"] = refuse
        assert "it is locked" in words(await b.use(lambda t: t.undo()), ok=False)
        assert file.read_bytes() == b"one\nzwei\n"
        b.client.serve["fs/write_text_file"] = client.write
        assert words(await b.use(lambda t: t.undo())) == "Undone: a.txt."
        assert file.read_bytes() == b"one\ntwo\n"


async def test_a_file_that_is_not_utf_8_is_not_damaged(tmp_path: Path) -> None:
    """Issue 14: encodings; a client that reads them with replacement characters."""
    file = tmp_path / "a.txt"
    file.write_bytes(b"caf\xe9\ntwo\n")
    async with bench(tmp_path, "client") as b:
        client = Client(without_last, raw, b)
        assert "not UTF-8" in words(await change(b), ok=False)
        assert client.writes == 0
        assert file.read_bytes() == b"caf\xe9\ntwo\n"


@pytest.mark.parametrize("variant", ["v1", "client"])
async def test_what_keeps_an_undo_from_being_made_is_said(variant: str, tmp_path: Path) -> None:
    """Issue 14: changed meanwhile, deleted meanwhile, no text any more."""
    file = tmp_path / "a.txt"
    file.write_bytes(b"one\ntwo\n")
    async with bench(tmp_path, variant) as b:
        words(await change(b))
        for data, said in (
            (b"other\n", "a.txt changed since"),
            (None, "a.txt was deleted since"),
            (b"\0\1\2", "a.txt cannot be read now (a.txt is a binary file of 3 bytes"),
        ):
            file.unlink(missing_ok=True)
            if data is not None:
                file.write_bytes(data)
            assert f"Not undone: {said}" in words(await b.use(lambda t: t.undo()), ok=False)
