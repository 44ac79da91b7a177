"""Lines out of pieces, and a block that renders when it must."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from accord.machine.console.control_characters import visible
from accord.terminal.model.chat import Chat, Remark
from accord.terminal.render.block import CachedBlock, Fold
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import cut, fitted, indented, lines_needed, strip_of, wrapped
from tests.terminal.render.scene import a_look, text_of

PLAIN = Style.null()


class Counted(CachedBlock[Remark]):
    """Counts how often it rendered."""

    is_foldable = True

    def lines(self, look: Look, chat: Chat) -> list[Strip]:
        del chat
        self.targets[3] = Fold("part")
        self.rendered = getattr(self, "rendered", 0) + 1
        return [strip_of((f"{look.width} {self.folded}", PLAIN))]


def test_a_block_renders_when_something_changed_and_not_else() -> None:
    """The promise of `CachedBlock`."""
    block, chat = Counted(Remark("x")), Chat("/w")
    block.render(a_look(10), chat)
    block.render(a_look(10), chat)
    assert block.rendered == 1
    block.toggle()
    assert text_of(block.render(a_look(10), chat)) == "10 True"
    block.render(a_look(20), chat)
    block.invalidate()
    block.render(a_look(20), chat)
    assert block.rendered == 4
    assert block.estimate(a_look(20)) == 1
    block.forget()
    assert block.targets == {}
    assert block.estimate(a_look(20)) == 1


def test_what_a_line_of_a_block_means() -> None:
    """The head folds; other lines mean what the block says."""
    block = Counted(Remark("words"))
    block.render(a_look(), Chat("/w"))
    assert [block.target_at(line) for line in (0, 1, 3)] == [Fold(), None, Fold("part")]
    assert not block.toggle("no such part")
    assert block.concerns(block.entry)
    assert block.text() == "words"


@given(st.text().map(visible), st.integers(2, 40))
def test_wrapped_lines_fit_and_lose_no_letter(text: str, width: int) -> None:
    """Whatever is wrapped is all there."""
    lines = wrapped(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(st.text().map(visible), st.integers(0, 40))
def test_what_is_cut_fits(text: str, width: int) -> None:
    """An ellipsis counts."""
    assert cell_len(cut(text.replace("\n", " "), width)) <= width


def test_lines_stand_behind_marks_and_too_long_ones_are_cut() -> None:
    """The pieces that all blocks are made of."""
    strips = [strip_of(("one", PLAIN)), strip_of(("two", PLAIN))]
    assert text_of(indented(strips, ("> ", PLAIN))) == "> one\n  two"
    assert text_of(indented(strips, ("> ", PLAIN), ("| ", PLAIN))) == "> one\n| two"
    assert text_of(fitted(strips, 2)) == "on\ntw"
    assert lines_needed("a\nb" * 10, 5) >= 10
