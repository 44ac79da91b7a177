"""The whole screen: keys, tabs, questions and problems, with nobody in the background."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from accord.client.permissions.request import OWN_OPTIONS, Decision, PermissionRequest
from accord.client.wire.wire_interface import AuthMethod
from accord.terminal.model.chat import Problem
from accord.terminal.model.prompt.unsent_prompts import Draft
from accord.terminal.model.settings import Settings
from accord.terminal.render.block import CopyText, OpenFile, OpenLink, OpenSession
from accord.terminal.screen.app import AccordApp
from accord.terminal.screen.chrome.problem_bar import ProblemBar
from accord.terminal.screen.chrome.tab_bar import TabBar
from accord.terminal.screen.help_screen import HelpScreen
from accord.terminal.screen.prompt import PromptEditor
from accord.terminal.screen.screenshot import picture_of
from accord.terminal.screen.widgets.button import Button
from tests.terminal.screen.harness.app_stage import asked, staged, until
from tests.terminal.screen.harness.stage import HOSTILE, NARROW, hear


@pytest.fixture(autouse=True)
def _own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCORD_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("ACCORD_STATE_DIR", str(tmp_path / "state"))


def text_of(app: AccordApp) -> str:
    """What is on the screen, as lines."""
    strips = app.screen._compositor.render_strips(app.size)
    return "\n".join(strip.text.rstrip() for strip in strips)


async def test_what_is_written_is_said_and_enter_alone_says_what_is_suggested() -> None:
    """Issue 6: the prompt; the demo's first minute."""
    async with staged(suggestions=("hello", "goodbye")) as (app, pilot, _):
        await pilot.press("enter")
        await pilot.press(*"hi", "enter")
        await until(pilot, lambda: len(asked(app)) == 2)
        assert asked(app) == [("send", "hello"), ("send", "hi")]


async def test_sending_a_prompt_shows_the_end_of_the_conversation() -> None:
    """Ours: what was said and its answer are in sight, wherever one was reading before."""
    async with staged() as (app, pilot, chat):
        text = "\n\n".join(f"paragraph {number}" for number in range(60))
        hear(
            chat,
            sessionUpdate="agent_message_chunk",
            content={"type": "text", "text": text},
        )
        await until(pilot, lambda: "paragraph 59" in text_of(app))
        await pilot.press("pageup", "pageup")
        await until(pilot, lambda: "paragraph 59" not in text_of(app))
        await pilot.press(*"hi", "enter")
        await until(pilot, lambda: "paragraph 59" in text_of(app))


async def test_a_question_mark_asks_for_the_keys_only_while_nothing_is_written() -> None:
    """Issue 6: keys listed by `?`."""
    async with staged() as (app, pilot, _):
        await pilot.press("question_mark")
        await until(pilot, lambda: len(app.screen_stack) == 2)
        assert isinstance(app.screen, HelpScreen)
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await pilot.press("w", "h", "y", "question_mark")
        assert len(app.screen_stack) == 1
        assert app.pane is not None
        assert app.pane.prompt.draft.text == "why?"


async def test_what_is_said_in_passing_does_not_cover_what_is_typed() -> None:
    """Ours: a toast stands at the top; the prompt is at the bottom."""
    async with staged(notifications=True) as (app, pilot, _):
        app.notify("This agent does not accept images.", markup=False)
        await until(pilot, lambda: "not accept images" in text_of(app))
        lines = text_of(app).splitlines()
        (at,) = [number for number, line in enumerate(lines) if "not accept images" in line]
        assert at < 5


async def test_the_quit_key_ends_the_agents_first() -> None:
    """Ours: Textual's own Ctrl+Q would exit and leave the agents running."""
    async with staged() as (app, pilot, _):
        await pilot.press("ctrl+q")
        await app._controller_is_over.wait()
        assert app.controller.lifecycle._leaving.is_set()


async def test_escape_stops_the_turn_and_nothing_else() -> None:
    """Issue 6: Esc cancels the turn."""
    async with staged() as (app, pilot, chat):
        chat.set_phase("working")
        await pilot.pause()
        await pilot.press("escape")
        assert asked(app) == [("stop",)]


