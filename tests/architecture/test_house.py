"""The source tree keeps the shape that ARCHITECTURE.md describes."""

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import accord

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/accord"
PAGE = (ROOT / "ARCHITECTURE.md").read_text()
FOLDER_FILES_MAX = 15
# Their files are the chapters of the specification, and the commands as `accord --help` lists them.
CHAPTERS = {"schema/v1", "schema/v2", "cli/commands"}
# These are nouns.
NOUNS = {"framing", "logging", "streaming", "tracing", "string"}
PREFIX = re.compile(r"(?:v1|v2|draft|early|unstable)_")


@cache
def modules() -> dict[str, Path]:
    """Every module of ours by its name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ["accord", *path.relative_to(SOURCE).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


# They carry bytes; those that cross a network carry messages.
BYTE_TRANSPORTS = ("memory", "pipes", "readiness", "stdio", "subprocess", "transport")


def imports_of(path: Path) -> set[str]:
    """Our own modules that a file imports: at the top, for types only, or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    # A name of a module may be a module itself: then that one is meant, and not the package.
    inner = {name for name in found if name in modules()}
    return {name for name in inner if not any(one.startswith(f"{name}.") for one in inner)}


def test_no_folder_is_crowded() -> None:
    """Issue 15: at most fifteen files, so that a list of them is read at one glance."""
    counts = Counter(
        str(path.parent.relative_to(SOURCE))
        for path in modules().values()
        if path.name != "__init__.py"
    )
    crowded = {name: count for name, count in counts.items() if count > FOLDER_FILES_MAX}
    assert set(crowded) <= CHAPTERS, crowded


def test_modules_are_named_by_nouns() -> None:
    """Issue 15: what a module holds, not what somebody does with it."""
    names = [path.stem for path in modules().values()]
    assert [name for name in names if name.endswith("ing") and name not in NOUNS] == []


def test_versions_are_folders() -> None:
    """Issue 15: a prefix that several files share is a folder that has not been made yet."""
    found = [str(path) for path in modules().values() if PREFIX.match(path.name)]
    assert found == []


def test_modules_do_not_import_each_other_in_circles() -> None:
    """Issue 15: also not for types only; a circle is one module in several files."""
    graph = {name: imports_of(path) - {name} for name, path in modules().items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_private_names_of_modules_are_used() -> None:
    """Issue 15: dead names go; a linter sees only unused imports and local variables."""
    unused = []
    for module, path in modules().items():
        text = path.read_text()
        for node in ast.parse(text).body:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    names = [] if node.decorator_list else [node.name]
                case ast.Assign():
                    names = [one.id for one in node.targets if isinstance(one, ast.Name)]
                case ast.AnnAssign(target=ast.Name() as target):
                    names = [target.id]
                case _:
                    names = []
            private = [name for name in names if re.match(r"_[a-zA-Z]", name)]
            unused += [
                f"{module}.{name}" for name in private if len(re.findall(rf"\b{name}\b", text)) == 1
            ]
    assert unused == []


def test_every_folder_is_on_the_page_and_every_path_on_it_exists() -> None:
    """Issue 15: the map is true."""
    folders = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    described = set(re.findall(r"^\*\*`(\w+)/`\*\*", PAGE, re.MULTILINE))
    assert described == folders
    names = {path.name for path in SOURCE.rglob("*.py")}
    for mentioned in re.findall(r"`([\w/]+\.py)`", PAGE):
        if "/" not in mentioned:
            assert mentioned in names, mentioned
        else:
            inside = mentioned.removeprefix("src/accord/")
            assert any(path.match(inside) for path in modules().values()), mentioned


def test_every_folder_in_the_text_of_the_page_exists() -> None:
    """ARCHITECTURE.md: the map is true."""
    folders = [path for path in SOURCE.rglob("*") if path.is_dir()]
    for mentioned in re.findall(r"`([\w/]+)/`", PAGE):
        assert any(path.match(mentioned) for path in folders), mentioned


def test_every_boundary_is_defined_in_its_folder() -> None:
    """ARCHITECTURE.md, section 3: what other folders use of this one."""
    _, *sections = re.split(r"^\*\*`(\w+)/`\*\*", PAGE, flags=re.MULTILINE)
    for folder, text in zip(sections[::2], sections[1::2], strict=True):
        code = "\n".join(path.read_text() for path in (SOURCE / folder).rglob("*.py"))
        boundary = text.partition("*Boundary:*")[2].partition("\n\n")[0]
        names = [name for name in re.findall(r"`([\w.]+)`", boundary) if not name.endswith(".py")]
        assert boundary, folder
        for name in names:
            last = name.rpartition(".")[2]
            assert re.search(rf"(?m)\b(?:def|class) {last}\b|^{last}\b.*=", code), (
                f"{folder}: {name}"
            )


def test_a_json_rpc_peer_knows_no_method_of_acp() -> None:
    """ARCHITECTURE.md, `jsonrpc/`."""
    for path in (SOURCE / "jsonrpc").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not re.fullmatch(r"(?:session|fs|terminal|auth)/\w+", node.value), path


@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [
        ("machine", ("accord.schema",)),
        ("transport", ("accord.schema.v1", "accord.schema.v2", "accord.schema.draft")),
        *(
            (f"transport/{name}.py", ("accord.jsonrpc", "accord.schema"))
            for name in BYTE_TRANSPORTS
        ),
        ("agent/serving/active_sessions.py", ("accord.schema.v1", "accord.schema.draft")),
        ("agent/turn.py", ("accord.schema.v1", "accord.schema.draft")),
        ("agent/session", ("accord.schema.v1", "accord.schema.draft")),
    ],
)
def test_what_the_page_says_is_unknown_is_not_imported(
    folder: str, forbidden: tuple[str, ...]
) -> None:
    """ARCHITECTURE.md: the invariants that are absences."""
    place = SOURCE / folder
    for path in [place] if place.is_file() else place.rglob("*.py"):
        known = [name for name in imports_of(path) if name.startswith(forbidden)]
        assert known == [], path


