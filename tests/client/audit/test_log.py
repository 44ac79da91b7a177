"""The audit log as a file."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from accord.client.audit.log import FILES_MAX, LIST_ITEMS_MAX, TEXT_CHARACTERS_MAX, AuditLog


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_line_has_time_event_and_facts_and_nothing_that_is_none(tmp_path: Path) -> None:
    """docs/reference/configuration.md: the form of a line."""
    path = tmp_path / "state" / "audit.jsonl"
    log = AuditLog(path, facts={"workspace": "/w"})
    log.record("decision", outcome="allowed", command=None, paths=["/a"])
    (line,) = _lines(path)
    assert line.pop("time").endswith("+00:00")
    assert isinstance(line.pop("pid"), int)
    assert line == {"event": "decision", "workspace": "/w", "outcome": "allowed", "paths": ["/a"]}
    assert path.stat().st_mode & 0o777 == 0o600
    assert log.path == path


def test_values_are_bounded_and_without_secrets(tmp_path: Path) -> None:
    """Issue 3: no secrets; every line has a bound."""
    log = AuditLog(tmp_path / "audit.jsonl")
    long = "x" * (TEXT_CHARACTERS_MAX * 5)
    log.record(
        "e",
        text=long,
        many=["a"] * 1000,
        inner={"command": "API_KEY=abcdef", "none": None},
        path=Path("/p"),
        lone="\udcff",
        command="env FOO=plain MY_TOKEN=plain make",
        yes=True,
    )
    (line,) = _lines(tmp_path / "audit.jsonl")
    assert len(line["text"]) == TEXT_CHARACTERS_MAX + 1
    assert len(line["many"]) == LIST_ITEMS_MAX
    assert line["inner"] == {"command": "API_KEY=[secret]"}
    assert (line["path"], line["yes"]) == ("/p", True)
    assert line["command"] == "env FOO=plain MY_TOKEN=[secret] make"


def test_it_is_rotated_and_the_oldest_is_dropped(tmp_path: Path) -> None:
    """Issue 3: bounded."""
    path = tmp_path / "audit.jsonl"
    log = AuditLog(path, bytes_max=4096)
    for number in range(300):
        log.record("e", number=number, text="x" * 100)
    files = sorted(one for one in tmp_path.iterdir() if not one.name.startswith("."))
    assert [one.name for one in files] == [
        "audit.jsonl",
        *(f"audit.jsonl.{number}" for number in range(1, FILES_MAX)),
    ]
    assert all(one.stat().st_size <= 4096 for one in files)
    assert all(one.stat().st_mode & 0o777 == 0o600 for one in files)
    numbers = [line["number"] for one in reversed(files) for line in _lines(one)]
    assert numbers == list(range(numbers[0], 300))


def test_two_logs_share_a_file_also_when_one_has_put_it_aside(tmp_path: Path) -> None:
    """Ours: several processes write one log."""
    path = tmp_path / "audit.jsonl"
    one, two = AuditLog(path, bytes_max=4096), AuditLog(path, bytes_max=4096)
    for number in range(60):
        one.record("one", number=number, text="x" * 50)
        two.record("two", number=number)
    files = [file for file in tmp_path.iterdir() if not file.name.startswith(".")]
    lines = [line for file in files for line in _lines(file)]
    assert sorted(line["number"] for line in lines if line["event"] == "two") == list(range(60))
    assert sorted(line["number"] for line in lines if line["event"] == "one") == list(range(60))


def test_a_file_that_was_open_to_others_is_closed_to_them(tmp_path: Path) -> None:
    """Issue 3: 0600."""
    path = tmp_path / "audit.jsonl"
    path.touch(0o644)
    log = AuditLog(path)
    log.record("e")
    assert path.stat().st_mode & 0o777 == 0o600
    path.unlink()
    log.record("again")
    log.close()
    log.record("and again")
    assert [line["event"] for line in _lines(path)] == ["again", "and again"]


def test_half_a_line_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found in review: on a full disk a part is written, which would spoil the next line."""
    log = AuditLog(tmp_path / "audit.jsonl")
    log.record("one")
    write = os.write

    def write_a_part(descriptor: int, data: bytes) -> int:
        return write(descriptor, data[:5])

    monkeypatch.setattr(os, "write", write_a_part)
    log.record("two")
    monkeypatch.undo()
    log.record("three")
    assert [line["event"] for line in _lines(log.path)] == ["one", "three"]


def test_a_log_that_cannot_be_written_is_said_once_and_stops_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: a link in its place is not followed."""
    path = tmp_path / "audit.jsonl"
    path.symlink_to(tmp_path / "elsewhere")
    log = AuditLog(path)
    with caplog.at_level(logging.ERROR):
        log.record("e")
        log.record("e")
    assert len(caplog.records) == 1
    assert not (tmp_path / "elsewhere").exists()
