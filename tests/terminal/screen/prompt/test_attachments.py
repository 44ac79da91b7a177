"""What goes along with a prompt: pasted, dropped, removed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from accord.client.connection.capabilities import AgentCapabilities
from accord.terminal.model.prompt.content_blocks import PromptError
from accord.terminal.model.prompt.unsent_prompts import Attachment, Draft
from accord.terminal.screen.prompt import attachments as module
from accord.terminal.screen.prompt.attachment_chips import Chips
from tests.terminal.screen.harness.prompt_stage import (
    PLAIN,
    PNG,
    PromptStage,
    paste,
    typing,
    until,
)
from tests.terminal.screen.harness.stage import NARROW, WIDE, place_of

IMAGES = replace(PLAIN, image=True)
LONG = "\n".join(f"line {number}" for number in range(84))


async def test_long_pasted_text_is_a_mark_that_can_be_opened(project: Path) -> None:
    """Issue 6: paste of long text."""
    app = PromptStage(project)
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "see")
        await paste(pilot, LONG)
        assert app.typed == "see [pasted 84 lines] "
        await pilot.pause()
        await pilot.click(offset=place_of(app, "pasted 84 lines text"))
        assert app.typed == f"see {LONG} "
        await pilot.press("ctrl+z")
        await pilot.press("enter")
        (said,) = app.said
        assert [one.data.decode() for one in said.attachments] == [LONG]


async def test_backspace_takes_a_mark_as_a_whole(project: Path) -> None:
    """Ours: half a mark would mean nothing."""
    app = PromptStage(project)
    async with app.run_test(size=WIDE) as pilot:
        await paste(pilot, LONG)
        await pilot.press("backspace", "backspace")
        assert app.typed == ""
        assert app.editor.draft == Draft("")


async def test_pasted_text_brings_no_commands_to_the_terminal(project: Path) -> None:
    """Ours: what is copied from a page may have anything in it."""
    app = PromptStage(project)
    async with app.run_test(size=WIDE) as pilot:
        await paste(pilot, "a\x1b[31mb\r\nc\x9b2Jd\x00\te")
        assert app.typed == "a[31mb\nc2Jd\te"


async def test_a_dropped_file_is_attached(project: Path, tmp_path: Path) -> None:
    """Issue 6: terminals paste the path of what is dropped on them."""
    other = tmp_path / "my notes.txt"
    other.write_text("hello")
    app = PromptStage(project)
    async with app.run_test(size=WIDE) as pilot:
        await paste(pilot, f"'{other}' ")
        await until(pilot, lambda: app.typed)
        assert app.typed == f"@{other} "
        await until(pilot, lambda: "5 bytes" in app.text)
        await paste(pilot, "/just/some words")
        await until(pilot, lambda: app.typed.endswith("/just/some words"))


@pytest.mark.rule("V1-PROMPT-14")
async def test_a_picture_is_attached_where_the_agent_takes_pictures(project: Path) -> None:
    """Spec: the prompt UI follows promptCapabilities."""
    app = PromptStage(project, IMAGES)
    async with app.run_test(size=WIDE) as pilot:
        await paste(pilot, str(project / "pic.png"))
        await until(pilot, lambda: "pic.png png image 48 bytes" in app.text)
        assert app.told == []
        await pilot.press("enter")
        assert [one.kind for one in app.said[0].attachments] == ["image"]


@pytest.mark.rule("V1-PROMPT-14")
async def test_an_agent_without_images_gets_a_link_and_that_is_said_at_once(project: Path) -> None:
    """Spec: agent without image, no image attach.  Nothing is lost."""
    app = PromptStage(project, PLAIN)
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "see ")
        await paste(pilot, str(project / "pic.png"))
        await until(pilot, lambda: app.told)
        assert app.told == ["This agent does not accept images; pic.png is sent as a link."]
        assert app.typed == "see @pic.png "
        await pilot.press("enter")
        assert app.said[0].attachments[0].path == str(project / "pic.png")


@pytest.mark.rule("V1-PROMPT-14")
@pytest.mark.parametrize(("can", "is_attached"), [(IMAGES, True), (PLAIN, False), (None, True)])
async def test_a_picture_of_the_clipboard_follows_the_capabilities(
    project: Path,
    can: AgentCapabilities | None,
    is_attached: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Spec: agent without image, no image attach; before it is there nobody knows."""
    monkeypatch.setattr(module, "read_image", lambda: PNG)
    app = PromptStage(project, can)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("ctrl+v")
        if is_attached:
            await until(pilot, lambda: "image 1 png image" in app.text)
            assert app.typed == "[image 1] "
        else:
            await until(pilot, lambda: app.told)
            assert app.told == [
                "This agent does not accept images. The image is still in your clipboard."
            ]
            assert app.typed == ""


