"""`accord trace` on files."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from accord.cli.main import main
from tests.hang_limit import HANG_SECONDS
from tests.tracing.samples import Tape, broken, hostile, prompt, talk


def file_of(tape: Tape, folder: Path) -> str:
    path = folder / "session.jsonl"
    path.write_bytes(bytes(tape))
    return str(path)


def test_text_has_one_line_per_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Issue 4: --text."""
    assert main(["trace", file_of(talk(), tmp_path), "--text"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("session/request_permission" in line and "2.40 s" in line for line in lines)
    assert any("I look at the file first" in line for line in lines)


def test_validate_is_1_for_a_broken_rule_and_0_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue 4: --validate, exit 1 on a broken rule."""
    assert main(["trace", file_of(talk(), tmp_path), "--validate"]) == 0
    assert capsys.readouterr().out.endswith("no broken rules\n")
    assert main(["trace", file_of(broken(), tmp_path), "--validate"]) == 1
    assert "V1-TOOL-13" in capsys.readouterr().out


def test_advice_is_shown_and_breaks_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """V1-GEN-05 is a SHOULD NOT."""
    tape = Tape()
    tape.initialize()
    tape.message("client", {"id": None, "method": "_x"})
    assert main(["trace", file_of(tape, tmp_path), "--validate"]) == 0
    assert "1 recommendation not followed" in capsys.readouterr().out


def test_programs_get_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Design: --json where a program may read it."""
    path = file_of(broken(), tmp_path)
    assert main(["trace", path, "--validate", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found[0]["rule"] == "TR-STDIO-03"
    assert found[0]["number"] == 5
    assert main(["trace", path, "--stats", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["method"] == "initialize"


def test_stats_are_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Issue 4: --stats, p50 and p99."""
    assert main(["trace", file_of(talk(), tmp_path), "--stats"]) == 0
    head, first, *_ = capsys.readouterr().out.splitlines()
    assert "p99" in head
    assert "session/prompt" in first


def test_a_page_is_written_for_its_owner_alone(tmp_path: Path) -> None:
    """Issue 4: --html OUT; ours: what was said is private."""
    out = tmp_path / "page.html"
    assert main(["trace", file_of(talk(), tmp_path), "--html", str(out)]) == 0
    assert out.read_text().startswith("<!doctype html>")
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_without_an_option_the_page_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue 4: `accord trace FILE` opens a page."""
    opened: list[str] = []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert main(["trace", file_of(talk(), tmp_path)]) == 0
    place = capsys.readouterr().out.strip()
    assert opened == [Path(place).as_uri()]
    assert "talk" not in place
    assert stat.S_IMODE(Path(place).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "content", [b"", b"hello\n", b'{"format":"accord-recording","version":9}\n']
)
def test_another_file_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    """Ours: people name the wrong file."""
    path = tmp_path / "x"
    path.write_bytes(content)
    assert main(["trace", str(path), "--text"]) == 2
    assert capsys.readouterr().err.startswith("accord trace: ")
    assert main(["trace", str(tmp_path / "no"), "--text"]) == 2


def test_hostile_recordings_do_not_command_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue 4: nothing they print reaches the terminal unescaped."""
    path = file_of(hostile(), tmp_path)
    for option in ("--text", "--stats", "--validate"):
        main(["trace", path, option])
        assert "\x1b" not in capsys.readouterr().out


def test_follow_shows_what_is_recorded_while_it_is(tmp_path: Path) -> None:
    """Issue 4: --follow for a live recording."""
    tape = Tape()
    tape.initialize()
    path = Path(file_of(tape, tmp_path))
    with subprocess.Popen(
        [sys.executable, "-m", "accord", "trace", str(path), "--follow"],
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={"PYTHONIOENCODING": "utf-8", "PATH": ""},
    ) as following:
        assert following.stdout is not None
        seen = following.stdout.readline()
        assert "initialize" in seen
        written = len(tape.lines)
        tape.ask("client", "session/prompt", prompt("Hello there"))
        tape.end()
        with path.open("ab") as file:
            half = len(tape.lines[written]) // 2
            file.write(tape.lines[written][:half])
            file.flush()
            file.write(tape.lines[written][half:] + tape.lines[written + 1])
        rest = following.communicate(timeout=HANG_SECONDS)[0]
        assert following.returncode == 0
    assert "Hello there" in rest
    assert "the agent exited" in rest


def test_following_can_be_interrupted_without_a_complaint(tmp_path: Path) -> None:
    """Ours: `--follow | head` said that the recording could not be read."""
    tape = Tape()
    tape.initialize()
    path = Path(file_of(tape, tmp_path))
    with subprocess.Popen(
        [sys.executable, "-m", "accord", "trace", str(path), "--follow"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PYTHONIOENCODING": "utf-8", "PATH": ""},
    ) as following:
        assert following.stdout is not None
        assert following.stderr is not None
        assert b"initialize" in following.stdout.readline()
        following.stdout.close()
        written = len(tape.lines)
        tape.ask("client", "session/prompt", prompt("Hello there"))
        tape.end()
        with path.open("ab") as file:
            file.write(b"".join(tape.lines[written:]))
        assert following.stderr.read() == b""
        assert following.wait(HANG_SECONDS) == 141


def test_a_recording_of_many_frames_is_read_in_one_go(tmp_path: Path) -> None:
    """Issue 4: long recordings; linear, so a tenth of them is a tenth of the time."""
    from tests.tracing.samples import long

    began = time.monotonic()
    assert main(["trace", file_of(long(10_000), tmp_path), "--html", str(tmp_path / "o")]) == 0
    print(f"10,000 frames became a page in {time.monotonic() - began:.2f} s")
