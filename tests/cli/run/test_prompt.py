"""What `accord run` says to an agent."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from accord.cli.run.prompt import Prompt, PromptError, read_prompt
from accord.client.connection.capabilities import AgentCapabilities
from accord.schema import v2
from accord.terminal.model.prompt.content_blocks import FILE_BYTES_MAX, FILES_MAX

NOTHING = AgentCapabilities()
EMBEDDED = replace(NOTHING, embedded_context=True)
IMAGES = replace(NOTHING, image=True)


class Stdin(io.TextIOWrapper):
    """A pipe with text in it."""

    def __init__(self, text: str) -> None:
        super().__init__(io.BytesIO(text.encode()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Some files."""
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "b.md").write_text("# B\n")
    (tmp_path / "pic.png").write_bytes(b"\x89PNG\0")
    (tmp_path / "old.txt").write_bytes(b"caf\xe9")
    return tmp_path


def test_words_are_joined_and_files_in_them_come_along(folder: Path) -> None:
    """docs/reference/run.md: the prompt."""
    prompt = read_prompt(["compare", "@a.py with (@b.md),", "me@example.org @property @@x"], folder)
    assert prompt.text == "compare @a.py with (@b.md), me@example.org @property @@x"
    assert [path.name for path in prompt.files] == ["a.py", "b.md"]
    assert prompt.unmatched == ("property",)


def test_a_file_alone_is_the_prompt_and_must_be_there(folder: Path) -> None:
    """docs/reference/run.md: the prompt."""
    assert read_prompt(["@b.md"], folder) == Prompt("# B")
    assert [path.name for path in read_prompt(["see", "@b.md"], folder).files] == ["b.md"]
    for words in (["@no.md"], ["see", "@no.md"]):
        with pytest.raises(PromptError, match=r"no file no\.md"):
            read_prompt(words, folder)


def test_a_sentence_may_begin_with_a_file(folder: Path) -> None:
    """Issue 14: `@FILE explain this` was taken for a file with that whole name."""
    prompt = read_prompt(["@a.py explain this"], folder)
    assert prompt == Prompt("@a.py explain this", (folder / "a.py",))
    assert read_prompt(["@no.py explain this"], folder).unmatched == ("no.py",)
    (folder / "my prompt.md").write_text("hello")
    assert read_prompt(["@my prompt.md"], folder) == Prompt("hello")


def test_a_file_outside_comes_as_text_however_it_is_named(folder: Path) -> None:
    """docs/reference/run.md: as text where the file is in none of the session's folders."""
    inner = folder / "inner"
    inner.mkdir()
    prompt = read_prompt(["see @../b.md and @../inner/../a.py"], inner)
    assert prompt.files == (folder / "b.md", folder / "a.py")
    assert prompt.blocks(NOTHING, [str(inner)])[1] == f"{folder / 'b.md'}:\n\n# B\n"


def test_stdin_is_read_only_where_it_was_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/reference/run.md: an open pipe never holds up a script."""
    monkeypatch.setattr(sys, "stdin", Stdin("from the pipe\n"))
    assert read_prompt(["hello"], folder).text == "hello"
    assert read_prompt(["hello", "-"], folder).text == "hello\n\nfrom the pipe"
    monkeypatch.setattr(sys, "stdin", Stdin("all of it"))
    assert read_prompt([], folder).text == "all of it"


@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbf/help", "\ufeff/help".encode("utf-16-le"), "/help".encode("utf-16")]
)
def test_a_mark_at_the_beginning_says_how_it_is_written(folder: Path, data: bytes) -> None:
    """Found in review: editors and shells of other systems write it, and `/help` was no command."""
    (folder / "marked.md").write_bytes(data)
    assert read_prompt(["@marked.md"], folder).text == "/help"


def test_what_is_no_text_is_no_prompt(folder: Path) -> None:
    """Found in review: a picture was sent as a text of question marks."""
    with pytest.raises(PromptError, match="is not text"):
        read_prompt(["@pic.png"], folder)


def test_a_word_like_the_home_of_nobody_is_a_word(folder: Path) -> None:
    """Found in review: `ask @~bob` was a traceback."""
    assert read_prompt(["ask @~nobody-here about it"], folder).files == ()


@pytest.mark.parametrize("words", [[""], ["  "], ["-"]])
def test_nothing_to_say_is_an_error(
    folder: Path, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours."""
    monkeypatch.setattr(sys, "stdin", Stdin(" \n"))
    with pytest.raises(PromptError, match="empty"):
        read_prompt(words, folder)


def test_there_is_a_bound_on_files(folder: Path) -> None:
    """Ours: everything has a bound."""
    for number in range(FILES_MAX + 1):
        (folder / f"f{number}").touch()
    with pytest.raises(PromptError, match="files are attached"):
        read_prompt(["see", *(f"@f{number}" for number in range(FILES_MAX + 1))], folder)
    (folder / "large").write_text("x" * (FILE_BYTES_MAX + 1))
    with pytest.raises(PromptError, match="larger than"):
        read_prompt(["@large"], folder)


def _kinds(prompt: Prompt, capabilities: AgentCapabilities, root: Path) -> list[str]:
    return [type(one).__name__ for one in prompt.blocks(capabilities, [str(root)])]


def test_a_file_has_the_best_form_that_the_agent_takes(folder: Path) -> None:
    """Issue 3: embedded where the agent takes it, else a link, else text."""
    prompt = Prompt("see", (folder / "a.py", folder / "pic.png", folder / "old.txt"))
    link = "ResourceLink"
    assert _kinds(prompt, EMBEDDED, folder) == ["str", "EmbeddedResource", link, link]
    assert _kinds(prompt, IMAGES, folder) == ["str", link, "ImageContent", link]
    assert _kinds(prompt, NOTHING, folder) == ["str", link, link, link]
    # What is in none of the folders would be a link to nowhere.
    assert _kinds(prompt, NOTHING, folder / "inner") == ["str", "str", link, link]
    (block,) = Prompt("", (folder / "a.py",)).blocks(EMBEDDED, [str(folder)])
    assert isinstance(block, v2.EmbeddedResource)
    assert (block.resource.text, block.resource.uri) == ("x = 1\n", (folder / "a.py").as_uri())


def test_a_large_file_is_linked_to(folder: Path) -> None:
    """Ours: a prompt has a bound."""
    (folder / "large.txt").write_text("x" * (FILE_BYTES_MAX + 1))
    prompt = Prompt("see", (folder / "large.txt",))
    assert _kinds(prompt, EMBEDDED, folder) == ["str", "ResourceLink"]
    (folder / "large.txt").unlink()
    with pytest.raises(PromptError, match="No such file"):
        prompt.blocks(EMBEDDED, [str(folder)])
