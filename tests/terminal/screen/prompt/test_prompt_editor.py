"""Where the user writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from accord.terminal.model.key_bindings import actions_with
from accord.terminal.model.prompt.content_blocks import PromptError
from accord.terminal.model.prompt.unsent_prompts import Attachment, Draft
from accord.terminal.model.settings import Settings
from accord.terminal.screen.prompt.text_area import LINES_MAX
from accord.transcript.items.options_and_commands import Command
from tests.terminal.screen.harness.prompt_stage import (
    COMMANDS,
    PromptStage,
    paste,
    typing,
    until,
)
from tests.terminal.screen.harness.stage import CJK, HOSTILE, NARROW, WIDE, place_of


async def test_enter_sends_and_other_keys_begin_a_new_line(project: Path) -> None:
    """Issue 6: a multi-line editor."""
    app = PromptStage(project)
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "one")
        await pilot.press("shift+enter")
        await typing(pilot, "two")
        await pilot.press("ctrl+j")
        await typing(pilot, "three")
        assert app.chat.draft == Draft("one\ntwo\nthree")
        await pilot.press("enter")
        assert app.said == [Draft("one\ntwo\nthree")]
        assert app.typed == ""
        assert app.chat.draft == Draft("")


async def test_a_backslash_before_enter_is_a_new_line(project: Path) -> None:
    """Ours: many terminals cannot tell Shift-Enter from Enter."""
    app = PromptStage(project)
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "one")
        await pilot.press("backslash", "enter", "x")
        assert app.typed == "one\nx"
        assert app.said == []


async def test_keys_are_those_of_the_settings(project: Path) -> None:
    """Issue 6: keys can be changed."""
    keys = {"send": ("ctrl+d",), "newline": ("enter",)}
    app = PromptStage(project, settings=Settings(actions=actions_with(keys)))
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "a")
        await pilot.press("enter", "b")
        assert app.typed == "a\nb"
        await pilot.press("ctrl+d")
        assert app.said == [Draft("a\nb")]


async def test_nothing_to_say_is_told_too(project: Path) -> None:
    """Ours: Enter in an empty prompt is the first remedy of a problem; that is not ours to know."""
    app = PromptStage(project)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("enter")
        assert app.said == [Draft("")]


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_it_grows_with_the_text_and_stops_growing(
    project: Path, size: tuple[int, int]
) -> None:
    """Issue 6: one to ten lines, also at 60 columns and with wide letters."""
    app = PromptStage(project)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert app.area.size.height == 1
        await paste(pilot, CJK[:80])
        await pilot.pause()
        assert app.area.size.height == (2 if size == WIDE else 4)
        await paste(pilot, "\n" * 15)
        await pilot.pause()
        assert app.area.size.height == LINES_MAX
        assert all(len(line) <= size[0] for line in app.lines)
        assert app.editor.region.bottom <= size[1]


async def test_keys_that_are_not_for_it_go_on(project: Path) -> None:
    """Issue 6: Esc stops the turn, Shift-Tab is the next mode; with and without text."""
    app = PromptStage(project)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("escape", "shift+tab", "pageup")
        await typing(pilot, "text")
        await pilot.press("escape", "pagedown")
        assert app.ran == ["stop", "cycle_mode", "scroll -1", "stop", "scroll 1"]
        assert app.typed == "text"


async def test_what_is_said_depends_on_what_the_agent_does(project: Path) -> None:
    """Issue 6: it works while a turn runs, and says so."""
    app = PromptStage(project)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        assert "What would you like to do?" in app.text
        app.chat.suggestions[:] = ["Fix the bug"]
        app.renew()
        await pilot.pause()
        assert "Fix the bug   (press Enter to send)" in app.text
        for phase, words in (
            ("working", "Type your next message"),
            ("lost", "The agent is not running"),
            ("starting", "The agent is starting"),
        ):
            app.chat.set_phase(phase)  # type: ignore[arg-type]
            app.renew()
            await pilot.pause()
            assert words in app.text
        await typing(pilot, "next")
        await pilot.press("enter")
        assert app.said == [Draft("next")]


# ---- commands


async def test_commands_are_completed_with_description_and_hint(project: Path) -> None:
    """Issue 6: `/` completion from advertised commands with hints."""
    app = PromptStage(project)
    app.advertise(COMMANDS)
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "/")
        await pilot.pause()
        assert "/plan what to plan" in app.text
        assert "Sum up the conversation" in app.text
        await typing(pilot, "pl")
        await pilot.pause()
        assert "Sum up" not in app.text
        await pilot.press("tab")
        await pilot.pause()
        assert app.typed == "/plan "
        assert app.area.suggestion == "what to plan"
        assert "❯ /plan what to plan" in app.text
        # The hint is not part of the text.
        await pilot.press("right", "end")
        assert app.typed == "/plan "
        await typing(pilot, "x")
        assert app.area.suggestion == ""
        await pilot.press("enter")
        assert app.said == [Draft("/plan x")]


async def test_a_command_typed_whole_is_sent_at_once(project: Path) -> None:
    """Ours: who typed all of it does not want to press Enter twice."""
    app = PromptStage(project)
    app.advertise(COMMANDS)
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "/compact")
        await pilot.press("enter")
        assert app.said == [Draft("/compact")]
        await typing(pilot, "/ws")
        await pilot.press("enter")
        assert app.typed == "/web_search "


@pytest.mark.rule("V2-CFG-07")
async def test_a_command_of_a_kind_that_nobody_knows_is_shown_plainly(project: Path) -> None:
    """Spec: unknown command or input types are shown plainly or ignored."""
    app = PromptStage(project)
    app.advertise([Command("_x", "of a new kind"), Command("", "no name")])
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "/")
        await pilot.pause()
        assert "/_x  of a new kind" in app.line_with("_x")
        assert "no name" not in app.text
        await pilot.press("enter")
        assert app.typed == "/_x "


async def test_a_long_list_scrolls(project: Path) -> None:
    """Ours: agents have dozens of commands; the list has eight lines."""
    app = PromptStage(project)
    app.advertise([Command(f"command{number}", "does") for number in range(20)])
    async with app.run_test(size=NARROW) as pilot:
        await typing(pilot, "/")
        await pilot.pause()
        assert "12 more" in app.line_with("/command7 ")
        assert "/command8 " not in app.text
        await pilot.press(*["down"] * 9)
        await pilot.pause()
        assert app.line_with("/command9 ").startswith("❯")
        assert "9 more" in app.line_with("/command10 ")
        await pilot.press(*["up"] * 10)
        await pilot.pause()
        assert app.line_with("/command19 ").startswith("❯")
        assert " more" not in app.text
        await pilot.click(offset=place_of(app, "/command13 "))
        assert app.typed == "/command13 "


async def test_what_an_agent_calls_its_commands_cannot_harm(project: Path) -> None:
    """Issue 6: everything an agent sends is untrusted."""
    app = PromptStage(project)
    app.advertise([Command(HOSTILE, HOSTILE, HOSTILE)])
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "/")
        await pilot.pause()
        assert "[red]bold" in app.text
        for letter in ("\x1b", "\x9b", "\u202e"):
            assert letter not in app.text
        await pilot.press("tab")
        await pilot.pause()
        assert "\x1b" not in app.typed + app.area.suggestion


async def test_esc_closes_only_the_list(project: Path) -> None:
    """Issue 6: it stays closed for this word; Tab opens it again."""
    app = PromptStage(project)
    app.advertise(COMMANDS)
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "/")
        await pilot.press("escape")
        assert app.ran == []
        assert app.typed == "/"
        await typing(pilot, "p")
        await pilot.pause()
        assert "Make a plan" not in app.text
        await pilot.press("tab")
        await pilot.pause()
        assert "Make a plan" in app.text
        await pilot.press("escape", "escape")
        assert app.ran == ["stop"]


async def test_commands_that_come_while_one_types_are_offered(project: Path) -> None:
    """Ours: agents tell their commands a little after the session is there."""
    app = PromptStage(project)
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "/")
        app.advertise(COMMANDS)
        app.renew()
        await pilot.pause()
        assert "Make a plan" in app.text


# ---- files


async def test_files_are_completed_and_go_along(project: Path) -> None:
    """Issue 6: `@` completion of files, fuzzy and gitignore-aware."""
    app = PromptStage(project)
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "see @")
        await until(pilot, lambda: "README.md" in app.text)
        assert "out.log" not in app.text
        await typing(pilot, "vi")
        await pilot.pause()
        assert "README.md" not in app.text
        await pilot.press("tab")
        assert app.typed == "see @src/view.py "
        await until(pilot, lambda: "src/view.py python 6 bytes" in app.text)
        await pilot.press("enter")
        (said,) = app.said
        assert said.text == "see @src/view.py "
        assert [one.path for one in said.attachments] == [str(project / "src" / "view.py")]
        await pilot.pause()
        assert "6 bytes" not in app.text


async def test_the_list_goes_by_arrows_and_by_mouse(project: Path) -> None:
    """Issue 6: by keyboard alone, mouse too."""
    app = PromptStage(project)
    async with app.run_test(size=NARROW) as pilot:
        await typing(pilot, "@p")
        await until(pilot, lambda: "src/main.py" in app.text)
        assert app.line_with("pic.png").startswith("❯")
        await pilot.press("down")
        await pilot.pause()
        assert not app.line_with("pic.png").startswith("❯")
        await pilot.press("up", "up", "down")
        await pilot.pause()
        assert app.line_with("pic.png").startswith("❯")
        await pilot.click(offset=place_of(app, "src/view.py"))
        assert app.typed == "@src/view.py "
        assert app.focused is app.area


async def test_names_in_other_scripts_are_completed(project: Path) -> None:
    """Issue 6: Unicode wide characters."""
    app = PromptStage(project)
    async with app.run_test(size=NARROW) as pilot:
        await paste(pilot, "@本")
        await until(pilot, lambda: "docs/日本.md" in app.text)
        await pilot.press("enter")
        assert app.typed == "@docs/日本.md "


async def test_the_attach_action_takes_names_and_paths(project: Path, tmp_path: Path) -> None:
    """Issue 6: attach by name or path; Tab goes into folders."""
    other = tmp_path / "elsewhere" / "data.bin"
    other.parent.mkdir()
    other.write_bytes(b"\0" * 2048)
    app = PromptStage(project)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("ctrl+o")
        await typing(pilot, "view")
        await until(pilot, lambda: "src/view.py" in app.text)
        await pilot.press("enter")
        await until(pilot, lambda: app.typed == "@src/view.py ")
        await pilot.press("ctrl+o")
        app.screen.query_one(Input).value = f"{tmp_path}/else"
        await pilot.pause()
        await pilot.press("tab", "down", "enter")
        await until(pilot, lambda: str(other) in app.typed)
        await until(pilot, lambda: "2.0 kB" in app.text)
        await pilot.press("ctrl+o")
        app.screen.query_one(Input).value = "/no/such"
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: app.told)
        assert app.told == ["File not found: /no/such"]
        await pilot.press("ctrl+o", "escape")
        await pilot.pause()
        assert app.focused is app.area


# ---- the outside


async def test_another_editor_gets_the_text_and_gives_it_back(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 6: external editor."""
    from accord.terminal.screen.prompt import prompt_editor as module

    async def edited(app: object, text: str, command: list[str]) -> str:
        assert command == ["my editor", "-w"]
        if text == "fail":
            raise PromptError("my editor exited with code 1; the prompt is unchanged.")
        return text + "\nmore"

    monkeypatch.setattr(module, "edit_outside", edited)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "'my editor' -w")
    app = PromptStage(project)
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "text")
        await pilot.press("ctrl+g")
        await until(pilot, lambda: app.typed == "text\nmore")
        app.editor.take_draft(Draft("fail"))
        await pilot.press("ctrl+g")
        await until(pilot, lambda: app.told)
        assert app.typed == "fail"


async def test_what_others_do_with_it(project: Path) -> None:
    """Ours: the pane gives it a draft, empties it, and asks what is marked."""
    app = PromptStage(project)
    async with app.run_test(size=WIDE) as pilot:
        assert app.editor.is_empty
        assert not app.editor.clear_text()
        pasted = Attachment("text", "pasted 30 lines", "[pasted 30 lines]", data=b"a\nb")
        app.editor.take_draft(Draft("look:", (pasted,)))
        await pilot.pause()
        assert app.typed == "look: [pasted 30 lines]"
        assert "pasted 30 lines text 3 bytes" in app.text
        assert not app.editor.copy_selection()
        app.area.select_all()
        assert app.editor.copy_selection()
        assert app.clipboard == app.typed
        assert not app.editor.copy_selection()
        assert app.editor.clear_text()
        assert app.editor.is_empty
        await pilot.press("ctrl+z")
        await pilot.pause()
        # Undo brings back what stands behind the mark, too.
        assert app.editor.draft.attachments == (pasted,)
