"""Where the agent works: the newest call that names a file, and the lines that it changed."""

from __future__ import annotations

from accord.terminal.model.chat import Chat
from accord.terminal.model.followed_file import ENTRIES_MAX, Followed, changed_lines, followed
from accord.transcript import ToolCall
from accord.transcript.items.tool_call import FileDiff, Location


def call_of(
    name: str, status: str = "in_progress", line: int | None = None, *diffs: FileDiff
) -> ToolCall:
    """A call about a file."""
    call = ToolCall(f"id-{name}")
    call.patch(title=f"Edit {name}", kind="edit", status=status)
    call.replace_locations([Location(f"/p/{name}", line)])
    call.replace_content(list(diffs), lambda item: (item,))
    return call


def test_the_newest_call_is_followed_and_one_that_runs_comes_first() -> None:
    """Issue 6: the file the agent works on."""
    chat = Chat("/p")
    assert followed(chat) is None
    chat.entries += [call_of("a", line=3), call_of("b", "completed"), ToolCall("no place")]
    chat.set_phase("working")
    found = followed(chat)
    assert found is not None
    assert (found.path, found.line) == ("/p/a", 3)
    chat.set_phase("ready")
    found = followed(chat)
    assert found is not None
    assert found.path == "/p/b"


def test_what_is_long_ago_is_not_looked_for() -> None:
    """Ours: it takes the same time however long the conversation is."""
    chat = Chat("/p")
    chat.entries += [call_of("a"), *(ToolCall(str(n)) for n in range(ENTRIES_MAX))]
    assert followed(chat) is None


def test_a_diff_says_where_better_than_a_location() -> None:
    """Ours."""
    diff = FileDiff("/p/b", old_text="x", new_text="y")
    found = followed_of(call_of("a", "completed", 3, diff))
    assert (found.path, found.line, found.diff) == ("/p/b", None, diff)
    diff = FileDiff("/p/a", old_text="x", new_text="y")
    assert followed_of(call_of("a", "completed", 3, diff)).line == 3


def followed_of(call: ToolCall) -> Followed:
    """The place of one call."""
    chat = Chat("/p")
    chat.entries.append(call)
    found = followed(chat)
    assert found is not None
    return found


def test_the_lines_that_were_changed() -> None:
    """D26-16: the range is highlighted."""
    text = "one\nTWO\nthree\nfour\n"
    whole = FileDiff("x", old_text="one\ntwo\nthree\n", new_text=text)
    assert changed_lines(text, whole, None) == (range(1, 2), range(3, 4))
    part = FileDiff("x", old_text="two\nthree", new_text="TWO\nthree")
    assert changed_lines(text, part, 1) == (range(1, 2),)
    patch = FileDiff("x", patch="@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n")
    assert changed_lines(text, patch, None) == (range(1, 2),)
    removed = FileDiff("x", old_text="one\nTWO\nthree\nx\nfour\n", new_text=text)
    assert changed_lines(text, removed, None) == (range(3, 4),), "where it was"
    planned = FileDiff("x", old_text="TWO\nthree\n", new_text="2\n3\n")
    assert changed_lines(text, planned, None) == (range(1, 3),), "what is to be replaced"
    assert changed_lines(text, FileDiff("x", old_text="no", new_text="nor"), 4) == (range(3, 4),)
    assert changed_lines(text, FileDiff("x"), None) == ()
    assert changed_lines(text, None, 0) == ()
