"""Lines of parts: what fits, and what goes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from accord.terminal.screen.widgets.clickable_line import Part, PartsLine, fit
from tests.terminal.screen.harness.stage import CJK, Stage

PLAIN = Style()


def test_what_weighs_least_goes_first() -> None:
    """Contract."""
    parts = [Part("agent", PLAIN, 9), Part("cost", PLAIN, 1), Part("model", PLAIN, 5)]
    assert [part.text for part in fit(parts, 20)] == ["agent", "cost", "model"]
    assert [part.text for part in fit(parts, 13)] == ["agent", "model"]
    assert [part.text for part in fit(parts, 9)] == ["agent"]


def test_what_may_be_cut_is_cut_before_anything_goes() -> None:
    """Contract."""
    parts = [Part("agent", PLAIN, 9), Part("a long model name", PLAIN, 5, least=6)]
    assert [part.text for part in fit(parts, 13)] == ["agent", "a long…"]
    assert [part.text for part in fit(parts, 9)] == ["agent"]


@given(
    st.lists(
        st.builds(
            Part,
            st.text("ab漢字 👍", max_size=12),
            st.just(PLAIN),
            st.integers(1, 5),
            st.none() | st.integers(1, 6),
        ),
        max_size=6,
    ),
    st.integers(12, 40),
    st.integers(0, 3),
)
def test_what_fits_is_never_too_wide(parts: list[Part], width: int, gap: int) -> None:
    """Contract, for all that may go; one part alone is at most 24 cells here."""
    found = fit(parts, width, gap)
    used = sum(part.cells for part in found) + gap * max(len(found) - 1, 0)
    assert used <= max(width, 24)


class Line(PartsLine):
    """Two parts, one to be clicked."""

    clicked: str = ""

    def parts(self, width: int) -> list[Part]:
        return [Part("漢字 ", PLAIN), Part("press", PLAIN, target="it"), Part(CJK, PLAIN)]

    def pressed(self, target: str) -> None:
        self.clicked = target


async def test_a_line_is_cut_and_its_parts_can_be_clicked() -> None:
    """Contract: wide letters count as two columns."""
    line = Line()
    app = Stage(line)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert app.lines[0].startswith("漢字 press")
        await pilot.click(line, offset=(3, 0))
        assert line.clicked == ""
        await pilot.click(line, offset=(6, 0))
        assert line.clicked == "it"
