"""Every kind of entry has its block."""

from __future__ import annotations

from typing import get_args

from accord.terminal.model.chat import Chat, Entry, Remark
from accord.terminal.render.entries.registry import FACTORIES, block_of
from accord.terminal.render.entries.unknown import GenericBlock
from accord.transcript import Notice
from tests.terminal.render.scene import a_look, check, text_of


def test_every_entry_that_a_chat_can_have_is_in_the_table() -> None:
    """Required: nothing is dropped."""
    assert set(get_args(Entry)) == set(FACTORIES)


def test_a_block_is_made_of_its_entry() -> None:
    """The table leads to functions that exist."""
    chat = Chat("/w")
    for entry in (Remark("x"), Notice("info", "x")):
        assert block_of(entry, chat).entry is entry


def test_a_kind_that_nobody_knows_is_shown_generically() -> None:
    """Required: unknown kinds are shown."""

    class Strange(str):
        __slots__ = ()

    entry = Strange("\x1b[31mx\n" * 90)
    chat = Chat("/w")
    block = block_of(entry, chat)  # type: ignore[arg-type]
    assert isinstance(block, GenericBlock)
    lines = block.render(a_look(30), chat)
    check(lines, 30)
    assert text_of(lines).startswith("◦ Strange")
