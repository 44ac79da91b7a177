"""What people get: the wheel, the command, the extras."""

import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("accord-*.whl")
    return zipfile.ZipFile(built)


def test_the_wheel_holds_the_whole_package_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    """Issue 2: `pip install .` gives people the library, typed."""
    source = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == source
    assert "accord/py.typed" in packed


def test_the_page_of_the_web_client_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    """Issue 18: its built files are shipped; users need no Node."""
    page = "accord/web/page/"
    index = wheel.read(f"{page}index.html").decode()
    for loaded in re.findall(r'(?:src|href)="(?:\./)?([^":]+)"', index):
        assert wheel.read(page + loaded), loaded


def test_the_core_depends_on_msgspec_and_anyio_alone(wheel: zipfile.ZipFile) -> None:
    """Issue 2: everything else is an extra."""
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    required = Parser().parsestr(wheel.read(name).decode()).get_all("Requires-Dist", [])
    core = [requirement for requirement in required if "extra ==" not in requirement]
    assert sorted(requirement.split(">")[0] for requirement in core) == ["anyio", "msgspec"]


def test_the_extra_all_is_the_sum_of_the_extras() -> None:
    """Issue 2: `all` is the sum."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = dict(project["optional-dependencies"])
    everything = extras.pop("all")
    assert everything == [f"accord[{','.join(sorted(extras))}]"]


def test_the_licence_travels_with_the_wheel(wheel: zipfile.ZipFile) -> None:
    """Apache-2.0, section 4: whoever gets the work gets the licence."""
    assert any(name.endswith("/licenses/LICENSE") for name in wheel.namelist())
