"""Remembered answers in a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.client.permissions.grants import Grant, Place
from accord.client.permissions.rules import Rule
from accord.configuration.grants_file import GrantsFile
from accord.errors import ConfigError

HERE = Place(session_id="s", workspace="/projects", agent="tester")


def _file(folder: Path) -> GrantsFile:
    return GrantsFile(folder / "state" / "grants.toml")


def test_an_answer_is_in_the_file_at_once_and_there_again_later(tmp_path: Path) -> None:
    """Issue 3: "always" answers are saved; the file is the user's alone."""
    grants = _file(tmp_path).open()
    one = grants.add(
        Rule(effect="allow", kind="edit", path="/projects/a", exact=True), "workspace", HERE
    )
    two = grants.add(Rule(effect="reject", command="rm -rf x"), "always", HERE)
    path = tmp_path / "state" / "grants.toml"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert tuple(_file(tmp_path).open()) == (one, two)


@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Ours: what is written can be read, or the answers of all projects would be lost."""
    file = _file(tmp_path_factory.mktemp("grants"))
    grants = file.open()
    added = grants.add(Rule(effect="allow", kind="other", title=text, exact=True), "always", HERE)
    assert file.read() == (added,)


def test_two_processes_lose_nothing_of_each_other(tmp_path: Path) -> None:
    """Ours: what another has added stays, what another has revoked stays gone."""
    first, second = _file(tmp_path), _file(tmp_path)
    mine, theirs = first.open(), second.open()
    a = mine.add(Rule(effect="allow", kind="edit"), "always", HERE)
    b = theirs.add(Rule(effect="allow", kind="read"), "always", HERE)
    assert a is not None
    assert b is not None
    assert set(first.read()) == {a, b}
    assert mine.revoke(a.grant_id)
    assert first.read() == (b,)


def test_a_revoked_answer_is_gone_for_a_run_that_goes_on(tmp_path: Path) -> None:
    """Ours: revoking means now."""
    running = _file(tmp_path)
    grants = running.open()
    kept = grants.add(Rule(effect="allow", kind="edit"), "always", HERE)
    gone = grants.add(Rule(effect="allow", kind="read"), "always", HERE)
    assert gone is not None
    assert [one.grant_id for one in _file(tmp_path).revoke([gone.grant_id])] == [gone.grant_id]
    assert _file(tmp_path).revoke([gone.grant_id]) == []
    running.refresh()
    assert tuple(grants) == (kept,)
    running.refresh()
    assert running.read() == (kept,)


def test_answers_of_a_session_are_not_kept(tmp_path: Path) -> None:
    """Ours: what holds for a session is in another list; a file without scope is damaged."""
    path = tmp_path / "grants.toml"
    path.write_text('[[grant]]\nid = "g"\nscope = "session"\neffect = "allow"\n')
    with pytest.raises(ConfigError, match="scope"):
        GrantsFile(path).open()


@pytest.mark.parametrize(
    "text",
    [
        "no toml",
        '[[grant]]\nscope = "always"\neffect = "allow"\n',
        '[[grant]]\nid = "g"\nscope = "workspace"\neffect = "allow"\n',
        '[[grant]]\nid = "g"\nscope = "always"\neffect = "perhaps"\n',
    ],
)
def test_a_damaged_file_is_an_error_and_stays_as_it_is(tmp_path: Path, text: str) -> None:
    """Ours: never overwritten."""
    path = tmp_path / "grants.toml"
    path.write_text(text)
    with pytest.raises(ConfigError):
        GrantsFile(path).open()
    with pytest.raises(ConfigError):
        GrantsFile(path).revoke(["g"])
    assert path.read_text() == text


def test_a_file_that_was_damaged_meanwhile_allows_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Found in review: a decision failed with a traceback; denials must not be forgotten."""
    file = _file(tmp_path)
    grants = file.open()
    grants.add(Rule(effect="allow", kind="edit"), "always", HERE)
    denied = grants.add(Rule(effect="reject", kind="read"), "always", HERE)
    path = tmp_path / "state" / "grants.toml"
    path.write_text("no toml")
    file.refresh()
    assert tuple(grants) == (denied,)
    grants.add(Rule(effect="allow", kind="other"), "always", HERE)
    assert path.read_text() == "no toml"
    assert ["cannot store the answer" in one.message for one in caplog.records] == [False, True]


def test_an_answer_that_cannot_be_kept_holds_for_now(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Found in review: "always" on a read-only disk was an internal error and a denial."""
    grants = _file(tmp_path).open()
    (tmp_path / "state").write_text("no folder")
    added = grants.add(Rule(effect="allow", kind="edit"), "always", HERE)
    assert tuple(grants) == (added,)
    assert "cannot store the answer" in caplog.text


def test_a_refresh_before_anything_was_opened_does_nothing(tmp_path: Path) -> None:
    """Ours."""
    _file(tmp_path).refresh()
    assert Grant(grant_id="g", rule=Rule(effect="allow"), scope="always").workspace is None
