"""What is sent to the agent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from accord.client.connection.capabilities import AgentCapabilities
from accord.schema import v2
from accord.terminal.model.prompt import content_blocks as module
from accord.terminal.model.prompt.attachments import attachment_of
from accord.terminal.model.prompt.content_blocks import (
    PromptError,
    blocks_of,
    place_of,
    read_blocks,
    refusal,
    with_pasted,
)
from accord.terminal.model.prompt.unsent_prompts import Attachment, Draft

NOTHING = AgentCapabilities()
EMBEDDED = replace(NOTHING, embedded_context=True)
ALL = replace(EMBEDDED, image=True, audio=True)
PNG = b"\x89PNG\r\n\x1a\n\0\0"
IMAGE = Attachment("image", "image 1", "[image 1]", media_type="image/png", data=PNG)
PASTED = Attachment("text", "pasted", "[pasted 30 lines]", data=b"a\nb @x.py")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Some files."""
    inner = tmp_path / "project"
    inner.mkdir()
    (inner / "x.py").write_text("x = 1\n")
    (inner / "pic.png").write_bytes(PNG)
    (inner / "song.mp3").write_bytes(b"ID3\x04\0\0")
    (inner / "data.bin").write_bytes(b"\0\1\2")
    (inner / "a.svg").write_text("<svg/>")
    (tmp_path / "secret.txt").write_text("secret")
    (inner / "trap.md").symlink_to(tmp_path / "secret.txt")
    return inner


def _names(blocks: list[Any]) -> list[str]:
    return [type(block).__name__ for block in blocks]


def _read(draft: Draft, capabilities: AgentCapabilities, folder: Path) -> list[Any]:
    return read_blocks(draft, capabilities, [str(folder)])


@pytest.mark.rule("V1-PROMPT-14")
@pytest.mark.parametrize(
    ("name", "everything", "embedded", "nothing"),
    [
        ("x.py", "EmbeddedResource", "EmbeddedResource", "ResourceLink"),
        ("pic.png", "ImageContent", "ResourceLink", "ResourceLink"),
        ("song.mp3", "AudioContent", "ResourceLink", "ResourceLink"),
        ("data.bin", "EmbeddedResource", "EmbeddedResource", "ResourceLink"),
        ("a.svg", "EmbeddedResource", "EmbeddedResource", "ResourceLink"),
    ],
)
def test_each_file_has_the_best_form_that_the_agent_takes(
    folder: Path, name: str, everything: str, embedded: str, nothing: str
) -> None:
    """Spec: content follows promptCapabilities; text and links are always taken."""
    draft = Draft(f"see @{name}", (attachment_of(folder / name, [str(folder)]),))
    for capabilities, form in ((ALL, everything), (EMBEDDED, embedded), (NOTHING, nothing)):
        assert _names(_read(draft, capabilities, folder)) == ["str", form]


def test_bytes_and_text_arrive_as_they_are(folder: Path) -> None:
    """Ours."""
    draft = Draft("@x.py @data.bin @pic.png")
    text, source, blob, image = _read(draft, ALL, folder)
    assert text == draft.text
    assert source.resource == v2.EmbeddedResourceResource(
        uri=(folder / "x.py").as_uri(), text="x = 1\n", mime_type="text/x-python"
    )
    assert (blob.resource.blob, blob.resource.mime_type) == (b"\0\1\2", "application/octet-stream")
    assert (image.data, image.mime_type) == (PNG, "image/png")


async def test_it_is_read_in_a_thread_too(folder: Path) -> None:
    """Ours: the same, for the event loop."""
    draft = Draft("see @x.py")
    assert _names(await blocks_of(draft, ALL, [str(folder)])) == ["str", "EmbeddedResource"]


def test_a_file_that_was_attached_and_named_comes_once(folder: Path) -> None:
    """Ours."""
    draft = Draft("@x.py, @x.py", (attachment_of(folder / "x.py", [str(folder)]),))
    assert _names(_read(draft, ALL, folder)) == ["str", "EmbeddedResource"]


