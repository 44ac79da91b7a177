"""Tasks of a project, several things in one sentence, and what is shown of a failed command."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.builtin.demo_project import write_demo_project
from accord.builtin.offline.runs.output_excerpts import excerpt
from accord.builtin.offline.runs.project_tasks import TASKS, find_task, nothing_found
from accord.builtin.offline.runs.project_test_results import run_of
from tests.builtin.offline.talk import everywhere, talking, write

# A row: the task, a file and what is in it, and the command.
CONFIGURED = [
    ("lint", "package.json", '{"scripts": {"lint": "eslint ."}}', "npm run --silent lint"),
    ("lint", "Makefile", "lint: build\n\ttrue\n", "make lint"),
    ("lint", "pyproject.toml", "[tool.ruff]\n", "ruff check ."),
    ("lint", "ruff.toml", "", "ruff check ."),
    ("lint", "tox.ini", "[flake8]\n", "flake8"),
    ("lint", "eslint.config.mjs", "", "eslint ."),
    ("lint", "Cargo.toml", "", "cargo clippy"),
    ("lint", ".pre-commit-config.yaml", "", "pre-commit run --all-files"),
    ("format", "pyproject.toml", "[tool.black]\n", "black ."),
    ("format", "Makefile", "fmt:\n\ttrue\n", "make fmt"),
    ("types", "mypy.ini", "[mypy]\nfiles = src\n", "mypy"),
    ("types", "pyproject.toml", "[tool.mypy]\n", "mypy ."),
    ("types", "tsconfig.json", "{}", "tsc --noEmit"),
    ("build", "package.json", '{"scripts": {"build": "tsc"}}', "npm run --silent build"),
    ("start", "package.json", '{"scripts": {"dev": "vite"}}', "npm run --silent dev"),
]


@pytest.mark.parametrize(("task", "name", "text", "line"), CONFIGURED)
def test_a_task_is_found_by_what_the_project_has(
    task: str, name: str, text: str, line: str
) -> None:
    """Issue 14: "run the linter" runs the project's linter."""
    found = find_task(task, {name: text}, [name])
    assert found is not None
    assert found.line == line
    assert name in found.because
    assert find_task(task, {f"sub/{name}": text}, [f"sub/{name}"]) is None


@pytest.mark.parametrize("task", TASKS)
def test_nothing_is_found_where_nothing_is(task: str) -> None:
    """And what was looked for is named."""
    files = {"a.py": "x = 1\n", "Makefile": "other:\n", "pyproject.toml": "[project]\n",
             "package.json": '{"scripts": []}'}  # fmt: skip
    assert find_task(task, files, list(files)) is None
    for tool in TASKS[task].tools:
        assert f"`{tool.program}`" in nothing_found(task)


@everywhere
async def test_the_linter_is_run_or_honestly_not(tmp_path: Path, variant: str) -> None:
    """Issue 14: it executed `linter`."""
    async with talking(tmp_path, variant) as talk:
        answer = await talk.say("run the linter")
        assert "I found no linter in this project" in answer
        assert talk.asked == []
        write(tmp_path, {"Makefile": "lint:\n\t@echo all clean\n"})
        assert "all clean" in await talk.say("Run the linter, please!")
        assert [request.command for request in talk.asked] == ["make lint"]


