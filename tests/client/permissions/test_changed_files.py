"""What a permission to edit covers: files of the session's folders that nothing executes."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord import Permissions, Rule
from accord.client.permissions.changed_files import title_paths
from accord.client.permissions.request import OWN_OPTIONS, PermissionRequest
from accord.client.permissions.rule_matcher import Facts, ReadRule, judge
from accord.client.permissions.rules import Effect
from accord.client.permissions.tool_call_input import input_paths
from tests.client.scripted_agent import Json, ScriptedAgent, connected

EDIT = Rule(effect="allow", kind="edit")
INSIDE = ("src/a.py", "new/b.txt", "more:c.txt")
OUTSIDE = ("/etc/hosts", "~/.bashrc", "../other/x", "~/.ssh/authorized_keys", "way/x")
EXECUTED = (".git/hooks/pre-commit", ".vscode/tasks.json", ".envrc", "src/.GIT/config", "hook/x")


@pytest.fixture(scope="module")
def place() -> Any:
    """A folder with a project, one more root, and links out and into `.git`."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(os.path.realpath(made))
        for name in ("project/src", "project/.git/hooks", "more", "other"):
            (folder / name).mkdir(parents=True)
        (folder / "project" / "way").symlink_to("../other")
        (folder / "project" / "hook").symlink_to(".git/hooks")
        yield folder


def spelled(path: str, place: Path) -> str:
    """`more:x` is in the other root; relative paths stay relative."""
    root, colon, rest = path.partition(":")
    return str(place / root / rest) if colon else path


def verdict(place: Path, *rules: Rule, kind: str = "edit", **about: Any) -> Effect:
    """What the rules say about a request of a session with two folders."""
    request = PermissionRequest("s", about.pop("title", "Edit"), OWN_OPTIONS, kind=kind, **about)
    roots = (str(place / "project"), str(place / "more"))
    facts = Facts.of(request, roots[0], roots)
    return judge([ReadRule(rule) for rule in rules], (), facts, "ask")[0]


@pytest.mark.parametrize("kind", ["edit", "delete"])
@pytest.mark.parametrize("path", [*INSIDE, *OUTSIDE, *EXECUTED])
def test_a_kind_means_ordinary_files_of_the_session(place: Path, path: str, kind: str) -> None:
    """Issue 12: edits inside the session's folders, and not of files that something executes."""
    allow = Rule(effect="allow", kind=kind)
    expected = "allow" if path in INSIDE else "ask"
    assert verdict(place, allow, kind=kind, paths=(spelled(path, place),)) == expected
    # Only the title says which file.
    said = verdict(place, allow, kind=kind, title=f"Change `{spelled(path, place)}`")
    assert said == expected
    # `--allow all` is everything.
    assert verdict(place, Rule(effect="allow"), kind=kind, paths=(path,)) == "allow"


def test_a_request_that_names_no_file_is_not_covered(place: Path) -> None:
    """Issue 12: allowed edits are inside the folder; this request names no file."""
    assert verdict(place, EDIT, title="Edit a file") == "ask"
    assert verdict(place, EDIT, mcp_tool="db/write") == "ask"
    assert verdict(place, EDIT, paths=("src/a.py", "file:///etc/passwd")) == "ask"


def test_both_ends_of_a_move_count(place: Path) -> None:
    """Issue 12: moves into and out of executed files."""
    move = Rule(effect="allow", kind="move")
    assert verdict(place, move, kind="move", paths=("src/a", "src/b")) == "allow"
    assert verdict(place, move, kind="move", paths=("src/a", ".git/hooks/x")) == "ask"
    assert verdict(place, move, kind="move", paths=(".envrc", "src/b")) == "ask"
    # Where to is not said, or only in the title.
    assert verdict(place, move, kind="move", paths=("src/a",), title="Move it") == "ask"
    titled: dict[str, Any] = {"kind": "move", "paths": ("src/a",)}
    assert verdict(place, move, title="Move src/a to src/b.py", **titled) == "allow"
    assert verdict(place, move, title="Move src/a to ~/.bashrc", **titled) == "ask"


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("src/**", "src/a.py", "allow"),
        ("src/**", "src/.git/hooks/x", "ask"),
        ("**", ".envrc", "ask"),
        ("**/*.yml", ".github/workflows/ci.yml", "ask"),
        ("hook/**", "hook/pre-commit", "ask"),
        (".github/workflows/*.yml", ".github/workflows/ci.yml", "allow"),
        (".git/**", ".git/hooks/pre-commit", "allow"),
        ("**/.envrc", "src/.envrc", "allow"),
        (".vscode/", ".vscode/tasks.json", "allow"),
        ("**/*.pth", "src/x.pth", "allow"),
        (".vscode/**", "src/.envrc", "ask"),
    ],
)
def test_a_wildcard_covers_no_executed_file_that_it_does_not_spell(
    place: Path, pattern: str, path: str, expected: str
) -> None:
    """Issue 12: wider in so many words."""
    rule = Rule(effect="allow", kind="edit", path=pattern)
    assert verdict(place, rule, paths=(path,)) == expected
    anything = Rule(effect="allow", path=pattern)
    assert verdict(place, anything, kind="other", paths=(path,)) == expected
    if path not in ("hook/pre-commit",):
        assert verdict(place, anything, kind="read", paths=(path,)) == "allow" or expected == "ask"


NAMES = ("path", "file_path", "filePath", "filepath", "target_file", "absolutePath", "uri")


