"""The dialog that asks for a permission: what it shows, what it answers, what it never answers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.client.permissions.request import (
    CANCELLED,
    OWN_OPTIONS,
    Decision,
    PermissionOption,
    Scope,
)
from accord.client.wire.draft.permission_requests import OPTIONS as DRAFT_OPTIONS
from accord.terminal.screen.dialogs.dialog import ELSEWHERE, TOO_EARLY
from accord.terminal.screen.widgets.scrollable_lines import Body
from accord.transcript.items.tool_call import FileDiff
from tests.terminal.screen.harness.question_stage import (
    FOLDER,
    HOSTILE,
    a_call,
    a_request,
    asked,
    option,
)

NARROW = (60, 20)
# Everything that a user may press without thinking.
KEYS = ("1", "2", "3", "4", "9", "y", "a", "n", "v", "s", "enter", "space", "escape")
MOVES = ("up", "down", "left", "right", "tab", "pageup", "pagedown", "home", "end", "x")


@pytest.mark.rule("D26-21")
async def test_it_says_who_asks_why_and_what_would_happen() -> None:
    """Issue: shows why and what will happen: the diff and the path."""
    diff = FileDiff(f"{FOLDER}/src/app.py", old_text="a = 1\n", new_text="a = 2\n")
    request = a_request(reason="The **value** is wrong", tool_call=a_call(diff))
    async with asked("permission", request, behind=2) as scene:
        text = scene.text
        for words in ("1 of 3 · Demo agent asks", "The value is wrong", "src/app.py", "a = 2"):
            assert words in text
        assert "a = 1" in text
        assert FOLDER not in text


async def test_a_command_is_shown_in_full_with_its_folder() -> None:
    """Issue: the exact command and folder."""
    request = a_request(
        title="Run it", kind="execute", paths=(), command="make \x1b[8mhidden", cwd=f"{FOLDER}/sub"
    )
    async with asked("permission", request) as scene:
        assert "make ⟨U+001B⟩[8mhidden" in scene.text
        assert "In       sub" in scene.text


@pytest.mark.parametrize("title", ["make all", "Run make all", "`make all`"])
async def test_a_command_that_is_the_title_too_is_shown_once(title: str) -> None:
    """Ours: a long command twice hides what matters."""
    request = a_request(title=title, kind="execute", paths=(), command="make all")
    async with asked("permission", request) as scene:
        body = scene.dialog.query_one(Body)
        assert body.shown.count("make all") == 1


async def test_what_is_outside_of_the_project_is_marked() -> None:
    """Brief: paths relative to the folder, marked when outside of the roots."""
    async with asked("permission", a_request(paths=("/etc/passwd", "a.txt"))) as scene:
        assert "/etc/passwd (outside the project)" in scene.text
        scene.chat.roots = ("/etc",)
        scene.dialog.redraw()
        await scene.pilot.pause()
        assert "outside" not in scene.text


async def test_the_tool_of_a_server_is_shown_with_its_arguments() -> None:
    """Issue: the MCP tool and its arguments."""
    call = a_call(given={"title": "A bug", "labels": ["x"]})
    request = a_request(paths=(), kind="other", mcp_tool="tracker/create", tool_call=call)
    async with asked("permission", request) as scene:
        assert "create of tracker" in scene.text
        assert '"title": "A bug",' in scene.text


@pytest.mark.rule("V2-PERM-09")
async def test_an_unknown_subject_is_asked_about_generically() -> None:
    """Rules: a generic prompt; nobody guesses what it is."""
    request = a_request(title="Open the airlock", kind="other", paths=())
    async with asked("permission", request) as scene:
        assert "Open the airlock" in scene.text
        assert "does not say what exactly" in scene.text
        await scene.press("n")
        assert await scene.answer() == Decision("reject_once")


@pytest.mark.rule("D26-21")
async def test_where_the_agent_did_not_ask_we_do_and_say_so() -> None:
    """Rules: a client asks by default for writes, and offers remembering."""
    async with asked("permission", a_request(origin="write")) as scene:
        assert "Accord asks because the agent did not ask before writing." in scene.text
        assert "s  ✓ Allow changing src/app.py for this session" in scene.text
        assert "e  ✓ Allow every edit in this folder for this session" in scene.text
        await scene.press("f")
        assert await scene.answer() == Decision("allow_once", "workspace")


async def test_what_would_be_written_is_shown_where_the_agent_did_not_ask(tmp_path: Path) -> None:
    """Issue 6: what will happen; a write is a change like any other."""
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    paths = (str(tmp_path / "a.txt"),)
    request = a_request(origin="write", paths=paths, new_text="one\nother \x1b[31mwords\n")
    async with asked("permission", request) as scene:
        assert "- two" in scene.text
        assert "+ other ⟨U+001B⟩[31mwords" in scene.text
    os.mkfifo(tmp_path / "pipe")
    for name in ("missing.txt", "pipe"):
        request = a_request(origin="write", paths=(str(tmp_path / name),), new_text="all new\n")
        async with asked("permission", request) as scene:
            assert "+ all new" in scene.text


@pytest.mark.parametrize(
    ("key", "chosen"),
    [
        ("1", Decision("allow_once")),
        ("y", Decision("allow_once")),
        ("2", Decision("allow_once", "workspace")),
        ("f", Decision("allow_once", "workspace")),
        ("3", Decision("allow_always")),
        ("a", Decision("allow_always")),
        ("4", Decision("reject_once")),
        ("n", Decision("reject_once")),
        ("5", Decision("reject_always")),
        ("v", Decision("reject_always")),
        ("escape", Decision("reject_once")),
    ],
)
async def test_every_answer_has_a_key(key: str, chosen: Decision) -> None:
    """Issue 12: one list of answers, the agent's and ours; Esc is reject."""
    async with asked("permission", a_request()) as scene:
        await scene.press(key)
        assert await scene.answer() == chosen


