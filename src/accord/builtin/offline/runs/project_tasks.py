"""What a project does besides its tests: how it is linted, formatted, type-checked, built, started.

Pure: found from the names of files and what is in a few of them.  The project's own way comes first
(a script of package.json, a target of the Makefile), then a tool that is configured.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from accord.builtin.offline.answer_format import listed

MAKEFILES = ("Makefile", "makefile", "GNUmakefile")


@dataclass(frozen=True, slots=True)
class Tool:
    """A program, and the files at the top of a project that configure it."""

    program: str
    arguments: str
    # Names; `name: text` is a file that has the text in it.
    configured_by: tuple[str, ...]
    is_node: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """One thing that projects do: under which names, with which tools."""

    noun: str
    names: tuple[str, ...]
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskCommand:
    """How a project does it.  The program is None where the line is whole."""

    program: str | None
    line: str
    because: str
    is_node: bool = False


_ESLINT = ("eslint.config.*", ".eslintrc", ".eslintrc.*", 'package.json: "eslintConfig"')
TASKS: Mapping[str, Task] = {
    "lint": Task("linter", ("lint",), (
        Tool("ruff", "check .", ("ruff.toml", ".ruff.toml", "pyproject.toml: [tool.ruff")),
        Tool("flake8", "", (".flake8", "setup.cfg: [flake8]", "tox.ini: [flake8]")),
        Tool("pylint", "--recursive=y .",
             (".pylintrc", "pylintrc", "pyproject.toml: [tool.pylint")),
        Tool("eslint", ".", _ESLINT, is_node=True),
        Tool("biome", "check", ("biome.json", "biome.jsonc"), is_node=True),
        Tool("golangci-lint", "run", (".golangci.y*ml",)),
        Tool("cargo", "clippy", ("Cargo.toml",)),
        Tool("pre-commit", "run --all-files", (".pre-commit-config.yaml",)),
    )),
    "format": Task("formatter", ("format", "fmt"), (
        Tool("black", ".", ("pyproject.toml: [tool.black]",)),
        Tool("ruff", "format .", ("ruff.toml", ".ruff.toml", "pyproject.toml: [tool.ruff")),
        Tool("prettier", "--write .", (".prettierrc", ".prettierrc.*", "prettier.config.*"),
             is_node=True),
        Tool("biome", "format --write", ("biome.json", "biome.jsonc"), is_node=True),
        Tool("cargo", "fmt", ("Cargo.toml",)),
        Tool("gofmt", "-w .", ("go.mod",)),
    )),
    "types": Task("type checker", ("typecheck", "type-check", "types", "mypy"), (
        Tool("mypy", "", ("mypy.ini: files", ".mypy.ini: files",
                          "pyproject.toml: [tool.mypy]\nfiles")),
        Tool("mypy", ".", ("mypy.ini", ".mypy.ini", "pyproject.toml: [tool.mypy",
                           "setup.cfg: [mypy")),
        Tool("pyright", "", ("pyrightconfig.json", "pyproject.toml: [tool.pyright]")),
        Tool("tsc", "--noEmit", ("tsconfig.json",), is_node=True),
    )),
    "build": Task("build", ("build",), (
        Tool("cargo", "build", ("Cargo.toml",)),
        Tool("go", "build ./...", ("go.mod",)),
    )),
    "start": Task("way to start it", ("start", "run", "serve", "dev")),
}  # fmt: skip


def find_task(name: str, files: Mapping[str, str], paths: Collection[str]) -> TaskCommand | None:
    """How a project does one of the tasks; None when nothing in it says so."""
    task = TASKS[name]
    scripts = _scripts(files.get("package.json", ""))
    for one in task.names:
        if one in scripts:
            because = f"package.json has a script `{one}`"
            return TaskCommand(None, f"npm run --silent {one}", because)
    makefile = next((path for path in MAKEFILES if path in paths), "")
    for one in task.names:
        if re.search(rf"^{re.escape(one)}\s*:(?!=)", files.get(makefile, ""), re.MULTILINE):
            return TaskCommand(None, f"make {one}", f"{makefile} has a target `{one}`")
    for tool in task.tools:
        for mark in tool.configured_by:
            found = next(_with_mark(mark, files, paths), None)
            if found is not None:
                line = f"{tool.program} {tool.arguments}".strip()
                is_general = mark in ("Cargo.toml", "go.mod")
                because = f"there is a {found}" if is_general else f"{found} configures it"
                return TaskCommand(tool.program, line, because, tool.is_node)
    return None


def _with_mark(mark: str, files: Mapping[str, str], paths: Collection[str]) -> Iterator[str]:
    name, _, wanted = mark.partition(": ")
    for path in paths:
        if fnmatchcase(path, name) and "/" not in path:
            text = files.get(path, "")
            if all(part in text for part in wanted.split("\n")):
                yield path


def _scripts(package: str) -> Collection[str]:
    try:
        scripts = json.loads(package)["scripts"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ()
    return scripts if isinstance(scripts, dict) else ()


def nothing_found(name: str) -> str:
    """A sentence about what was searched and not found."""
    task = TASKS[name]
    looked = f"no script {_either(task.names)} in package.json, no such target in a Makefile"
    tools = dict.fromkeys(tool.program for tool in task.tools)
    if tools:
        looked += f", and no configuration at the top of the project for {listed(list(tools), 12)}"
    return f"I found no {task.noun} in this project: {looked}. `$ COMMAND` runs any command."


def _either(names: Collection[str]) -> str:
    return " or ".join(f"`{name}`" for name in names)