def test_links_that_lead_out_of_the_folders_bring_nothing_along(folder: Path) -> None:
    """Ours: a project must not get a private file sent by naming it `trap.md`."""
    assert _names(_read(Draft("see @trap.md and @../secret.txt"), ALL, folder)) == ["str"]
    trap = attachment_of(folder / "trap.md", [str(folder)], name="trap.md")
    with pytest.raises(PromptError, match=r"trap\.md is outside the session's folders"):
        _read(Draft("see @trap.md", (trap,)), ALL, folder)


def test_a_file_elsewhere_comes_along_when_it_was_attached_and_not_by_words_alone(
    folder: Path,
) -> None:
    """Ours: the user chose it; words may have been pasted from anywhere."""
    secret = folder.parent / "secret.txt"
    assert _names(_read(Draft(f"@{secret}"), ALL, folder)) == ["str"]
    assert _names(_read(Draft(f"@{folder}/x.py"), ALL, folder)) == ["str", "EmbeddedResource"]
    chosen = attachment_of(secret, [str(folder)])
    assert chosen.mark == f"@{secret}"
    assert _names(_read(Draft("look", (chosen,)), ALL, folder)) == ["str", "EmbeddedResource"]
    # To an agent that takes no resources its text is said: it could not open the file.
    assert _read(Draft("look", (chosen,)), NOTHING, folder)[1] == f"{secret}:\n\nsecret"


def test_pasted_text_stands_where_it_was_pasted(folder: Path) -> None:
    """Issue 6: paste of long text.  Names in it are not mentions."""
    assert with_pasted(Draft("before [pasted 30 lines] after", (PASTED,))) == (
        "before a\nb @x.py after"
    )
    assert with_pasted(Draft("mark deleted", (PASTED,))) == "mark deleted\n\na\nb @x.py"
    assert with_pasted(Draft(" ", (PASTED,))) == "a\nb @x.py"
    assert _read(Draft("[pasted 30 lines]", (PASTED,)), ALL, folder) == ["a\nb @x.py"]


@pytest.mark.rule("V1-PROMPT-14")
def test_what_has_no_file_and_is_not_taken_is_refused_before_anything_is_sent(folder: Path) -> None:
    """Spec: an agent without image gets no image."""
    audio = Attachment("audio", "a", "[audio 1]", media_type="audio/wav", data=b"RIFF")
    binary = Attachment("binary", "b", "[data 1]", data=b"\0")
    for one, words in ((IMAGE, "images"), (audio, "audio"), (binary, "attached data")):
        with pytest.raises(PromptError, match=f"This agent does not accept {words}"):
            _read(Draft("see", (one,)), NOTHING, folder)
        assert refusal(one, None) is None
        assert refusal(one, ALL) is None
    names = _names(_read(Draft("see", (IMAGE, audio, binary)), ALL, folder))
    assert names == ["str", "ImageContent", "AudioContent", "EmbeddedResource"]


def test_there_are_bounds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: everything has a bound."""
    monkeypatch.setattr(module, "FILES_MAX", 1)
    with pytest.raises(PromptError, match="More than 1 files"):
        _read(Draft("@x.py @pic.png"), ALL, folder)
    monkeypatch.setattr(module, "PROMPT_BYTES_MAX", 4)
    with pytest.raises(PromptError, match="in total"):
        _read(Draft("@x.py"), ALL, folder)
    monkeypatch.undo()
    monkeypatch.setattr(module, "FILE_BYTES_MAX", 2)
    monkeypatch.setattr(module, "IMAGE_BYTES_MAX", 2)
    names = _names(_read(Draft("@x.py @pic.png @data.bin"), ALL, folder))
    assert names == ["str", *["ResourceLink"] * 3]


def test_a_file_that_is_gone_is_named(folder: Path) -> None:
    """Ours."""
    gone = attachment_of(folder / "x.py", [str(folder)])
    (folder / "x.py").unlink()
    with pytest.raises(PromptError, match=r"x\.py: No such file"):
        _read(Draft("see", (gone,)), ALL, folder)


def test_a_mark_is_not_the_beginning_of_a_longer_one() -> None:
    """Ours."""
    assert place_of("@a", "see @a.") == 4
    assert place_of("@a", "@a.py @a, and") == 6
    for text in ("@a.py", "@ab", "x@a", "@a/b", "@a-b", ""):
        assert place_of("@a", text) == -1
    assert place_of("[image 1]", "x[image 1]y") == 1
    assert place_of("", "x") == -1