async def test_the_visible_stop_can_be_clicked() -> None:
    """Issue 6: a visible, clickable Stop."""
    async with staged() as (app, pilot, chat):
        chat.set_phase("working")
        await until(pilot, lambda: "[Stop" in text_of(app))
        for number, line in enumerate(text_of(app).splitlines()):
            if "[Stop" in line:
                await pilot.click(offset=(line.index("[Stop") + 2, number))
                break
        await until(pilot, lambda: asked(app))
        assert asked(app) == [("stop",)]


async def test_ctrl_c_stops_then_empties_then_leaves() -> None:
    """Ours: what people press without thinking never loses anything at once."""
    async with staged() as (app, pilot, chat):
        chat.set_phase("working")
        await pilot.press("ctrl+c")
        assert asked(app) == [("stop",)]
        chat.set_phase("ready")
        await pilot.press("x", "ctrl+c")
        assert app.pane is not None
        assert app.pane.prompt.is_empty
        await pilot.press("ctrl+c", "ctrl+c")
        await until(pilot, lambda: app.return_code is not None)
        assert app.return_code == 0


def is_asked(app: AccordApp) -> bool:
    """Whether the keys go to a question."""
    return app.focused is not None and "Dialog" in str(app.focused.ancestors_with_self)


def a_request() -> PermissionRequest:
    return PermissionRequest(
        session_id="s1",
        title="Write file.txt",
        options=OWN_OPTIONS,
        reason="because",
        kind="edit",
        paths=("/home/me/project/file.txt",),
    )


async def test_a_question_takes_the_place_of_the_prompt_and_gives_it_back() -> None:
    """Issue 6: what was typed stays while a question is answered."""
    async with staged() as (app, pilot, chat):
        await pilot.press("a", "b")
        answers: list[object] = []

        async def ask() -> None:
            answers.append(await chat.questions.ask("permission", a_request()))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await until(pilot, lambda: "because" in text_of(app))
            assert not app.query_one(PromptEditor).display
            await until(pilot, lambda: is_asked(app))
            # Too early: it was meant for the prompt, where it goes; it answers nothing.
            await pilot.press("y")
            assert not answers
            chat.clock.now += 5  # type: ignore[attr-defined]
            await pilot.press("y")
            await until(pilot, lambda: answers)
        assert answers == [Decision("allow_once")]
        await until(pilot, lambda: app.query_one(PromptEditor).display)
        assert app.query_one(PromptEditor).draft.text == "aby"
        await pilot.pause()
        await pilot.press("c")
        assert app.query_one(PromptEditor).draft.text == "abyc"


@pytest.mark.rule("D26-02")
async def test_a_tab_that_needs_an_answer_is_marked_and_the_one_in_front_stays() -> None:
    """Issue 6: several sessions in tabs, one marked when it needs an answer."""
    async with staged() as (app, pilot, first):
        await pilot.press("ctrl+t")
        await until(pilot, lambda: len(app.controller.chats) == 2 and app.chat is not first)
        second = app.chat
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first.questions.ask, "permission", a_request())
            await until(pilot, lambda: first.needs_answer)
            await pilot.pause()
            assert app.chat is second
            assert "because" not in text_of(app)
            assert app.query_one(TabBar).mark(first) != app.query_one(TabBar).mark(second)  # type: ignore[arg-type]
            await pilot.press("ctrl+pageup")
            await until(pilot, lambda: app.chat is first and "because" in text_of(app))
            tasks.cancel_scope.cancel()
        await pilot.press("alt+w")
        await until(pilot, lambda: len(app.controller.chats) == 1)
        assert app.chat is second
        await pilot.press("alt+w")
        await pilot.pause()
        assert app.controller.chats == [second]


async def test_what_changed_in_a_tab_behind_is_seen_when_it_comes_to_the_front() -> None:
    """Issue 6: several sessions in tabs; each says how it stands."""
    async with staged() as (app, pilot, first):
        first.set_phase("working")
        await until(pilot, lambda: "Working" in text_of(app))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: app.chat is not first)
        await until(pilot, lambda: "Ready" in text_of(app))
        first.stop_reason = "max_tokens"
        first.set_phase("ready")
        await pilot.pause()
        await pilot.press("ctrl+pageup")
        await until(pilot, lambda: app.chat is first)
        await pilot.pause()
        await until(pilot, lambda: "token limit" in text_of(app))


