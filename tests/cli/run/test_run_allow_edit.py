"""`accord run --allow edit`: the session's folders, and nothing that something executes."""

from __future__ import annotations

import json

import pytest

from tests.cli.home import AGENT, Home


@pytest.mark.parametrize("version", [(), ("v1",)])
def test_allowed_edits_stay_in_the_folder_and_off_what_is_executed(
    home: Home, version: tuple[str, ...]
) -> None:
    """Issue 12: the end of the run says which flag would allow it."""
    agent = (*AGENT, *version)
    done = home.run("write a.txt", "--allow", "edit", agent=agent)
    assert (done.code, (home.project / "a.txt").read_text()) == (0, "new text\n")
    done = home.run("write .envrc", "--allow", "edit", agent=agent)
    assert done.code == 4
    assert not (home.project / ".envrc").exists()
    path = home.project / ".envrc"
    assert f"`--allow edit` does not cover {path}: something executes it" in done.error
    assert f"`--allow edit={path}` does" in done.error
    done = home.run("write .envrc", "--allow", f"edit={path}", agent=agent)
    assert (done.code, path.read_text()) == (0, "new text\n")


@pytest.mark.parametrize(
    "call",
    [
        {"title": "Edit", "locations": ["../.bashrc"]},
        {"title": "Edit", "raw_input": {"file_path": "~/.ssh/authorized_keys"}},
        {"title": "Edit ~/.bashrc"},
        {"title": "Edit a file"},
    ],
)
def test_an_agent_that_asks_for_files_of_the_home_is_refused(
    home: Home, call: dict[str, object]
) -> None:
    """Issue 12: `~/.bashrc` and `~/.ssh/authorized_keys`, whoever would write them."""
    words = f"ask {json.dumps({'kind': 'edit', **call})}"
    done = home.run(words, "--allow", "edit", "--format", "quiet")
    assert (done.code, done.out) == (4, "may=False\n")
    assert "`--allow edit` " in done.error
    done = home.run(words, "--allow", "all", "--format", "quiet")
    assert (done.code, done.out) == (0, "may=True\n")


def test_added_folders_are_folders_of_the_session(home: Home) -> None:
    """Issue 12: additional directories count."""
    other = home.project.parent / "other"
    other.mkdir()
    words = f"ask {json.dumps({'kind': 'edit', 'title': 'Edit', 'locations': [f'{other}/x']})}"
    assert home.run(words, "--allow", "edit", "--format", "quiet").out == "may=False\n"
    allowed = home.run(words, "--allow", "edit", "--add-dir", str(other), "--format", "quiet")
    assert allowed.out == "may=True\n"
