"""The page of `accord trace`, as a person uses it."""

from pathlib import Path
from typing import Any

import pytest

from accord.tracing.display.html_page import page_of
from accord.tracing.recording_file import read_recording
from tests.tracing.samples import HOSTILE, Tape, broken, hostile, long, talk


def open_page(page: Any, tape: Tape, folder: Path) -> None:
    file = folder / "trace.html"
    file.write_text(page_of(read_recording(tape.lines), name="talk.jsonl"), encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector("#spacer .row")


def words(page: Any, selector: str) -> list[str]:
    """The text of all elements that fit."""
    found: list[str] = page.locator(selector).all_inner_texts()
    return [text.replace("\n", " ") for text in found]


def test_rows_are_turns_pairs_streams_and_tool_calls(
    page: Any, complaints: list[str], tmp_path: Path
) -> None:
    """Issue 4: a timeline of turns, pairs with their latency, streams as one row."""
    open_page(page, talk(), tmp_path)
    assert words(page, "#spacer .row.turn .words") == ["Mend the area, please end_turn"]
    assert "×9" in words(page, "#spacer .row.stream .words")[0]
    assert words(page, "#spacer .row.permission .took") == ["2.40 s"]
    assert page.locator("#spacer .row").count() == 15
    assert page.locator("#spacer .fall i").count() == 15
    assert complaints == []


def test_a_tool_call_shows_its_life_its_diff_and_its_terminal(
    page: Any, complaints: list[str], tmp_path: Path
) -> None:
    """Issue 4: tool calls with their life, diffs and terminals rendered."""
    open_page(page, talk(), tmp_path)
    page.click("#spacer .row.tool >> nth=0")
    assert [text.split("+")[0] for text in words(page, "#detail .life span")] == [
        "pending",
        "in_progress",
        "completed",
    ]
    assert words(page, "#detail pre.diff .del") == ["-     return width + height"]
    assert words(page, "#detail pre.diff .add") == ["+     return width * height"]
    page.click("#spacer .row.tool >> nth=1")
    assert "2 passed in 0.01s" in page.inner_text("#detail pre.terminal")
    assert words(page, "#detail pre.terminal .a32") == [".."]
    page.click("#spacer .row.permission")
    assert words(page, "#detail .options .chosen") == ["✓ Allow once (allow_once)"]
    assert complaints == []


def test_search_and_filters_narrow_the_list(page: Any, tmp_path: Path) -> None:
    """Issue 4: search, filter by session, method, direction."""
    open_page(page, talk(), tmp_path)
    page.fill("#search", "WIDTH * HEIGHT")
    page.wait_for_selector("#count:has-text('3 of 15')")
    page.keyboard.press("Escape")
    page.wait_for_selector("#count:has-text('15 rows')")
    page.select_option("#by-method", "terminal/output")
    assert page.locator("#spacer .row").count() == 1
    page.select_option("#by-method", "")
    page.select_option("#by-direction", "client")
    assert words(page, "#spacer .row .what") == ["initialize", "session/new", "session/prompt"]
    page.select_option("#by-direction", "")
    page.select_option("#by-session", "s-1")
    assert "initialize" not in words(page, "#spacer .row .what")


def test_the_raw_frame_is_one_click_away(page: Any, tmp_path: Path) -> None:
    """Issue 4: jump to the raw frame."""
    tape = talk()
    open_page(page, tape, tmp_path)
    page.click("#spacer .row >> nth=0")
    assert '"protocolVersion": 1' in page.inner_text("#detail .frame pre >> nth=0")
    page.click("#detail .frame button >> nth=0")
    assert page.inner_text("#detail .frame pre >> nth=0").startswith('{"jsonrpc": "2.0", "id": 1')
    page.check("#every-frame")
    assert page.inner_text("#count") == f"{len(tape.lines) - 1} frames"
    page.goto(page.url.split("#")[0] + "#3")
    page.reload()
    page.wait_for_selector("#detail .frame.lit")
    assert "session/new" in page.inner_text("#detail h2")


def test_broken_rules_are_marked_listed_and_led_to(page: Any, tmp_path: Path) -> None:
    """Issue 4: invalid frames marked with the rule they break."""
    open_page(page, broken(), tmp_path)
    assert page.inner_text("#tab-problems .badge") == "10"
    assert "TR-STDIO-03" in words(page, "#spacer .rule")
    page.click("#tab-problems")
    page.click("#view-problems tbody tr:has-text('V1-TOOL-13')")
    assert "tool call: Tool" in page.inner_text("#detail h2")
    page.check("#only-problems")
    assert page.locator("#spacer .row:not(:has(.rule))").count() == 0


def test_figures_lead_to_their_calls(page: Any, tmp_path: Path) -> None:
    """Issue 4: per-method p50/p99."""
    open_page(page, talk(), tmp_path)
    page.click("#tab-figures")
    line = "#view-figures tbody tr:has-text('session/request_permission')"
    assert page.inner_text(line).split("\t")[5:] == ["2.40 s", "2.40 s", "2.40 s"]
    page.click(line)
    assert words(page, "#spacer .row .what") == ["permission"]


def test_keys_move_through_the_list(page: Any, tmp_path: Path) -> None:
    """Ours: nobody should need a mouse."""
    open_page(page, talk(), tmp_path)
    page.focus("#scroller")
    for key in ("ArrowDown", "j", "ArrowDown", "k"):
        page.keyboard.press(key)
    assert "session/new" in page.inner_text("#detail h2")
    page.keyboard.press("End")
    assert "The area is a product" in page.inner_text("#detail h2")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"


def test_nothing_in_a_recording_runs_or_asks_for_anything(
    page: Any, complaints: list[str], tmp_path: Path
) -> None:
    """Issue 4: hostile content escaped."""
    open_page(page, hostile(), tmp_path)
    for at in range(page.locator("#spacer .row").count()):
        page.click(f"#spacer .row >> nth={at}")
    page.click("#tab-figures")
    page.click("#tab-problems")
    assert page.title() == "talk.jsonl – accord trace"
    assert page.locator("img").count() == 0
    assert complaints == []
    page.click("#tab-timeline")
    assert HOSTILE in page.inner_text("#spacer .row.turn")


def test_an_empty_recording_opens(page: Any, complaints: list[str], tmp_path: Path) -> None:
    """Ours: an agent that said nothing."""
    file = tmp_path / "empty.html"
    file.write_text(page_of(read_recording(Tape().lines)), encoding="utf-8")
    page.goto(file.as_uri())
    assert page.inner_text("#count") == "0 rows"
    assert complaints == []


@pytest.mark.slow
def test_a_hundred_thousand_frames_are_a_list_of_few_elements(
    page: Any, complaints: list[str], tmp_path: Path
) -> None:
    """Issue 4: a virtual list; the times of this are printed by benchmarks, not asserted."""
    open_page(page, long(100_000), tmp_path)
    page.check("#every-frame")
    assert page.inner_text("#count").endswith("frames")
    page.evaluate("document.getElementById('scroller').scrollTop = 1e9")
    page.wait_for_selector("#spacer .row:has-text('end')")
    assert page.locator("#spacer .row").count() < 100
    page.uncheck("#every-frame")
    page.fill("#search", "Prompt number 17")
    page.wait_for_selector("#count:has-text('11 of ')")
    assert complaints == []


@pytest.mark.parametrize("size", [(700, 900), (1400, 850)])
def test_nothing_sticks_out_at_either_size(
    page: Any, tmp_path: Path, size: tuple[int, int]
) -> None:
    """Issue 4: looked at in two sizes."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    open_page(page, talk(), tmp_path)
    page.click("#spacer .row.tool >> nth=0")
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= size[0]
    box = page.locator("#detail").bounding_box()
    assert box["height"] > 200
