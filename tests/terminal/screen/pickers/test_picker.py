"""The generic list: keys, mouse, search, room."""

from __future__ import annotations

import pytest

from accord.terminal.screen.pickers.picker import NamePicker, RowList
from accord.terminal.screen.pickers.search_matches import Row
from tests.hang_limit import cpu_seconds_max
from tests.terminal.screen.harness.stage import CJK, HOSTILE, LONG, NARROW, WIDE, Stage, place_of


class Fruits(NamePicker):
    """A picker to test with."""

    heading = "Fruits"
    empty_text = "No fruits."

    def __init__(self, *rows: Row) -> None:
        super().__init__()
        self.show(rows)


def _push(app: Stage, picker: NamePicker) -> list[str | None]:
    results: list[str | None] = []
    app.push_screen(picker, results.append)
    return results


ROWS = (
    Row("apple", "Apple", "round", "red", "Common"),
    Row("pear", "Pear", "long", "green", "Common", current=True),
    Row("durian", "Durian", LONG, "smells", "Rare"),
    Row("stone", "Stone", "no fruit", enabled=False, group="Rare"),
)


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_rows_are_shown_with_groups_notes_and_what_is_set(size: tuple[int, int]) -> None:
    """Contract."""
    app = Stage()
    async with app.run_test(size=size) as pilot:
        _push(app, Fruits(*ROWS))
        await pilot.pause()
        assert "Fruits" in app.line_with("╭")
        assert "Common" in app.text
        assert "❯ ● Pear  long" in app.line_with("Pear")
        assert app.line_with("Pear").rstrip(" │").endswith("green")
        # What has no room in its row is told below.
        await pilot.press("down")
        await pilot.pause()
        assert "❯   Durian" in app.text
        assert app.text.count("long long long") >= 2
        assert "Enter choose" in app.text


async def test_keys_choose_and_close() -> None:
    """Contract: everything by the keyboard."""
    app = Stage()
    async with app.run_test(size=NARROW) as pilot:
        results = _push(app, Fruits(*ROWS))
        await pilot.press("up", "enter")
        await pilot.pause()
        assert results == ["apple"]
        results = _push(app, Fruits(*ROWS))
        await pilot.press("escape")
        await pilot.pause()
        assert results == [None]
        results = _push(app, Fruits(*ROWS))
        await pilot.press("ctrl+end", "enter")
        await pilot.pause()
        # It can be looked at only.
        assert results == []
        await pilot.press("ctrl+home", "pagedown", "pageup", "ctrl+n", "ctrl+p", "enter")
        await pilot.pause()
        assert results == ["apple"]


async def test_typing_searches_and_an_empty_list_says_so() -> None:
    """Contract."""
    app = Stage()
    async with app.run_test(size=NARROW) as pilot:
        results = _push(app, Fruits(*ROWS))
        await pilot.press(*"rou")
        await pilot.pause()
        assert "Pear" not in app.text
        # The group of what was found stands beside it, for there are no headings.
        assert "Apple" in app.text
        await pilot.press(*"zz")
        await pilot.pause()
        assert "No matches." in app.text
        await pilot.press("enter")
        assert results == []
        await pilot.press("escape")
        _push(app, Fruits())
        await pilot.pause()
        assert "No fruits." in app.text
        await pilot.press("down", "enter")
        await pilot.resize_terminal(80, 12)
        await pilot.pause()
        assert "No fruits." in app.text


async def test_a_click_chooses() -> None:
    """Contract: everything by the mouse."""
    app = Stage()
    async with app.run_test(size=WIDE) as pilot:
        results = _push(app, Fruits(*ROWS))
        await pilot.pause()
        await pilot.click(offset=place_of(app, "Common"))
        assert results == []
        await pilot.click(offset=place_of(app, "Durian"))
        await pilot.pause()
        assert results == ["durian"]
        results = _push(app, Fruits(*ROWS))
        await pilot.pause()
        await pilot.click(offset=place_of(app, "close"))
        await pilot.pause()
        assert results == [None]


@pytest.mark.parametrize("theme", ["accord-dark", "accord-none"])
async def test_no_text_breaks_the_frame(theme: str) -> None:
    """Issue: everything an agent sends is untrusted; wide letters."""
    app = Stage(theme=theme)
    from accord.terminal.model.text.display_text import one_line

    texts = [one_line(text) for text in (HOSTILE, LONG, CJK)]
    rows = [Row(str(at), text, text, text, text) for at, text in enumerate(texts)]
    async with app.run_test(size=NARROW) as pilot:
        _push(app, Fruits(*rows))
        await pilot.pause()
        from rich.cells import cell_len

        framed = [line for line in app.lines if "│" in line]
        edges = {cell_len(line[: line.rindex("│")]) for line in framed}
        assert len(edges) == 1
        assert "[red]bold[/red]" in app.text


async def test_thousands_of_rows_are_quick() -> None:
    """Issue: drawing costs what is seen, searching a few milliseconds."""
    rows = [Row(str(at), f"Session number {at}", "/home/me", "today") for at in range(5000)]
    app = Stage()
    async with app.run_test(size=WIDE) as pilot:
        picker = Fruits(*rows)
        results = _push(app, picker)
        await pilot.pause()
        with cpu_seconds_max(2):
            picker.rows.find("number 4321")
            picker.action_move(0)
        assert picker.rows.chosen is rows[4321]
        picker.rows.find("")
        await pilot.press("ctrl+end")
        await pilot.pause()
        assert "Session number 4999" in app.text
        assert picker.query_one(RowList).scroll_offset.y > 4900
        await pilot.press("enter")
        await pilot.pause()
        assert results == ["4999"]
        # No assertion on time proper: a hundredfold of what it takes.
