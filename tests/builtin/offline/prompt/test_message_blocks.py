"""What the blocks of a prompt ask, as editors send them."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord import EmbeddedResource, ResourceLink
from accord.builtin.offline.prompt.editor_wrappers import TAGS, pieces_of
from accord.builtin.offline.prompt.message import read_message
from accord.schema import v2
from tests.builtin.offline.talk import everywhere, talking, write


def text(*parts: str) -> list[Any]:
    return [v2.TextContent(text=part) for part in parts]


def link(path: str) -> ResourceLink:
    return ResourceLink(name=path.rpartition("/")[2], uri=f"file://{path}")


def embedded(uri: str, content: str) -> EmbeddedResource:
    return EmbeddedResource(resource=v2.EmbeddedResourceResource(uri=uri, text=content))


# A row: the blocks, and what is asked by them.
ASKED: dict[str, tuple[list[Any], str]] = {
    "one block": (text("explain calc.py"), "explain calc.py"),
    # CodeCompanion repeats a prompt that was cancelled.
    "a repeated prompt": (text("$ sleep 60", "/map"), "/map"),
    # avante, in a session that goes on: the newest first, then what it tells about it.
    "avante": (
        text(
            "<previous_user_message>run the tests</previous_user_message>",
            "<previous_user_message>$ sleep 60</previous_user_message>",
            "<system_context>Continuing from previous session with 2 recent user messages"
            "</system_context>",
        ),
        "run the tests",
    ),
    "avante, in one block": (
        text(
            "<previous_user_message>run the tests</previous_user_message>\n"
            "<previous_user_message>$ sleep 60</previous_user_message>\n"
        ),
        "run the tests",
    ),
    # avante, with a session that it recovers: in their order, with the answers.
    "avante, recovering": (
        text(
            "<previous_user_message>$ sleep 60</previous_user_message>",
            "<previous_assistant_message>`sleep 60` was stopped.</previous_assistant_message>",
            "<previous_user_message>run the tests</previous_user_message>",
            "<system_context>Continuing from previous ACP session with 3 recent messages preserved"
            " for context</system_context>",
        ),
        "run the tests",
    ),
    # avante, with a new session: all that was ever said, without tags.
    "avante, beginning": (text("$ sleep 60", "run the tests"), "run the tests"),
    "avante, planning": (
        text("<system_context>Only plan, change nothing.</system_context>", "explain calc.py"),
        "explain calc.py",
    ),
    # agentic.nvim sends what it knows behind the message.
    "agentic": (
        text(
            "run the tests",
            "<environment_info>\n- Platform: Linux\n</environment_info>",
            "<selected_code>\n<path>/p/calc.py</path>\n<line_start>4</line_start>\n"
            "<line_end>5</line_end>\n<snippet>\nLine 4: def mean(v):\n"
            "Line 5:     pass\n</snippet>\n"
            "</selected_code>",
        ),
        "run the tests",
    ),
    "a buffer of CodeCompanion": (
        text(
            '<attachment filepath="calc.py" buffer_number="3">Here is the content from the file:'
            "\n\n```python\nx = 1\n```\n</attachment>",
            "explain this",
        ),
        "explain this",
    ),
    "other wrappers": (
        text(
            "<system-reminder>Be kind.</system-reminder>\n<user_query>\nrun the tests\n"
            "</user_query>"
        ),
        "run the tests",
    ),
    # Zed sends a file that stands in a sentence as a block between two texts.
    "a file in a sentence": (
        [*text("explain "), link("/p/a b.py"), *text(" please")],
        "explain /p/a\ue000b.py please",
    ),
    "a file in a command": (
        [*text("$ cat "), link("/p/a b;reboot.py")],
        "$ cat '/p/a b;reboot.py'",
    ),
    "a file behind a message": ([*text("run the tests"), link("/p/a.py")], "run the tests"),
    "a file before a message": ([link("/p/a.py"), *text("explain this")], "explain this"),
    "a link in the text": (text("explain [@a.py](file:///p/a.py)"), "explain /p/a.py"),
    "tags that are the person's own": (
        text("why does <b>this</b> fail?"),
        "why does <b>this</b> fail?",
    ),
    "a tag in the middle of a line": (
        text("what is <file>x</file> for?"),
        "what is <file>x</file> for?",
    ),
    "a message about tags": (
        text(
            "<previous_user_message>find <system_context> and </previous_user_message>"
            "</previous_user_message>"
        ),
        "find <system_context> and </previous_user_message>",
    ),
    "nothing": ([], ""),
}


@pytest.mark.parametrize("name", ASKED)
def test_the_newest_message_is_what_is_asked(name: str) -> None:
    """Issue 14: avante wraps prompts, CodeCompanion repeats them, others add what they know."""
    blocks, asked = ASKED[name]
    assert read_message(blocks).text == asked


def test_what_came_along_is_known_by_its_name_and_place() -> None:
    """Issue 14: a link, an embedded text, and what editors put into the text instead."""
    blocks, _ = ASKED["agentic"]
    [part] = read_message(blocks).attached
    assert (part.uri, part.first_line, part.is_part) == ("/p/calc.py", 4, True)
    assert part.text == "def mean(v):\n    pass"
    blocks, _ = ASKED["a buffer of CodeCompanion"]
    [whole] = read_message(blocks).attached
    assert (whole.uri, whole.text, whole.is_part) == ("calc.py", "x = 1\n", True)
    [zed] = read_message([embedded("file:///p/a.py?symbol=f#L4:8", "def f(): ...")]).attached
    assert (zed.first_line, zed.last_line, zed.is_part) == (4, 8, True)


words = st.text(st.characters(codec="utf-8"), max_size=40)


@given(st.lists(words, max_size=5))
def test_two_blocks_are_never_one_text(texts: list[str]) -> None:
    """Issue 14: two text blocks became one shell script."""
    asked = read_message(text(*texts)).text
    assert asked == "" or any(asked in one for one in texts)


@given(
    st.lists(
        st.one_of(
            words,
            st.builds("<{0}>{1}</{0}>".format, st.sampled_from(sorted(TAGS)), words),
            st.builds("<{0} path='{1}'>".format, st.sampled_from(sorted(TAGS)), words),
        ),
        max_size=6,
    )
)
def test_any_text_has_pieces(parts: list[str]) -> None:
    """Ours: bad input is data, and no piece is made up."""
    whole = "\n".join(parts)
    for piece in pieces_of(whole):
        assert all(line in whole for line in piece.text.split("\n"))
    read_message(text(*parts, whole))


def test_many_tags_without_an_end_are_read_at_once() -> None:
    """Ours: pytest's timeout decides."""
    assert [piece.kind for piece in pieces_of("<file>\n<context>\n" * 50_000)] == ["said"]


