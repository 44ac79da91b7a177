"""The first quiet moment."""

from __future__ import annotations

import gc

import pytest

from accord.terminal.engine import garbage_collection
from accord.terminal.render import syntax_colours as code
from accord.terminal.screen import app


async def test_what_colours_need_is_loaded_before_code_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Demanded by the issue: a key press is drawn within 50 ms, also when the first code comes."""
    kept: list[bool] = []
    monkeypatch.setattr(app, "keep_all", lambda: kept.append(True))
    code.lexer_for.cache_clear()

    await app.settle()

    assert code.lexer_for.cache_info().currsize == 1
    assert code.lexer_for("python") is not None
    assert code.lexer_for.cache_info().hits == 1
    assert kept == [True]


def test_what_is_kept_is_not_looked_through_again() -> None:
    """Demanded by the issue: looking for garbage in a whole session takes longer than a key may."""
    before = gc.get_threshold()
    gc.unfreeze()
    try:
        garbage_collection.look_seldom()
        garbage_collection.keep_all()
        assert gc.get_threshold() == garbage_collection.GARBAGE_THRESHOLDS
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