@pytest.mark.parametrize(
    ("key", "chosen"),
    [
        ("y", Decision("yes")),
        ("s", Decision("yes", "session")),
        ("f", Decision("yes", "workspace")),
        ("n", Decision("no")),
        ("v", Decision("no", "workspace")),
    ],
)
async def test_an_agent_without_lasting_options_leaves_them_to_us(
    key: str, chosen: Decision
) -> None:
    """Issue 12: the same few keys as in the line mode."""
    options = (option("yes", "allow_once"), option("no", "reject_once"))
    async with asked("permission", a_request(options=options)) as scene:
        await scene.press(key)
        assert await scene.answer() == chosen


async def test_the_answer_that_is_gone_to_says_what_it_covers() -> None:
    """Issue 12: what is covered, for how long, and who remembers it."""
    async with asked("permission", a_request()) as scene:
        assert "Nothing is remembered." not in scene.text
        await scene.press("down")
        assert "Nothing is remembered." in scene.text
        await scene.press("down")
        assert "Allows changing src/app.py: always in this folder." in scene.text
        assert "Accord remembers it." in scene.text
        await scene.press("down")
        assert "The agent remembers this; only the agent can forget it." in scene.text


async def test_esc_is_cancelled_where_no_reject_was_offered() -> None:
    """Brief: never approve."""
    options = (option("yes", "allow_once"), option("never", "reject_always"))
    async with asked("permission", a_request(options=options)) as scene:
        await scene.press("escape")
        assert await scene.answer() == CANCELLED


async def test_enter_approves_nothing_before_an_option_was_gone_to() -> None:
    """Brief: Enter approves nothing unless an option is explicitly focused."""
    async with asked("permission", a_request()) as scene:
        await scene.press("enter", "space")
        assert not scene.is_answered
        await scene.press("down", "down", "up", "enter")
        assert await scene.answer() == Decision("allow_once")


async def test_the_mouse_chooses_an_answer() -> None:
    """Brief: by mouse too."""
    async with asked("permission", a_request()) as scene:
        await scene.click("✓ Always allow changing")
        assert await scene.answer() == Decision("allow_once", "workspace")


async def test_allowing_and_refusing_differ_by_more_than_colour() -> None:
    """Issue: allow green, reject red, always marked."""
    async with asked("permission", a_request(), theme="accord-none") as scene:
        for words in (
            "✓ Allow once",
            "✓ Always allow changing src/app.py in this folder  Accord remembers",
            "✓ Always allow  the agent remembers",
            "✗ Reject",
            "✗ Always reject  the agent remembers",
        ):
            assert words in scene.text


