"""What was typed and not sent."""

from __future__ import annotations

import json
import os
import stat
from itertools import count
from pathlib import Path

import pytest

from accord.terminal.model.prompt import unsent_prompts as module
from accord.terminal.model.prompt.unsent_prompts import Attachment, Draft, Drafts, Writer

NOTHING = Draft("")
_NUMBERS = count()
FULL = Draft(
    "see @a.py and [image 1] 日本",
    (
        Attachment("file", "a.py", "@a.py", "/x/a.py", "text/x-python", file_bytes=12),
        Attachment("image", "image 1", "[image 1]", None, "image/png", b"\x89PNG\0"),
    ),
)


def _writer(chat: str, folder: str, session_id: str | None, agent: str = "an agent") -> Writer:
    return Writer(chat, agent, folder, session_id)


def _save(drafts: Drafts, writer: Writer, draft: Draft) -> None:
    drafts.save(writer, draft, next(_NUMBERS))


def test_a_draft_is_there_when_its_session_is_opened_again(tmp_path: Path) -> None:
    """Issue 6: drafts kept, after leaving and after a crash."""
    _save(Drafts(tmp_path), _writer("1", "/folder", "s1"), FULL)
    assert Drafts(tmp_path).restore(_writer("9", "/folder", "s1"), is_new=False) == FULL
    assert Drafts(tmp_path).restore(_writer("9", "/folder", "s2"), is_new=False) == NOTHING
    assert all(stat.S_IMODE(one.stat().st_mode) == 0o600 for one in tmp_path.iterdir())


def test_a_new_session_of_the_folder_takes_it_over_once(tmp_path: Path) -> None:
    """Ours: agents need not know a session again."""
    _save(Drafts(tmp_path), _writer("1", "/folder", "s1"), Draft("half a"))
    later = Drafts(tmp_path)
    assert later.restore(_writer("2", "/elsewhere", None), is_new=True) == NOTHING
    assert later.restore(_writer("2", "/folder", "s2"), is_new=True) == Draft("half a")
    assert later.restore(_writer("3", "/folder", "s1"), is_new=False) == NOTHING


def test_what_was_sent_is_forgotten(tmp_path: Path) -> None:
    """Ours."""
    drafts = Drafts(tmp_path)
    _save(drafts, _writer("1", "/folder", "s1"), Draft("x"))
    _save(drafts, _writer("1", "/folder", "s1"), NOTHING)
    assert list(tmp_path.iterdir()) == []


def test_another_tab_does_not_get_what_one_is_writing(tmp_path: Path) -> None:
    """Ours: and emptying its own does not take the other's away."""
    drafts = Drafts(tmp_path)
    _save(drafts, _writer("1", "/folder", "s1"), Draft("x"))
    assert drafts.restore(_writer("2", "/folder", "s2"), is_new=True) == NOTHING
    _save(drafts, _writer("2", "/folder", "s2"), NOTHING)
    assert Drafts(tmp_path).restore(_writer("1", "/folder", "s1"), is_new=True) == Draft("x")


def test_a_chat_does_not_get_back_what_it_wrote_itself(tmp_path: Path) -> None:
    """Issue 14: it has that already, or has sent it and not told the disk yet."""
    drafts = Drafts(tmp_path)
    _save(drafts, _writer("1", "/folder", None), Draft("x"))
    assert drafts.restore(_writer("1", "/folder", "s1"), is_new=True) == NOTHING
    assert drafts.restore(_writer("1", "/folder", "s1"), is_new=False) == NOTHING


def test_a_draft_is_for_the_agent_that_it_was_written_to(tmp_path: Path) -> None:
    """Issue 14: in the same folder, and in a session that is called the same."""
    _save(Drafts(tmp_path), _writer("1", "/folder", "s1", "one"), Draft("x"))
    later = Drafts(tmp_path)
    assert later.restore(_writer("2", "/folder", "s1", "two"), is_new=False) == NOTHING
    assert later.restore(_writer("2", "/folder", "s2", "two"), is_new=True) == NOTHING
    assert later.restore(_writer("3", "/folder", "s2", "one"), is_new=True) == Draft("x")


def test_what_is_kept_is_the_last_of_it_whichever_thread_comes_first(tmp_path: Path) -> None:
    """Issue 14: a slow disk does not bring back what was sent."""
    drafts, writer = Drafts(tmp_path), _writer("1", "/folder", "s1")
    drafts.save(writer, NOTHING, 7)
    drafts.save(writer, Draft("x"), 6)
    assert list(tmp_path.iterdir()) == []


def test_a_draft_goes_with_its_chat_into_another_session(tmp_path: Path) -> None:
    """Issue 14: sent there, it is not found in the session where it was begun."""
    drafts = Drafts(tmp_path)
    _save(drafts, _writer("1", "/folder", "s1"), Draft("x"))
    _save(drafts, _writer("1", "/folder", "s2"), Draft("x y"))
    assert Drafts(tmp_path).restore(_writer("2", "/folder", "s1"), is_new=False) == NOTHING
    _save(drafts, _writer("1", "/folder", "s2"), NOTHING)
    assert list(tmp_path.iterdir()) == []


def test_what_a_closed_tab_wrote_may_be_taken(tmp_path: Path) -> None:
    """Ours: the tab is gone, its words are not."""
    drafts = Drafts(tmp_path)
    _save(drafts, _writer("1", "/folder", "s1"), Draft("x"))
    drafts.release("1")
    assert drafts.restore(_writer("2", "/folder", "s2"), is_new=True) == Draft("x")


def test_another_process_that_runs_keeps_its_own(tmp_path: Path) -> None:
    """Ours: two terminals in one folder."""
    _save(Drafts(tmp_path), _writer("1", "/folder", None), Draft("x"))
    (file,) = tmp_path.iterdir()
    entry = json.loads(file.read_text())
    for pid, is_restored in ((os.getppid(), False), (2**22 + 5, True), (-1, True), ("x", True)):
        file.write_text(json.dumps({**entry, "pid": pid}))
        restored = Drafts(tmp_path).restore(_writer("2", "/folder", None), is_new=True)
        assert (restored == Draft("x")) is is_restored


def test_what_cannot_be_read_is_no_draft(tmp_path: Path) -> None:
    """Ours: files of another version, and broken ones."""
    _save(Drafts(tmp_path), _writer("1", "/folder", None), Draft("x"))
    (file,) = tmp_path.iterdir()
    odd = [{"kind": "hologram", "size": 1}, {"kind": "file"}, 3, None]
    cases: list[tuple[str, Draft]] = [
        ("{", NOTHING),
        ("[]", NOTHING),
        ("{}", NOTHING),
        (json.dumps({"text": 3, "attachments": 4}), NOTHING),
        (json.dumps({"text": "y", "attachments": odd}), Draft("y")),
    ]
    for text, draft in cases:
        file.write_text(text)
        assert Drafts(tmp_path).restore(_writer("2", "/folder", None), is_new=True) == draft


def test_there_is_a_bound_on_drafts_and_on_what_is_attached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: everything has a bound."""
    monkeypatch.setattr(module, "DRAFTS_MAX", 3)
    monkeypatch.setattr(module, "DATA_BYTES_MAX", 3)
    drafts = Drafts(tmp_path)
    for number in range(5):
        _save(drafts, _writer(str(number), f"/folder{number}", None), FULL)
    assert len(list(tmp_path.iterdir())) == 3
    kept = Drafts(tmp_path).restore(_writer("4", "/folder4", None), is_new=True)
    assert kept == Draft(FULL.text, FULL.attachments[:1])