async def test_a_problem_says_what_happened_and_is_mended_by_one_key() -> None:
    """Issue 6: a failed turn says why and offers retry by one key."""
    async with staged() as (app, pilot, chat):
        chat.set_problem(Problem("turn_failed", HOSTILE, "detail\x1b[2J", ("retry", "dismiss")))
        await until(pilot, lambda: "detail" in text_of(app))
        assert "\x1b" not in text_of(app)
        await pilot.press("alt+r")
        assert asked(app) == [("retry",)]
        await pilot.press("enter")
        await until(pilot, lambda: len(asked(app)) == 2)
        buttons = app.query_one(ProblemBar).query(Button)
        await until(pilot, lambda: len(buttons) == 2)
        await pilot.press("escape")
        assert chat.problem is None
        await until(pilot, lambda: "detail" not in text_of(app))


async def test_a_rate_limit_counts_down() -> None:
    """Issue 6: rate limits count down."""
    async with staged() as (app, pilot, chat):
        at = chat.clock() + 7
        chat.set_problem(Problem("rate_limited", "Too many", "", ("retry", "dismiss"), at))
        await until(pilot, lambda: "try again in 7 s" in text_of(app))
        chat.clock.now += 3  # type: ignore[attr-defined]
        assert app.pane is not None
        app.pane.tick()
        await until(pilot, lambda: "try again in 4 s" in text_of(app))
        chat.clock.now += 9  # type: ignore[attr-defined]
        app.pane.tick()
        await until(pilot, lambda: "you can try again now" in text_of(app))


async def test_remedies_can_be_clicked() -> None:
    """Issue 6: restart by one key, or by a click."""
    async with staged() as (app, pilot, chat):
        chat.set_problem(Problem("agent_lost", "The agent stopped", "", ("restart",)))
        await until(pilot, lambda: len(app.query_one(ProblemBar).query(Button)) == 1)
        await pilot.pause()
        await pilot.click(app.query_one(ProblemBar).query_one(Button))
        await until(pilot, lambda: asked(app))
        assert asked(app) == [("restart",)]


async def test_what_was_denied_can_be_asked_for_again() -> None:
    """Issue 6: a denial is explained and can be retried."""
    async with staged() as (app, pilot, chat):
        await pilot.press("alt+r")
        assert asked(app) == []
        chat.denied_request = a_request()
        await pilot.press("alt+r")
        await pilot.pause()
        assert app.pane is not None
        assert "Write file.txt" in app.pane.prompt.draft.text


@pytest.mark.parametrize(
    "key", ["f1", "f2", "f3", "f5", "f6", "f7", "f8", "ctrl+p", "ctrl+r", "ctrl+o"]
)
async def test_every_screen_opens_and_closes(key: str) -> None:
    """Issue 6: pickers, review, traffic, grants, themes, palette; narrow too."""
    async with staged(NARROW) as (app, pilot, chat):
        await pilot.press(key)
        await until(pilot, lambda: len(app.screen_stack) == 2)
        await pilot.pause()
        assert all(len(line) <= NARROW[0] for line in text_of(app).splitlines())
        # The agent goes on in the background.
        hear(chat, sessionUpdate="agent_message_chunk", content={"type": "text", "text": "x"})
        await until(pilot, lambda: not app._is_due)
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)


async def test_follow_mode_is_shown_and_hidden() -> None:
    """Issue 6: a follow mode."""
    async with staged(settings=Settings(follow=True)) as (app, pilot, _):
        assert app.pane is not None
        assert app.pane.has_class("-following")
        await pilot.press("f4")
        assert not app.pane.has_class("-following")
        await pilot.press("f4")
        assert app.pane.has_class("-following")


async def test_what_a_line_means_is_done_and_links_of_agents_are_never_opened() -> None:
    """Ours: an address that an agent wrote is shown whole and copied, nothing more."""
    async with staged() as (app, pilot, _):
        copied: list[str] = []
        app.copy_to_clipboard = copied.append  # type: ignore[method-assign,assignment]
        app._actions.targets.use(CopyText("some text"))
        app._actions.targets.use(OpenLink("https://example.com/x"))
        app._actions.targets.use(OpenFile("/etc/passwd"))
        app._actions.targets.use(OpenSession("s1"))
        await pilot.pause()
        assert copied == ["some text", "https://example.com/x"]
        told = " ".join(str(note.message) for note in app._notifications)
        assert "https://example.com/x" in told
        assert "/etc/passwd" in told


