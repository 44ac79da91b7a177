"""Tool calls, their outputs and hunks, in both forms."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.translate.draft.conversion import diff_hunks as hunk_bounds
from accord.translate.draft.conversion.diff_hunks import applied, hunks_of, taken_back, unified
from accord.translate.draft.conversion.tool_calls import (
    call_from_draft,
    call_to_draft,
    patch_to_draft,
    place_from_draft,
    place_to_draft,
    update_from_draft,
)
from accord.translate.draft.conversion.tool_output import Surfaces, contents_of, output_of
from accord.translate.meta_store import DRAFT


def _kept(**kept: Any) -> Any:
    return {"_meta": {DRAFT: kept}}


def _text(text: str) -> Any:
    return {"type": "content", "content": {"type": "text", "text": text}}


def _surfaces(files: dict[str, str] | None = None) -> Surfaces:
    return Surfaces("/srv", (files or {}).get, "T".__eq__)


# ---- calls


def test_a_call_of_the_draft() -> None:
    """The draft's table 5.1."""
    data = {
        "id": "c",
        "tool": "fs/write_text_file",
        "input": {"path": "a.txt"},
        "status": "pending",
        "requiresPermission": True,
        "location": {"path": "a.txt", "line": 4, "column": 2},
    }
    made = call_from_draft(data, "/srv")
    assert made == {
        "sessionUpdate": "tool_call",
        "toolCallId": "c",
        "title": "fs/write_text_file a.txt",
        "name": "fs/write_text_file",
        "kind": "edit",
        "status": "pending",
        "rawInput": {"path": "a.txt"},
        "locations": [{"path": "/srv/a.txt", "line": 4, **_kept(column=2)}],
        **_kept(requiresPermission=True),
    }
    back = call_to_draft(made)
    assert back == {**data, "location": {**data["location"], "path": "/srv/a.txt"}}  # type: ignore[dict-item]


@pytest.mark.parametrize(
    "update",
    [
        {"toolCallId": "c", "title": "Dig"},
        {"toolCallId": "c", "title": "Dig", "kind": "move", "status": "pending"},
        {"toolCallId": "c", "title": "Dig", "name": "dig", "rawInput": 5, "status": "pending"},
        {"toolCallId": "c", "title": "Dig", "kind": "think", "rawInput": None},
        {
            "toolCallId": "c",
            "title": "terminal/create ls",
            "kind": "execute",
            "rawInput": {"command": "ls"},
        },
        {
            "toolCallId": "c",
            "title": "Dig",
            "locations": [{"path": "/a"}, {"path": "/b", "line": 2}],
        },
        {"toolCallId": "c", "title": "Dig", "locations": []},
        {"toolCallId": "c", "title": "Dig", "_meta": {"x": 1}},
    ],
)
def test_a_call_of_v1_comes_back(update: Any) -> None:
    """The draft's table 5.1: title, kind and more are kept."""
    given = {"sessionUpdate": "tool_call", **update}
    made = call_to_draft(dict(given))
    assert made["status"] == "pending"
    back = call_from_draft(made, "/srv")
    assert back == given


def test_a_place_with_a_null_line() -> None:
    """The draft has no null there."""
    assert place_to_draft({"path": "/a", "line": None}) == {"path": "/a"}
    place = {"path": "/a", "line": 1, "endLine": 2, "endColumn": 3}
    assert place_to_draft(place_from_draft(place, "/")) == place


def test_a_status_that_was_kept_is_the_calls() -> None:
    """The draft's table 5.1."""
    data = {"id": "c", "tool": "t", "input": {}, "status": "pending", **_kept(status="failed")}
    assert call_from_draft(data, "/")["status"] == "failed"
    assert call_from_draft({**data, **_kept(status="odd")}, "/")["status"] == "pending"


def test_a_status_that_is_said_once_more_comes_back() -> None:
    """The draft's table 5.1: the draft has no step for it."""
    made = update_from_draft({"id": "c", **_kept(status="in_progress")}, _surfaces())
    assert made["status"] == "in_progress"


# ---- updates


def _round(update: Any, *, failed: bool = False) -> tuple[Any, Any]:
    patch = patch_to_draft({"sessionUpdate": "tool_call_update", **update}, failed=failed)
    return patch, update_from_draft(patch, _surfaces())