@pytest.mark.rule("V1-PROMPT-14")
async def test_what_cannot_be_sent_stays_in_the_editor(project: Path) -> None:
    """Spec, and ours: a draft with a picture may be opened with another agent."""
    app = PromptStage(project, PLAIN)
    picture = Attachment("image", "image 1", "[image 1]", media_type="image/png", data=PNG)
    async with app.run_test(size=WIDE) as pilot:
        app.editor.take_draft(Draft("see [image 1]", (picture,)))
        await pilot.press("enter")
        assert app.said == []
        assert app.typed == "see [image 1]"
        (told,) = app.told
        assert told.startswith("This agent does not accept images.")


async def test_without_a_picture_what_was_copied_here_is_pasted(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 6: said so where the clipboard cannot be read."""

    def unreadable() -> bytes:
        raise PromptError("There is no program here that reads pictures.")

    app = PromptStage(project)
    async with app.run_test(size=WIDE) as pilot:
        monkeypatch.setattr(module, "read_image", unreadable)
        await pilot.press("ctrl+v")
        await until(pilot, lambda: app.told)
        monkeypatch.setattr(module, "read_image", lambda: None)
        await pilot.press("ctrl+v")
        await until(pilot, lambda: len(app.told) == 2)
        assert app.told == [
            "There is no program here that reads pictures.",
            "There is no image in the clipboard.",
        ]
        for _ in range(2):
            app.copy_to_clipboard("copied")
            await pilot.press("ctrl+v")
            await until(pilot, lambda: app.typed == "copied")
            app.editor.clear_text()
            monkeypatch.setattr(module, "read_image", unreadable)


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_attachments_are_removed_by_key_and_by_mouse(
    project: Path, size: tuple[int, int]
) -> None:
    """Issue 6: shown with type and size, removable."""
    app = PromptStage(project)
    async with app.run_test(size=size) as pilot:
        for name in ("README.md", "src/main.py"):
            await paste(pilot, str(project / name))
            await until(pilot, lambda name=name: name in app.typed)  # type: ignore[misc]
        await until(pilot, lambda: "src/main.py python" in app.text or "+1 more" in app.text)
        app.query_one(Chips).focus()
        await pilot.press("right", "left", "delete")
        await pilot.pause()
        assert app.typed == "@src/main.py "
        x, y = place_of(app, "×")
        await pilot.click(offset=(x, y))
        assert app.typed == ""
        await pilot.pause()
        assert not app.query_one(Chips).display


async def test_many_attachments_are_seen_one_after_the_other(project: Path) -> None:
    """Issue 6: 60 columns."""
    app = PromptStage(project)
    marks = [f"[pasted {number} lines]" for number in range(30, 36)]
    parts = tuple(Attachment("text", mark[1:-1], mark, data=b"x") for mark in marks)
    async with app.run_test(size=NARROW) as pilot:
        app.editor.take_draft(Draft(" ".join(marks), parts))
        await pilot.pause()
        assert "pasted 35 lines text" not in app.text
        # None is cut off without a word.
        assert "+5 more" in app.text
        app.query_one(Chips).focus()
        await pilot.press(*["right"] * 5)
        await pilot.pause()
        assert "pasted 35 lines text" in app.text
        assert "more" not in app.text
        await pilot.press("enter")
        assert app.typed.endswith("[pasted 34 lines] x")
