"""Programs are looked up by name, never in the working directory."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.errors import SpawnFailed
from accord.machine.processes.program_lookup import absolute_folders, find_program, with_program

NAME = "accord-test-program"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a program in it and in its `bin`."""
    folder = tmp_path / "project"
    for place in (folder, folder / "bin", tmp_path / "installed"):
        place.mkdir()
        (place / NAME).write_text("#!/bin/sh\n")
        (place / NAME).chmod(0o755)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("path", [".", "", ":", ".:bin", "bin:", "./bin:../project", "//:."])
def test_a_relative_folder_of_the_path_is_skipped(
    project: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Issue 12: programs that we look up never come from the project's folder."""
    installed = project.parent / "installed"
    monkeypatch.setenv("PATH", path)
    assert find_program(NAME) is None
    with pytest.raises(SpawnFailed, match="no such program"):
        with_program([NAME, "x"])
    monkeypatch.setenv("PATH", f"{path}:{installed}")
    assert find_program(NAME) == str(installed / NAME)
    assert with_program([NAME, "x"]) == [str(installed / NAME), "x"]


def test_a_path_that_was_written_out_is_taken_at_its_word(project: Path) -> None:
    """Ours: who writes a folder means it."""
    assert find_program(f"./{NAME}") == str(project / NAME)
    assert find_program("./missing") is None
    assert with_program([f"./{NAME}"]) == [f"./{NAME}"]
    assert with_program([]) == []


def test_the_variables_of_the_program_say_where_it_is(project: Path) -> None:
    """Ours: as the system itself does where a program gets an environment of its own."""
    installed = project.parent / "installed"
    assert with_program([NAME], {"PATH": str(installed)}) == [str(installed / NAME)]
    assert with_program(["sh"], {})[0].endswith("/sh")


@given(st.text(alphabet="./:ab"))
def test_only_absolute_folders_are_left(path: str) -> None:
    """Ours: the same folder wherever one is, and in the same order."""
    left = absolute_folders(path).split(os.pathsep)
    assert left == [one for one in path.split(":") if one.startswith("/")] or left == [""]
