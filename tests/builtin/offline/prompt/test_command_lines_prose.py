"""Prose never becomes a shell command."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accord.builtin.offline.intent_dispatch import ACTIONS
from accord.builtin.offline.prompt.command_lines import command_line
from accord.builtin.offline.prompt.intent_parser import parse
from accord.builtin.offline.prompt.known_programs import PROGRAMS
from tests.builtin.offline.prompt.everyday import ROWS
from tests.docs.blocks import ROOT

RUNS = frozenset({"run"})


def commands_in(text: str) -> list[str]:
    """The commands that a text would run, also as one of several things to do."""
    intent = parse(text)
    if intent.name == "several":
        return [one for part in intent.arguments.values() for one in commands_in(part)]
    return [intent["command"]] if intent.name in RUNS else []


@pytest.mark.parametrize(("typed", "meant"), ROWS, ids=[typed for typed, _ in ROWS])
def test_only_a_command_is_run(typed: str, meant: str) -> None:
    """Issue 14: "run the linter" executed `linter`; only `$`, a known tool or quotes do."""
    if meant.startswith("["):
        assert parse(typed).name == meant[1:-1]
        assert commands_in(typed) == []
    else:
        assert commands_in(typed) == ([meant] if meant else [])


@pytest.mark.parametrize("mark", ["`", '"', "'"])
def test_quotes_hold_one_line(mark: str) -> None:
    """Issue 14: a command is one line unless it is fenced."""
    assert parse(f"run {mark}echo a\necho b{mark}").name == "several_lines"


def test_the_sentences_are_many() -> None:
    """Issue 14: at least 150 that are none."""
    assert len([typed for typed, meant in ROWS if not meant or meant.startswith("[")]) >= 150
    assert len({typed for typed, _ in ROWS}) == len(ROWS)


SUBJECTS, NOUNS, VERBS, GLUE = (
    part.split()
    for part in (
        """I you we they it this that these somebody nobody my your our the a some every no any
which what who why how when where""",
        """tests test linter build server file folder bug error branch commit function class config
user list tree node cat head tail make go git npm pytest python docker cargo button login page
cache token parser report signature database migration README main.py src/app.py v2 API 3 10
yarn black ruff mypy issue line loop""",
        """run runs execute make makes fix fixes fails crashes hangs is are was does says shows
takes find sort kill cut echo touch go start stop check checks install build use rename
explain delete update
works breaks add push pull commit deploy sleep""",
        """and then but because so if while with without after before for of on in to from at by not
please again now always never too very really just also or than as instead everywhere""",
    )
)
MARKS = ["", "", "", ".", "!", "?", "...", ",", ";", ":", " :)"]

words = st.sampled_from([*SUBJECTS, *NOUNS, *VERBS, *GLUE])
sentence_words = st.sampled_from([*SUBJECTS, *GLUE])


@st.composite
def prose(draw: st.DrawFn) -> str:
    """Words in any order, with one at least that only sentences have behind the first."""
    before = draw(st.lists(words, min_size=1, max_size=5))
    telling = draw(sentence_words)
    after = draw(st.lists(words, max_size=5))
    text = " ".join([*before, telling, *after])
    if draw(st.booleans()):
        text = text[0].upper() + text[1:]
    return text + draw(st.sampled_from(MARKS))


@given(prose())
@example("git status shows nothing")
@example("make all the tests")
@example("run go test with care")
def test_random_prose_is_no_command(text: str) -> None:
    """Issue 14: everything that is not a command is understood, or honestly not."""
    assert command_line(text) is None
    # `echo` prints whatever words it is given.
    assert text.startswith("echo ") or command_line(text, is_marked=True) is None
    for command in commands_in(text):
        # Of several things to do one may be a command; then it is a known one, whole.
        assert command == "git diff" or command_line(command, is_marked=True) == command
        assert not set(command.lower().split()[1:]) & {"the", "fails", "please", "because"}
    assert parse(text).name in ACTIONS


@given(st.lists(st.sampled_from(NOUNS + VERBS + GLUE + SUBJECTS), min_size=1, max_size=7))
def test_no_program_that_is_not_known_is_run(parts: list[str]) -> None:
    """What is run without a mark begins with a program of the table, or with a path."""
    for text in (" ".join(parts), f"run {' '.join(parts)}", f"please execute {' '.join(parts)}"):
        for command in commands_in(text):
            first = command.split()[0]
            assert first in PROGRAMS or "/" in first or first.endswith(".py")


@given(st.text(max_size=80))
def test_any_text_can_be_judged(text: str) -> None:
    """Ours: bad input is data; what is a command once is one again."""
    command = command_line(text)
    assert command is None or command_line(command) == command
    assert command is None or "\n" not in command


def test_no_sentence_of_our_own_pages_is_a_command() -> None:
    """Ours: thousands of sentences about commands, written for other reasons."""
    found = 0
    for page in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "ARCHITECTURE.md"]:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for part in re.split(r"(?<=[.!?:])\s+|\n\n|\n[-|#]", text):
            sentence = " ".join(part.split()).strip("|# ")
            # Headings name commands of ours.
            if sentence and not sentence.startswith("accord "):
                found += 1
                assert commands_in(sentence) == [], sentence
    assert found > 2_000
