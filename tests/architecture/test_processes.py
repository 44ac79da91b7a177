"""Which files start processes and look up programs.  A new one has to find its place here."""

import ast
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent.parent / "src" / "accord"

OWN = "a program of ours, by machine/own_command_line.py"
GIT = "git without anything that the repository names, by machine/git.py"
SYSTEM = "a program of the system, by its absolute path"
PERSON = "what the person named, on the command line, in the configuration or in $EDITOR"
ASKED = "what somebody allowed, or an MCP server that the person or the client named"
KIT = "what the judged agent asks for, in a folder that the kit has made"

STARTERS = {
    "builtin/offline/repairs/javascript/node_check.py": SYSTEM,
    "builtin/tools/search/project_files.py": GIT,
    "builtin/tools/search/glob_grep.py": OWN,
    "cli/commands/replay.py": PERSON,
    "cli/commands/trace.py": PERSON,
    "client/login.py": PERSON,
    "client/services/forms.py": OWN,
    "conformance/agent/fake_client.py": KIT,
    "conformance/run/program.py": PERSON,
    "machine/processes/process_groups.py": SYSTEM,
    "machine/sandbox/availability.py": OWN,
    "machine/sandbox/bubblewrap.py": "bubblewrap, by its absolute path",
    "machine/sandbox/launcher.py": "what stands behind it on its command line, in a sandbox",
    "machine/optional_packages.py": OWN,
    "machine/processes/child_process.py": "the one way to start what others below ask for",
    "machine/terminals/terminals.py": ASKED,
    "mcp/server_process.py": ASKED,
    "mcp/schema_validation.py": OWN,
    "terminal/model/changes/git_state.py": GIT,
    "terminal/model/prompt/clipboard_image.py": SYSTEM,
    "machine/file_search/file_index.py": GIT,
    "terminal/screen/web_browser.py": SYSTEM,
    "terminal/screen/external_editor.py": PERSON,
    "tracing/recorder/recorder.py": PERSON,
    "transport/subprocess.py": PERSON,
}
"""Every file that starts a process, and what kind of program that is."""

STARTING_CALLS = frozenset(
    {
        *("anyio.open_process", "anyio.run_process", "open_process", "run_process", "spawn"),
        *("subprocess.Popen", "subprocess.run", "subprocess.call", "subprocess.check_call"),
        *("subprocess.check_output", "subprocess.getoutput", "subprocess.getstatusoutput", "Popen"),
        *("os.system", "os.popen", "os.posix_spawn", "os.posix_spawnp", "os.startfile"),
        *(f"os.{kind}{how}" for kind in ("exec", "spawn") for how in ("l", "v", "ve", "vp", "vpe")),
        *("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell", "pty.spawn"),
        *("webbrowser.open", "webbrowser.open_new_tab", "multiprocessing.Process"),
    }
)


@cache
def _files() -> list[tuple[str, ast.Module]]:
    return [
        (path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text()))
        for path in sorted(SOURCE.rglob("*.py"))
    ]


@cache
def _names(tree: ast.Module) -> set[str]:
    """Every dotted name that is read."""
    return {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


@cache
def _calls(tree: ast.Module) -> set[str]:
    return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


def _imports(tree: ast.Module) -> set[str]:
    return {
        f"{node.module}.{name.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }


def test_one_module_knows_the_interpreter() -> None:
    """Issue 12: one function builds every command line of ours."""
    found = {
        name
        for name, tree in _files()
        if {"sys.executable", "sys._base_executable"} & (_names(tree) | _imports(tree))
    }
    assert found == {"machine/own_command_line.py"}


def test_one_module_looks_up_programs() -> None:
    """Issue 12: what a relative entry of PATH names is never found."""
    found = {
        name
        for name, tree in _files()
        if "shutil.which" in _names(tree) | _imports(tree) or "which" in _calls(tree)
    }
    assert found == {"machine/processes/program_lookup.py"}


def test_every_file_that_starts_a_process_is_known() -> None:
    """Issue 12: the same question is asked of everything that starts in a project's folder."""
    assert {name for name, tree in _files() if STARTING_CALLS & _calls(tree)} == set(STARTERS)


@pytest.mark.parametrize(
    ("kind", "module"),
    [(OWN, "accord.machine.own_command_line"), (GIT, "accord.machine.git")],
)
def test_what_starts_is_built_where_it_says(kind: str, module: str) -> None:
    """Issue 12: the table lists nothing that is not there."""
    for name, tree in _files():
        if STARTERS.get(name) == kind:
            assert any(one.startswith(f"{module}.") for one in _imports(tree)), name
