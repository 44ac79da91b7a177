"""The first minute with the built-in agent: what a newcomer says, and what must come of it.

The same sentences, word for word, for every client; `check` knows v1 and v2, and not which
client is speaking.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from accord.builtin.demo_project import FILES, write_demo_project

Json = dict[str, Any]

SENTENCES = (
    "what is this project?",
    "run the tests",
    "fix it",
    "rename mean to average",
    "/undo",
)
AGENT = (sys.executable, "-m", "accord", "agent")
NAMED = ("calc.py", "report.py", "test_calc.py")


def project(folder: Path) -> Path:
    """The demo project, in a folder of its own."""
    made = folder / "project"
    made.mkdir()
    write_demo_project(made)
    return made


def home(folder: Path) -> Mapping[str, str]:
    """Fresh places for configuration and sessions, and no model of the user's."""
    return {
        "ACCORD_CONFIG_DIR": str(folder / "home" / "config"),
        "ACCORD_STATE_DIR": str(folder / "home" / "state"),
        "ACCORD_PROBE": "off",
        "ACCORD_MODEL": "offline",
    }


def check(steps: Sequence[Json], folder: Path) -> None:
    """Assert what the client saw of each sentence, and that the files are as they must be."""
    assert [step["step"] for step in steps] == [f"prompt:{text}" for text in SENTENCES]
    assert {step["stop"] for step in steps} == {"end_turn"}
    asked, tested, fixed, renamed, undone = steps
    _check_looking(asked)
    _check_tests(tested)
    _check_fix(fixed, folder)
    _check_rename(renamed)
    _check_undo(undone, folder)


def _check_looking(step: Json) -> None:
    assert all(name in step["agent_text"] for name in ("calc.py", "Python"))
    assert "permissions" not in step, "looking is not asked for"
    assert {tool["kind"] for tool in step["tools"]} <= {"read", "search", "think"}
    assert step["tools"], "what was looked at is shown"
    assert all(tool["status"] == "completed" for tool in step["tools"])


def _check_tests(step: Json) -> None:
    [tool] = [tool for tool in step["tools"] if tool["kind"] == "execute"]
    assert len(step["permissions"]) == 1
    assert "terminal" in {content["type"] for content in tool["content"]}
    assert "name 'value' is not defined" in step["agent_text"]
    assert "fix it" in step["agent_text"], "what to say next is suggested"


def _check_fix(step: Json, folder: Path) -> None:
    edits = [tool for tool in step["tools"] if tool["kind"] == "edit"]
    assert [tool["status"] for tool in edits] == ["completed"]
    assert any(content["type"] == "diff" for content in edits[0]["content"])
    assert edits[0]["toolCallId"] in {one["tool"] for one in step["permissions"]}
    assert [tool["kind"] for tool in step["tools"]][-1] == "execute", "the tests run again"
    assert "pass" in step["agent_text"]
    assert step["plan"]


def _check_rename(step: Json) -> None:
    edits = [tool for tool in step["tools"] if tool["kind"] == "edit"]
    changed = {path for tool in edits for path in _paths(tool)}
    assert {Path(path).name for path in changed} == set(NAMED)
    asked = [one for one in step["permissions"] if one["tool"] in {e["toolCallId"] for e in edits}]
    assert len(asked) == 1, "one question for all files"
    assert {status for _, status in step["plan"]} == {"completed"}
    assert "average" in step["agent_text"]


def _check_undo(step: Json, folder: Path) -> None:
    edits = [tool for tool in step["tools"] if tool["kind"] == "edit"]
    assert {Path(path).name for tool in edits for path in _paths(tool)} == set(NAMED)
    calc = (folder / "calc.py").read_text()
    assert "def mean(values)" in calc
    assert "sum(values)" in calc, "the fix of an earlier turn stays"
    for name in ("report.py", "test_calc.py"):
        assert "average" not in (folder / name).read_text()
    assert set(FILES) <= {path.name for path in folder.iterdir()}


def _paths(tool: Json) -> list[str]:
    """The files of a tool call's diffs, as either version says them."""
    found: list[str] = []
    for content in tool["content"]:
        if content["type"] == "diff":
            changes = content.get("changes")
            found += [content["path"]] if changes is None else [one["path"] for one in changes]
    return found
