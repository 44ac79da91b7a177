"""The check of words sees what is not plain English."""

import ast
from pathlib import Path

import pytest

from scripts import check_words


@pytest.mark.parametrize(
    "text",
    [
        "A tool for who debugs.",
        "The job of who leaves.",
        "# Who has less goes first.",
        "the so-manieth of its row",
        "draws the picture anew",
        "What shall be done?",
        "it is no number",
        "they are no numbers",
        "Who comes second is refused.",
        "It ends after so many seconds.",
    ],
)
def test_odd_phrases_are_named(text: str) -> None:
    """Issue 15: the worst patterns do not come back."""
    [(line, _, advice)] = check_words.odd_phrases(f"x = 1\n{text}")
    assert line == 2
    assert advice


@pytest.mark.parametrize(
    "text",
    [
        "There is no number.",
        "There are no numbers.",
        "It is no longer there.",
        "whoever has it",
        "A person who debugs.",
        "Who decides",
        "Who uses it now?",
        "for so long that it ends",
    ],
)
def test_plain_english_passes(text: str) -> None:
    """Ours."""
    assert list(check_words.odd_phrases(text)) == []


def test_a_docstring_that_repeats_the_name_is_named() -> None:
    """Issue 15: a docstring tells something, or is not there."""
    tree = ast.parse(
        'def name(self):\n    """The name."""\ndef size():\n    """How many bytes it has."""\n'
    )
    assert list(check_words.stubs(tree)) == [(1, "The name.")]
    assert list(check_words.stubs(ast.parse('"""Sessions."""\n'))) == [(1, "Sessions.")]


def test_a_docstring_starts_with_a_verb_or_a_noun() -> None:
    """Issue 15: the subject of a sentence is a thing."""
    tree = ast.parse(
        'def one():\n    """Those that wait for it."""\n'
        'def other():\n    """Return the tasks that wait."""\n'
    )
    assert list(check_words.without_subject(tree)) == [(1, "Those that wait for it.")]


def test_code_in_documents_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: it quotes what a program says."""
    monkeypatch.setattr(check_words, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("`it is no number`\n\n```\nanew\n```\n\nNow draw it anew.\n")
    assert list(check_words.complaints(page)) == ['page.md:7: "anew": again']