async def test_an_id_that_was_offered_twice_cannot_be_chosen() -> None:
    """Client: an ambiguous id does not count as an answer."""
    twice = (option("x", "allow_once"), option("x", "reject_once"), option("z", "reject_once"))
    async with asked("permission", a_request(options=twice)) as scene:
        assert scene.text.count("duplicate") == 2
        await scene.press("3", "y")
        await scene.click("- x")
        assert not scene.is_answered
        await scene.press("down", "enter")
        assert await scene.answer() == Decision("z")


async def test_an_option_of_an_unknown_kind_is_offered_as_what_it_is() -> None:
    """Rules: unknown kinds never count as approval; they can be chosen."""
    async with asked("permission", a_request(options=(option("m", "_maybe"),))) as scene:
        assert "unknown kind: _maybe" in scene.text
        await scene.press("1")
        assert await scene.answer() == Decision("m")


@pytest.mark.parametrize(("key", "scope"), [("s", "session"), ("f", "workspace")])
async def test_options_that_say_how_long_they_hold_are_our_own_answers(
    key: str, scope: Scope
) -> None:
    """Issue 12: the draft's scopes and ours are one notion, and it is we who remember."""
    async with asked("permission", a_request(options=DRAFT_OPTIONS), size=NARROW) as scene:
        await scene.press(key)
        assert await scene.answer() == Decision("once", scope)


async def test_a_key_that_comes_too_early_answers_nothing_and_is_told() -> None:
    """Issue: never answered by a stray key press."""
    async with asked("permission", a_request(), early=True) as scene:
        await scene.press("y", "enter", "escape", "ctrl+x")
        await scene.click("✓ Allow once")
        assert not scene.is_answered
        assert TOO_EARLY in scene.text
        assert [(one.key, one.character) for one in scene.app.early] == [
            ("y", "y"),
            ("enter", None),
            ("escape", None),
        ]
        scene.clock.now += 0.6
        await scene.press("y")
        assert await scene.answer() == Decision("allow_once")


async def test_typing_a_sentence_answers_nothing() -> None:
    """Issue: never answered by a stray key press; a sentence takes longer than the guard."""
    async with asked("permission", a_request(), early=True) as scene:
        for letter in "say any":
            await scene.press("space" if letter == " " else letter)
            scene.clock.now += 0.3
        assert not scene.is_answered
        assert "".join(one.character or "" for one in scene.app.early) == "say any"
        scene.clock.now += 0.3
        await scene.press("n")
        assert await scene.answer() == Decision("reject_once")


async def test_a_question_that_is_shown_again_is_guarded_again() -> None:
    """Ours: a key that was to choose a tab must not answer what is in the tab."""
    async with asked("permission", a_request()) as scene:
        place = scene.app.query_one("#asking")
        place.display = False
        await scene.until(lambda: not scene.dialog.is_on_screen)
        place.display = True
        await scene.until(lambda: scene.dialog.is_on_screen and scene.dialog.is_early)
        scene.dialog.focus()
        await scene.press("y")
        assert not scene.is_answered
        scene.clock.now += 1
        await scene.press("y")
        assert scene.is_answered


async def test_it_says_when_the_keys_are_for_somebody_else() -> None:
    """Ours: nobody wonders why nothing happens."""
    async with asked("permission", a_request()) as scene:
        assert ELSEWHERE not in scene.text
        scene.app.screen.set_focus(None)
        await scene.pilot.pause()
        assert ELSEWHERE in scene.text
        await scene.click("src/app.py")
        assert ELSEWHERE not in scene.text
        await scene.press("n")
        assert scene.is_answered


async def test_when_the_guard_goes_down_the_keys_are_said_again() -> None:
    """Ours: the hint is about now."""
    async with asked("permission", a_request(), early=True) as scene:
        await scene.press("y")
        scene.clock.now += 0.6
        scene.dialog.refresh_chat()
        await scene.pilot.pause()
        assert TOO_EARLY not in scene.text
        assert "Esc: no" in scene.text