@everywhere
async def test_a_repeated_prompt_does_not_run(tmp_path: Path, variant: str) -> None:
    """Issue 14: “Run sleep 60 /map”, a command of two lines, was asked for."""
    write(tmp_path, {"a.py": "x = 1\n"})
    async with talking(tmp_path, variant) as talk:
        answer = await talk.say("$ sleep 60", "/map")
        assert f"**{tmp_path.name}**" in answer
        assert talk.asked == []
        assert "execute" not in talk.kinds()


@everywhere
async def test_a_command_is_one_line_unless_it_is_fenced(tmp_path: Path, variant: str) -> None:
    """Issue 14, and a title never hides that a command has more lines."""
    async with talking(tmp_path, variant) as talk:
        for typed in ("$ echo a\necho b", "/run echo a\necho b"):
            assert "That is 2 lines, and a command is one line" in await talk.say(typed)
            assert talk.calls == []
        for typed in (
            "$ ```\necho a\necho b\n```",
            "run this:\n```sh\n$ echo a\n$ echo b\n```",
            "```bash\necho a\necho b\n```",
            "/run ```\necho a\necho b\n```",
        ):
            assert "a\nb" in await talk.say(typed)
            assert [call.title for call in talk.calls] == ["Run echo a (+1 line)"]
            assert [request.command for request in talk.asked] == ["echo a\necho b"]
        assert "not understand" in await talk.say("look:\n```python\nprint(1)\n```")
        assert "not understand" in await talk.say("```\necho a\n```")


async def test_a_wrapped_prompt_is_done(tmp_path: Path) -> None:
    """Issue 14: the offline brain understands the newest of avante's messages."""
    write(tmp_path, {"calc.py": '"""Sums."""\n'})
    async with talking(tmp_path) as talk:
        blocks, _ = ASKED["avante"]
        assert "I found no tests" in await talk.say(*blocks)
        blocks, _ = ASKED["avante, planning"]
        assert "> Sums." in await talk.say(*blocks)