DIFF = {"type": "diff", "path": "/srv/a", "oldText": "a\n", "newText": "b\n"}


@pytest.mark.parametrize(
    ("update", "said"),
    [
        ({"content": [_text("x")]}, {"output": {"type": "text", "text": "x"}}),
        ({"content": [_text("x"), _text("y")]}, {"output": {"type": "text", "text": "x\ny"}}),
        ({"content": []}, {}),
        (
            {"content": [_text("x"), {"type": "terminal", "terminalId": "Q"}]},
            {"output": {"type": "terminal", "terminalId": "Q"}},
        ),
        ({"content": [{"type": "odd"}]}, {"output": {"type": "text", "text": "[odd]"}}),
        ({"rawOutput": "plain"}, {"output": {"type": "text", "text": "plain"}}),
        ({"rawOutput": {"a": 1}}, {}),
        ({"rawOutput": ""}, {}),
        (
            {
                "title": "T",
                "kind": "move",
                "name": "n",
                "rawInput": 1,
                "locations": [{"path": "/a"}],
            },
            {},
        ),
        ({"_meta": {"x": 1}}, {}),
    ],
)
def test_updates_of_v1_come_back(update: Any, said: Any) -> None:
    """The draft's table 5.1: the whole list is kept where one output does not say it."""
    patch, back = _round({"toolCallId": "c", **update})
    assert {key: one for key, one in patch.items() if key not in ("id", "_meta")} == said
    assert back == {"sessionUpdate": "tool_call_update", "toolCallId": "c", **update}


def test_a_diff_of_v1_has_hunks_and_comes_back() -> None:
    """The draft's table 5.1: computed."""
    patch, back = _round({"toolCallId": "c", "content": [DIFF, _text("x")]})
    (hunk,) = patch["output"]["hunks"]
    assert hunk == {
        "oldStart": 1,
        "oldLines": 1,
        "newStart": 1,
        "newLines": 1,
        "content": "@@ -1 +1 @@\n-a\n+b\n",
    }
    assert back["content"] == [DIFF, _text("x")]


def test_nulls_of_v1_are_left_out() -> None:
    """In v1 null keeps what was."""
    patch, _ = _round({"toolCallId": "c", "title": None, "content": None, "status": None})
    assert patch == {"id": "c"}


def test_a_failure_says_why() -> None:
    """The draft's table 5.1: `error`."""
    patch, back = _round({"toolCallId": "c", "content": [_text("no")]}, failed=True)
    assert patch["error"] == "no"
    assert "output" not in patch
    assert back["content"] == [_text("no")]
    assert "rawOutput" not in back
    patch, _ = _round({"toolCallId": "c", "content": [DIFF]}, failed=True)
    assert patch["output"]["type"] == "diff"


def _back(data: Any, files: dict[str, str] | None = None) -> tuple[Any, Any]:
    update = update_from_draft(dict(data), _surfaces(files))
    return update, patch_to_draft(update, failed=data.get("status") == "failed")


@pytest.mark.parametrize(
    "data",
    [
        {"output": {"type": "text", "text": "x"}, "duration": 4},
        {"output": {"type": "text", "text": "x"}, "error": "but"},
        {"error": "no"},
        {"output": {"type": "diff", "path": "a", "hunks": []}},
        {"output": {"type": "terminal", "terminalId": "Q", "command": "ls", "exitCode": 0}},
        {"output": {"type": "terminal", "terminalId": "T", "stdout": "x"}},
    ],
)
def test_updates_of_the_draft_come_back(data: Any) -> None:
    """The draft's table 5.1."""
    _, back = _back({"id": "c", **data})
    assert back == {"id": "c", **data}


def test_an_output_that_nobody_knows_is_raw() -> None:
    """Ours: v1 shows nothing of it and loses nothing."""
    update = update_from_draft({"id": "c", "output": {"type": "smell"}}, _surfaces())
    assert update["rawOutput"] == {"type": "smell"}
    assert "content" not in update


def test_an_error_and_what_v1_makes_of_it() -> None:
    """The draft's table 5.1."""
    update = update_from_draft({"id": "c", "status": "failed", "error": "no"}, _surfaces())
    assert update["content"] == [_text("no")]
    assert update["rawOutput"] == {"error": "no"}


