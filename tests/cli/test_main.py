"""The command `accord`: how it finds commands, and what it says when one ends badly."""

from __future__ import annotations

import signal
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from accord.cli.main import COMMANDS, INTERRUPTED, main
from accord.errors import AccordError, SpawnFailed
from accord.version import __version__
from tests.hang_limit import HANG_SECONDS


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[BaseException], None]]:
    """Makes a command `fail` that ends with the exception that it is given."""
    before = signal.getsignal(signal.SIGINT)

    def make(error: BaseException) -> None:
        def add_arguments(parser: ArgumentParser) -> None:
            pass

        def run(arguments: Namespace) -> int:
            raise error

        module = ModuleType("accord.cli.commands.fail")
        module.__dict__.update(add_arguments=add_arguments, run=run)
        monkeypatch.setitem(sys.modules, "accord.cli.commands.fail", module)
        monkeypatch.setitem(COMMANDS, "fail", "ends badly")

    yield make
    signal.signal(signal.SIGINT, before)


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Ours: what people type first."""
    assert main([]) == 2
    assert "demo" in capsys.readouterr().out


@pytest.mark.parametrize("way", [("-m", "accord"), ("-m", "accord.cli.main")])
def test_python_m_accord_is_the_command(way: tuple[str, ...]) -> None:
    """Newcomers: `python -m accord` failed."""
    shown = subprocess.run(
        [sys.executable, *way, "--version"],
        capture_output=True,
        text=True,
        check=True,
        timeout=HANG_SECONDS,
    )
    assert shown.stdout == f"accord {__version__}\n"


def test_ctrl_c_at_any_time_is_130_and_nothing_else(
    command: Callable[[BaseException], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Newcomers: Ctrl-C right after the start showed which import was under way."""
    command(KeyboardInterrupt())
    assert main(["fail"]) == INTERRUPTED
    assert capsys.readouterr() == ("", "")


def test_ctrl_c_while_a_command_is_imported(
    monkeypatch: pytest.MonkeyPatch, command: Callable[[BaseException], None]
) -> None:
    """Newcomers: the same, a moment earlier."""
    command(AccordError("not reached"))

    def interrupted(name: str) -> ModuleType:
        raise KeyboardInterrupt

    monkeypatch.setattr("importlib.import_module", interrupted)
    assert main(["fail"]) == INTERRUPTED


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (SpawnFailed("cannot start 'x'"), 1, "accord: cannot start 'x'\n"),
        (ExceptionGroup("", [SpawnFailed("in a task")]), 1, "accord: in a task\n"),
        (PermissionError(13, "Permission denied"), 1, "accord: Permission denied\n"),
        (PermissionError(13, "Permission denied", "/x"), 1, "accord: /x: Permission denied\n"),
    ],
)
def test_what_was_foreseen_is_a_sentence(
    error: BaseException,
    code: int,
    said: str,
    command: Callable[[BaseException], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Ours: a traceback is for mistakes of ours."""
    command(error)
    assert main(["fail"]) == code
    assert capsys.readouterr().err == said


def test_a_mistake_of_ours_is_shown_whole_but_for_secrets(
    command: Callable[[BaseException], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue 12: a traceback ends up in logs, so no key is in it; hiding the rest helps nobody."""
    command(ZeroDivisionError("ours, with sk-abcdefghijklmnop1234"))
    assert main(["fail"]) == 1
    told = capsys.readouterr().err
    assert told.startswith("Traceback")
    assert told.endswith("ZeroDivisionError: ours, with [secret]\n")


def test_options_without_a_command_are_those_of_chat(capsys: pytest.CaptureFixture[str]) -> None:
    """Issue 6: bare accord is accord chat, so `accord --continue` is `accord chat --continue`."""
    assert main(["--cwd", "/nowhere/at/all"]) == 2
    assert "accord chat: /nowhere/at/all is not a folder" in capsys.readouterr().err
    assert main(["--"]) == 2
    assert "the command after -- is missing" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["--version"])
