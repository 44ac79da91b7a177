"""The import contracts of pyproject.toml fail when a module imports what it must not know."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/accord"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
    "contracts"
]
# Packages whose folders are versions that independence contracts name, or chapters.
WITHOUT_LAYERS = {"accord.schema", "accord.protocol", "accord.transcript"}

# A file, the import that it must not have, and the contract that says so.
WRONG = [
    ("agent/turn.py", "agent.serving.v2.wire", "The agent: a turn does not know how"),
    ("agent/serving/v1/wire.py", "agent.serving.v2.wire", "The agent: v1 and v2 share an edge"),
    ("agent/session/session_state.py", "agent.tools.files", "The agent: a turn uses tools"),
    ("client/session/state.py", "client.wire.v1.wire", "The client: what is version-neutral"),
    ("client/wire/v1/wire.py", "client.wire.draft.wire", "The client: the wires of the versions"),
    (
        "client/shell/syntax_tree.py",
        "client.permissions.rules",
        "The client: deciding does not know",
    ),
    ("proxy/hop.py", "proxy.chain.conductor", "The proxy: its rooms"),
    ("connection/limits.py", "connection.connection", "The connection: its rooms"),
    ("terminal/screen/widgets/button.py", "terminal.screen.app", "The terminal client: the screen"),
    ("terminal/plain/input/key_reader.py", "terminal.plain.dialogs", "The terminal client: the li"),
    (
        "terminal/render/syntax_colours.py",
        "terminal.render.markdown",
        "The terminal client: rendering",
    ),
    ("terminal/model/chat.py", "terminal.model.changes", "The terminal client: the model"),
    (
        "translate/draft/agent/session_memory.py",
        "translate.draft.client",
        "The translators: the sides of",
    ),
    (
        "conformance/checks/client/v1/wire.py",
        "conformance.checks.client.v2",
        "The conformance kit: checks",
    ),
    ("gateway/configuration/rights.py", "gateway.access.access", "The gateway: its rooms"),
    ("cli/console.py", "cli.run", "The command line: its rooms"),
    ("builtin/workspace.py", "builtin.tools.toolbox", "The built-in agent: its rooms"),
    ("transport/websocket/client.py", "transport.server.connections", "The transports: the two"),
    ("gateway/engine/log_watch.py", "gateway.engine.memory", "The engine of the gateway: its mod"),
    ("gateway/engine/limits.py", "store.interface", "The engine of the gateway: what uses it"),
    ("mcp/results.py", "mcp.servers", "Rooms do not import each other in circles"),
]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the linter says of each contract in a copy of the source with the wrong imports."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(SOURCE, folder / "accord", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    for path, module, _ in WRONG:
        with (folder / "accord" / path).open("a") as file:
            file.write(f"\nimport accord.{module}\n")
    linter = Path(sys.executable).with_name("lint-imports")
    ran = subprocess.run(
        [linter, "--no-logo", "--no-cache"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return dict(re.findall(r"^(.+?) (KEPT|BROKEN)", ran.stdout, re.MULTILINE))


@pytest.mark.parametrize(("path", "module", "contract"), WRONG)
def test_a_wrong_import_breaks_its_contract(
    verdicts: dict[str, str], path: str, module: str, contract: str
) -> None:
    """Issue 15: contracts between the rooms."""
    [name] = [one["name"] for one in CONTRACTS if one["name"].startswith(contract)]
    assert verdicts[name] == "BROKEN", (path, module)


def test_other_contracts_are_kept(verdicts: dict[str, str]) -> None:
    """Ours: a contract that is broken by everything shows nothing."""
    assert len(verdicts) == len(CONTRACTS)
    assert verdicts["The schemas of the versions know nothing of each other"] == "KEPT"
    assert verdicts["Recordings: their rooms"] == "KEPT"


def test_every_package_with_rooms_says_how_they_are_layered() -> None:
    """Ours: a new room without a place fails the build, as a new folder of `accord` does."""
    layered = {
        container
        for contract in CONTRACTS
        if contract["type"] == "layers" and contract.get("exhaustive")
        for container in contract["containers"]
    }
    with_rooms = {
        f"accord.{folder.name}"
        for folder in SOURCE.iterdir()
        if any(path.is_dir() and (path / "__init__.py").exists() for path in folder.glob("*"))
    }
    assert with_rooms - layered == WITHOUT_LAYERS