def test_the_page_lists_folders_from_the_bottom_up() -> None:
    """ARCHITECTURE.md, section 3: a folder imports only those that stand before it."""
    order = re.findall(r"^\*\*`(\w+)/`\*\*", PAGE, re.MULTILINE)
    for place, folder in enumerate(order):
        for path in (SOURCE / folder).rglob("*.py"):
            used = {name.split(".")[1] for name in imports_of(path) if name.count(".")}
            assert used & set(order[place + 1 :]) == set(), path


def test_the_main_program_loads_no_command_before_it_is_called() -> None:
    """ARCHITECTURE.md, `cli/`: a command is imported when it is called."""
    script = "import sys, accord.cli.main; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert [name for name in ran.stdout.split() if name.startswith("accord.cli.commands.")] == []


@pytest.mark.parametrize("version", [1, 2])
def test_only_the_edge_of_the_spoken_version_is_loaded(version: int) -> None:
    """ARCHITECTURE.md, section 5: each agent is a process, and its start is waited for."""
    script = f"""
import sys, anyio
from accord import Agent, Client, Turn
from accord.transport.memory import memory_pair

agent = Agent("a", version="1")

@agent.on_prompt
async def answer(turn: Turn) -> None:
    await turn.say("hi")

async def main() -> None:
    ours, theirs = memory_pair()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(agent.serve, theirs)
        async with Client.connect(ours, versions=({version},)) as client:
            session = await client.new_session(cwd=".")
            await session.ask("x")
        tasks.cancel_scope.cancel()

anyio.run(main)
print(*sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    edges = re.findall(r"accord\.(?:agent\.serving|client\.wire)\.(v1|v2|draft)\b", ran.stdout)
    assert set(edges) == {f"v{version}"}
    assert ".draft" not in ran.stdout


def test_public_exceptions_derive_from_one_class() -> None:
    """ARCHITECTURE.md, `errors.py`."""
    public = [getattr(accord, name) for name in accord.__all__]
    errors = [one for one in public if isinstance(one, type) and issubclass(one, Exception)]
    assert errors
    assert [one for one in errors if not issubclass(one, accord.AccordError)] == []