def test_a_terminal_elsewhere_is_text() -> None:
    """The draft's table 5.1: only a terminal of the client is shown as one."""
    output = {"type": "terminal", "terminalId": "Q", "command": "ls", "stdout": "x"}
    assert contents_of(output, _surfaces(), done=True) == [_text("$ ls\nx")]
    assert contents_of({"type": "terminal", "terminalId": "Q"}, _surfaces(), done=True) == []
    assert output_of([], None) is None


# ---- diffs


HUNK = {"oldStart": 2, "oldLines": 1, "newStart": 2, "newLines": 2, "content": "-b\n+c\n+d"}


@pytest.mark.parametrize(
    ("now", "done", "texts"),
    [
        ("a\nb\n", False, ("a\nb\n", "a\nc\nd\n")),
        ("a\nb\n", True, ("a\nb\n", "a\nc\nd\n")),
        ("a\nc\nd\n", True, ("a\nb\n", "a\nc\nd\n")),
        ("a\nc\nd\n", False, ("a\nb\n", "a\nc\nd\n")),
        ("other\n", False, None),
        (None, False, None),
    ],
)
def test_the_texts_of_a_diff_are_read_before_or_after_the_change(
    now: str | None, done: bool, texts: Any
) -> None:
    """The draft's table 5.1: where the hunks do not apply it is shown as text."""
    files = {} if now is None else {"/srv/a": now}
    output = {"type": "diff", "path": "a", "hunks": [HUNK]}
    (content,) = contents_of(output, _surfaces(files), done=done)
    assert content["_meta"] == {DRAFT: {"hunks": [HUNK]}}
    if texts is None:
        assert content["content"]["text"] == "--- a\n+++ a\n@@ -2 +2,2 @@\n-b\n+c\n+d\n"
    else:
        assert (content["path"], content["oldText"], content["newText"]) == ("/srv/a", *texts)


def test_a_change_that_fits_both_ways_goes_by_whether_it_is_made() -> None:
    """Ours: an insertion without context may be before or after."""
    hunk = {"oldStart": 0, "oldLines": 0, "newStart": 1, "newLines": 1, "content": "+a"}
    output = {"type": "diff", "path": "/a", "hunks": [hunk]}
    for done, texts in ((True, ("", "a\n")), (False, ("a\n", "a\na\n"))):
        (content,) = contents_of(output, _surfaces({"/a": "a\n"}), done=done)
        assert (content["oldText"], content["newText"]) == texts


LINES = st.lists(st.sampled_from(["a", "b", "", "\r", "\x0c"]), max_size=12)
TEXTS = st.tuples(LINES, st.booleans()).map(lambda one: "\n".join(one[0]) + "\n" * one[1])


@given(TEXTS, TEXTS)
def test_hunks_lead_from_one_text_to_the_other_and_back(old: str, new: str) -> None:
    """Ours."""
    made = hunks_of(old, new)
    assert applied(old, made) == new
    assert taken_back(new, made) == old


def test_hunks_that_do_not_fit_are_not_applied() -> None:
    """The draft's table 5.1."""
    assert applied("x\n", [HUNK]) is None
    far = {"oldStart": 9, "oldLines": 0, "newStart": 9, "newLines": 1, "content": "+a"}
    assert applied("x\n", [far]) is None
    twice = [HUNK, HUNK]
    assert applied("a\nb\n", twice) is None


def test_hunks_as_they_are_met() -> None:
    """Seed 004: with their header, without, with stripped empty lines, without the last end."""
    hunk = {
        "oldStart": 1,
        "oldLines": 3,
        "newStart": 1,
        "newLines": 3,
        "content": "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n",
    }
    assert applied("a\n\nb", [hunk]) == "a\n\nc\n"
    assert unified("/a", [hunk]).count("@@") == 2
    new_file = hunks_of(None, "a\n")
    assert applied("", new_file) == "a\n"


def test_texts_too_long_to_compare_are_one_hunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a comparison takes time."""
    monkeypatch.setattr(hunk_bounds, "PATCH_LINES_MAX", 1)
    (hunk,) = hunks_of("a\nb\n", "a\nc\n")
    assert hunk["content"].splitlines()[1:] == ["-a", "-b", "+a", "+c"]