@pytest.mark.parametrize(
    ("size", "theme"),
    [
        (NARROW, "accord-dark"),
        (NARROW, "accord-none"),
        ((100, 30), "accord-light"),
        ((34, 17), "accord-contrast"),
    ],
)
async def test_all_answers_are_seen_however_much_is_said(size: tuple[int, int], theme: str) -> None:
    """Issue: 60 columns work; resize never garbles."""
    text = "\n".join(f"line {number}" for number in range(200))
    diff = FileDiff(f"{FOLDER}/a.py", new_text=text)
    request = a_request(reason="word " * 300, tool_call=a_call(diff))
    async with asked("permission", request, size=size, theme=theme) as scene:
        for words in ("✓ Allow once", "✓ Always allow", "✗ Reject", "✗ Always reject"):
            assert words in scene.text
        body = scene.dialog.query_one(Body)
        assert body.max_scroll_y > 0
        await scene.press("pagedown")
        assert body.scroll_y > 0
        await scene.press("end")
        assert body.scroll_y == body.max_scroll_y
        await scene.press("home")
        assert body.scroll_y == 0
        await scene.pilot.resize_terminal(*NARROW)
        await scene.pilot.pause()
        assert "✗ Always reject" in scene.text


async def test_a_long_change_begins_at_once_and_is_all_there_a_moment_later() -> None:
    """Issue: no blocking of the loop; what is approved can be seen whole."""
    text = "\n".join(f"line {number}" for number in range(1000))
    request = a_request(tool_call=a_call(FileDiff(f"{FOLDER}/a.txt", new_text=text)))
    async with asked("permission", request) as scene:
        body = scene.dialog.query_one(Body)
        assert "line 5" in body.shown
        await scene.until(lambda: "line 999" in body.shown)
        await scene.press("end")
        assert "line 999" in scene.text


async def test_many_options_scroll_and_can_all_be_reached() -> None:
    """Ours: an agent may offer whatever it likes."""
    many = tuple(option(f"o{number}", "reject_once") for number in range(30))
    async with asked("permission", a_request(options=many), size=NARROW) as scene:
        await scene.press(*["up"] * 6)
        assert "▸" in scene.text
        assert "o24" in scene.text
        await scene.press("enter")
        assert await scene.answer() == Decision("o24")


async def test_nothing_that_an_agent_says_is_markup_or_a_command() -> None:
    """Issue: everything an agent sends is untrusted."""
    call = a_call(given={HOSTILE: HOSTILE}, said=HOSTILE)
    request = a_request(
        title=HOSTILE,
        reason=HOSTILE,
        tool_call=call,
        paths=(HOSTILE,),
        command=HOSTILE,
        mcp_tool=HOSTILE,
        options=(PermissionOption("x", HOSTILE, HOSTILE), *OWN_OPTIONS),
    )
    async with asked("permission", request, size=(100, 60)) as scene:
        scene.chat.agent_name = HOSTILE
        scene.dialog.refresh_chat()
        await scene.pilot.pause()
        text = scene.text
        assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(text)
        assert "[red]bold[/red]" in text


async def test_what_waits_behind_is_counted_anew() -> None:
    """Issue: several waiting requests queue with a count."""
    async with asked("permission", a_request(), behind=4) as scene:
        assert "1 of 5" in scene.text
        scene.chat.questions.count_behind = lambda: 0
        scene.dialog.refresh_chat()
        await scene.pilot.pause()
        assert "1 of" not in scene.text


_KINDS = st.sampled_from(["allow_once", "allow_always", "reject_once", "reject_always", "_odd"])
_OPTIONS = st.lists(
    st.builds(option, st.sampled_from("abcdef"), _KINDS), min_size=0, max_size=7
).map(tuple)


@settings(max_examples=8, deadline=None)
@given(_OPTIONS, st.lists(st.sampled_from([*KEYS, *MOVES]), max_size=8))
async def test_no_keys_at_all_answer_while_the_guard_is_up(
    options: tuple[PermissionOption, ...], keys: list[str]
) -> None:
    """Property: for arbitrary options and keys."""
    async with asked("permission", a_request(options=options), early=True) as scene:
        await scene.press(*keys)
        assert not scene.is_answered


@settings(max_examples=8, deadline=None)
@given(_OPTIONS, st.lists(st.sampled_from([*KEYS, *MOVES]), max_size=8))
async def test_whatever_is_pressed_the_answer_was_offered_and_esc_never_allows(
    options: tuple[PermissionOption, ...], keys: list[str]
) -> None:
    """Property: for arbitrary options and keys."""
    request = a_request(options=options)
    async with asked("permission", request) as scene:
        last = ""
        for key in [*keys, "escape"]:
            if not scene.is_answered:
                last = key
                await scene.pilot.press(key)
        decision = await scene.answer()
        chosen = request.option(decision.option_id or "")
        assert decision.option_id is None or chosen is not None
        if last == "escape":
            assert chosen is None or chosen.kind == "reject_once"