async def test_a_tool_that_is_configured_and_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never an invention: it is configured, and it is not there."""
    write(tmp_path, {".golangci.yml": ""})
    monkeypatch.setenv("PATH", str(tmp_path))
    async with talking(tmp_path) as talk:
        answer = await talk.say("lint this")
        assert "I would run `golangci-lint run`, because .golangci.yml configures it." in answer
        assert "`golangci-lint` is not installed" in answer
        assert talk.asked == []


async def test_the_projects_own_program_comes_first(tmp_path: Path) -> None:
    """What its environment has is what it is checked with."""
    write(
        tmp_path,
        {"ruff.toml": "", ".venv/bin/python": "", ".venv/bin/ruff": "#!/bin/sh\necho own\n"},
    )
    (tmp_path / ".venv/bin/ruff").chmod(0o755)
    async with talking(tmp_path) as talk:
        assert "own" in await talk.say("run the linter")
        assert [request.command for request in talk.asked] == [".venv/bin/ruff check ."]


# ---- several things


@everywhere
@pytest.mark.parametrize(
    "typed", ["run the tests and fix what fails", "Run the tests, then fix it.", "test; fix"]
)
async def test_the_tests_are_run_and_repaired(tmp_path: Path, variant: str, typed: str) -> None:
    """Issue 14: our own example executed `tests and fix what fails`."""
    write_demo_project(tmp_path)
    async with talking(tmp_path, variant) as talk:
        answer = await talk.say(typed)
        assert "Repaired `calc.py:8`" in answer
        assert "**Green**" in answer
        assert talk.kinds() == ["execute", "read", "edit", "execute"]
        assert all("unittest" in (one.command or "") for one in talk.asked if one.kind == "execute")
        answer = await talk.say(typed)
        assert "**Green**" in answer
        assert "There is nothing to repair." in answer
        assert talk.kinds() == ["execute"], "they are run again"


async def test_several_things_are_done_in_their_order_or_not_at_all(tmp_path: Path) -> None:
    """What is not understood is said, and nothing is done then."""
    write(tmp_path, {"calc.py": '"""Sums."""\ndef total(): ...\n'})
    async with talking(tmp_path) as talk:
        answer = await talk.say("explain calc.py and find total")
        assert answer.index("> Sums.") < answer.index("“total” is in")
        answer = await talk.say("explain calc.py and dance a little")
        assert "I understood “explain calc.py”, but not “dance a little”" in answer
        assert talk.calls == []
        answer = await talk.say("run ls nowhere.txt and run git status")
        assert "So I stopped before “run git status”." in answer
        assert [call.title for call in talk.calls] == ["Run ls nowhere.txt"]
        assert "I do not know a command or a task `frobnicate`" in await talk.say("run frobnicate")
        assert talk.calls == []
        answer = await talk.say("npm install fails with ERESOLVE")
        assert "`$ npm install fails with ERESOLVE`" in answer
        assert talk.asked == []


# ---- what a failed command printed

WARNINGS = [f"npm warn deprecated pkg{number}@1.0.0: use another one" for number in range(80)]


def test_the_error_is_shown_and_not_the_warnings() -> None:
    """Issue 14: npm failures show the error, not the tail of the warnings."""
    output = "\n".join(
        ["> p@1.0.0 test", "Error: Cannot find module 'x'", "    at a.js:1", *WARNINGS]
    )
    part = excerpt(output, 20)
    assert part.text.split("\n") == [
        "> p@1.0.0 test",
        "Error: Cannot find module 'x'",
        "    at a.js:1",
    ]
    assert part.warnings == 80
    run = run_of("npm test", 1, output)
    assert "Cannot find module" in run.tail
    assert "deprecated" not in run.tail


def test_an_error_far_before_the_end_is_found() -> None:
    """As of a build that goes on: the window begins at the error."""
    output = "\n".join(["ok"] * 10 + ["src/a.ts(3,1): error TS2304: no x"] + ["more text"] * 60)
    part = excerpt(output, 20)
    assert "error TS2304" in part.text
    assert (part.lines_before, part.lines_after) == (9, 42)
    assert excerpt("a\nb\nc", 2).text == "b\nc"
    assert excerpt("\n".join(WARNINGS), 2).text == "\n".join(WARNINGS[-2:])


@given(st.text(max_size=400), st.integers(1, 20))
def test_an_excerpt_is_lines_of_the_output(output: str, lines_max: int) -> None:
    """Ours: nothing is made up, and it is within its bound."""
    part = excerpt(output, lines_max)
    every = output.rstrip().split("\n")
    shown = part.text.split("\n")
    assert len(shown) <= lines_max
    assert [line for line in shown if line not in every] == []


@everywhere
async def test_a_failing_npm_run_tells_why(tmp_path: Path, variant: str) -> None:
    """The same with a command and with the tests."""
    script = "echo \"Error: Cannot find module 'x'\"; seq -f 'npm warn old pkg%g' 200; exit 1"
    write(tmp_path, {"Makefile": f"test:\n\t@{script}\n"})
    async with talking(tmp_path, variant) as talk:
        for typed in ("run the tests", "make test", "why"):
            answer = await talk.say(typed)
            assert "Cannot find module 'x'" in answer
            assert "npm warn" not in answer
        assert "200 lines of warnings and hints" in await talk.say("make test")