@pytest.mark.parametrize("name", NAMES)
def test_the_input_of_editing_tools_is_read(name: str) -> None:
    """Issue 12: real agents call the file by many names."""
    given = {name: "/a", "content": "x", "replace_all": True}
    assert input_paths(given, "edit") == ("/a",)
    assert input_paths(given, "read") == ()


def test_the_input_of_tools_that_change_many_files_is_read() -> None:
    """Issue 12: lists, objects, and files as keys."""
    assert input_paths({"edits": [{"path": "a"}, {"filePath": "b"}]}, "edit") == ("a", "b")
    assert input_paths({"changes": {"/a.py": {"type": "update"}}}, "edit") == ("/a.py",)
    assert input_paths({"paths": ["a", "b", 3]}, "delete") == ("a", "b")
    ends = {"server": "fs", "arguments": {"source": "a", "destination": "b"}}
    assert input_paths(ends, "move") == ("a", "b")
    # Of an edit these are texts.
    assert input_paths({"path": "a", "from": "/x", "to": "/y"}, "edit") == ("a",)
    assert len(input_paths({"paths": [str(n) for n in range(5000)]}, "edit")) == 1025


def test_titles_name_files() -> None:
    """Issue 12: also where the request carries its paths only in the title."""
    assert title_paths("Edit ~/.bashrc") == ("~/.bashrc",)
    assert title_paths("Write `/a/b`, then (src/c.py).") == ("/a/b", "src/c.py")
    assert title_paths("Change .envrc: add x") == (".envrc",)
    assert title_paths("Edit the file") == ()


forms = st.sampled_from(["location", "diff", "file_path", "path", "title"])
paths = st.sampled_from([*INSIDE, *OUTSIDE, *EXECUTED])


def call_of(form: str, path: str, version: int) -> tuple[Json, str]:
    """A tool call that names its file in this way only, and the title."""
    call: Json = {"toolCallId": "t1", "kind": "edit", "status": "pending"}
    if form == "location":
        call["locations"] = [{"path": path}]
    elif form == "diff" and version == 1:
        call["content"] = [{"type": "diff", "path": path, "newText": "x", "oldText": "y"}]
    elif form == "diff":
        changes = [{"path": path, "operation": "modify"}]
        patch = {"format": "git_patch", "text": f"--- {path}\n+++ {path}\n"}
        call["content"] = [{"type": "diff", "changes": changes, "patch": patch}]
    elif form != "title":
        call["rawInput"] = {form: path, "new_string": "x"}
    return call, f"Edit {path}" if form == "title" else "Edit a file"


@pytest.mark.parametrize("version", [1, 2])
@given(form=forms, path=paths)
@settings(max_examples=60, deadline=None)
def test_an_agent_that_asks_for_a_file_outside_is_refused(
    place: Path, version: int, form: str, path: str
) -> None:
    """Issue 12: refused today only when it writes through us; normal edits stay allowed."""
    whole = spelled(path, place)
    if form in ("location", "diff"):
        # The protocol's paths are absolute.
        whole = os.path.join(place / "project", os.path.expanduser(whole))
    answers: list[Json] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        call, title = call_of(form, whole, version)
        options = [{"optionId": kind, "name": kind, "kind": kind} for kind in KINDS]
        params: Json = {"sessionId": agent.session_id, "options": options}
        if version == 1:
            params["toolCall"] = {**call, "title": title}
        else:
            params |= {"title": title, "subject": {"type": "tool_call", "toolCall": call}}
        asked = agent.request("session/request_permission", params)
        answers.append((await agent.answer_to(asked))["result"])
        agent.end_turn(prompt)

    async def play() -> None:
        permissions = Permissions.policy([EDIT])
        async with connected(script, version, permissions=permissions) as (client, _):
            session = await client.new_session(cwd=str(place / "project"))
            await session.ask("go")

    anyio.run(play)
    is_allowed = path in INSIDE and not path.startswith("more:")
    chosen = "allow_once" if is_allowed else "reject_once"
    outcomes = [answer["outcome"] for answer in answers]
    assert outcomes == [{"outcome": "selected", "optionId": chosen}]


KINDS = ("allow_once", "reject_once")


async def test_additional_folders_are_folders_of_the_session(place: Path) -> None:
    """Issue 12: additional roots count."""
    permissions = Permissions.policy([EDIT])
    permissions.add_session("s", str(place / "project"))
    request = PermissionRequest(
        "s", "Edit", OWN_OPTIONS, kind="edit", paths=(str(place / "more" / "x"),)
    )
    assert (await permissions.decide(request)).option_id == "reject_once"
    permissions.add_roots("s", [str(place / "project"), str(place / "more")])
    assert (await permissions.decide(request)).option_id == "allow_once"


def test_an_exact_command_is_for_its_folder_alone(place: Path) -> None:
    """Issue 12: the exact line in the same folder; `make` below may do something else."""
    folder = str(place / "project")
    rule = Rule(effect="allow", command="make x", cwd=folder, exact=True)
    assert verdict(place, rule, kind="execute", command="make x", cwd=folder) == "allow"
    below = f"{folder}/src"
    assert verdict(place, rule, kind="execute", command="make x", cwd=below) == "ask"
    wide = Rule(effect="allow", command="make x", cwd=folder)
    assert verdict(place, wide, kind="execute", command="make x", cwd=below) == "allow"