async def test_the_palette_does_what_keys_do() -> None:
    """Issue 6: command palette."""
    async with staged() as (app, pilot, _):
        await pilot.press("ctrl+p")
        await until(pilot, lambda: len(app.screen_stack) == 2)
        await pilot.press(*"keyboard shortcuts", "enter")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))


async def test_another_width_keeps_everything_in_its_place() -> None:
    """Issue 6: resize never garbles."""
    async with staged((120, 40)) as (app, pilot, chat):
        for number in range(30):
            hear(
                chat,
                sessionUpdate="agent_message_chunk",
                content={"type": "text", "text": f"line {number} of some words " * 8 + "\n\n"},
            )
        await pilot.pause()
        for size in ((60, 20), (100, 30), (20, 8), (60, 20)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert all(len(line) <= size[0] for line in text_of(app).splitlines())
        shown = picture_of(app)
        app.refresh(layout=True)
        await pilot.pause()
        assert picture_of(app) == shown


async def test_a_draft_is_kept_when_the_program_is_left() -> None:
    """Issue 6: drafts kept."""
    async with staged() as (_, pilot, chat):
        await pilot.press(*"not sent")
        await pilot.pause()
        assert chat.draft == Draft("not sent")
    async with staged() as (app, pilot, _):
        await until(pilot, lambda: app.pane is not None and not app.pane.prompt.is_empty)
        assert app.pane is not None
        assert app.pane.prompt.draft.text == "not sent"


async def test_without_an_order_the_person_chooses_an_agent() -> None:
    """Issue 6: with no arguments and several known agents, a picker."""
    from accord.terminal.engine.launch_options import LaunchOptions
    from tests.terminal.screen.harness.app_stage import SECONDS_MAX, StagedController

    choices = {
        name: LaunchOptions(command=(name,), name=name, folder="/home/me/project")
        for name in ("built-in", "codex")
    }
    app = AccordApp(StagedController(), None, choices)
    with anyio.fail_after(SECONDS_MAX):
        async with app.run_test() as pilot:
            await until(pilot, lambda: len(app.screen_stack) == 2)
            await pilot.press("down", "enter")
            await until(pilot, lambda: app.chat is not None)
            assert app.chat is not None
            assert app.controller.launch(app.chat).name == "codex"
            await app.leave()


@pytest.mark.rule("V1-AUTH-09")
async def test_a_login_that_is_needed_is_said_and_offered() -> None:
    """D1 authentication#active-sessions: no crash, login offered."""
    async with staged() as (app, pilot, chat):
        text = "The agent requires a login: expired"
        chat.set_problem(Problem("login_needed", text, "", ("log_in", "dismiss")))
        await until(pilot, lambda: "expired" in text_of(app) and "Log in" in text_of(app))
        await pilot.press("alt+r")
        assert asked(app) == [("retry",)]
        methods = (AuthMethod("key", "An API key", description="from the settings page"),)
        answers: list[object] = []

        async def ask() -> None:
            answers.append(await chat.questions.ask("login", methods))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await until(pilot, lambda: "An API key" in text_of(app))
            assert "from the settings page" in text_of(app)
            await until(pilot, lambda: is_asked(app))
            chat.clock.now += 5  # type: ignore[attr-defined]
            await pilot.press("1")
            await until(pilot, lambda: answers)
        assert answers == ["key"]


async def test_a_crash_shows_no_local_variables_and_rings_no_bell(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Ours: Textual's page has the values of variables, among them keys and what was said."""
    canary = "sk-canary" + "0" * 20

    def fail(held: str) -> float:
        return len(held) / 0

    async def crash() -> None:
        async with staged() as (app, pilot, _):
            app.call_later(fail, canary)
            await pilot.pause()

    with pytest.raises(ZeroDivisionError):
        await crash()
    shown = "".join(capsys.readouterr())
    assert "ZeroDivisionError" in shown
    assert canary not in shown
    assert "\a" not in shown
