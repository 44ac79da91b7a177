"""Which lexer colours which code, and when it is looked for."""

from __future__ import annotations

import pytest
from rich.style import Style

from accord.terminal.render import syntax_colours as code
from accord.terminal.render.conversation_colours import DARK, NONE
from accord.terminal.render.syntax_colours import Code, lexer_for


@pytest.mark.parametrize(
    ("named", "language"),
    [
        ("python", "Python"),
        ("c++", "C++"),
        ("src/main.py", "Python"),
        ("part.tsx", "TSX"),
        ("makefile", "Makefile"),
        (".bashrc", "Bash"),
    ],
)
def test_a_language_is_known_by_its_name_and_by_a_file(named: str, language: str) -> None:
    """Demanded by the issue: highlighted code, in answers and in diffs."""
    lexer = lexer_for(named)
    assert lexer is not None
    assert lexer.name == language


@pytest.mark.parametrize(
    "named", ["", "pyt", "no-such-language", "notes.zzz", "x" * 100, "..", "."]
)
def test_what_is_no_language_is_shown_plain_without_a_search(
    named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pygments would look through all packages that there are, for as long as a key may take."""

    def search(*_: object, **__: object) -> None:
        raise AssertionError("it was searched for")

    monkeypatch.setattr("pygments.lexers.find_plugin_lexers", search)
    lexer_for.cache_clear()
    assert lexer_for(named) is None


def test_a_name_that_still_grows_makes_no_lexer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fence comes letter by letter: "java" on the way to "javascript" is not a language yet."""
    asked: list[str] = []

    def lexer(name: str) -> None:
        asked.append(name)

    monkeypatch.setattr(code, "lexer_for", lexer)
    for name in ("j", "java", "javascript"):
        assert Code(name, DARK).runs([""]) == [[("", Style.null())]]
    assert asked == []
    Code("javascript", DARK).runs(["let a"])
    assert asked == ["javascript"]


def test_without_colours_there_is_no_lexer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Demanded by the issue: a theme of no colour."""
    monkeypatch.setattr(code, "lexer_for", None)
    assert Code("python", NONE).runs(["a = 1"]) == [[("a = 1", Style.null())]]
