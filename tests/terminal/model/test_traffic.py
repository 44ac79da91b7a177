"""The traffic as it is kept: frames, pairs, bounds, and a recording that `accord trace` reads."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.cli.main import main
from accord.terminal.model.traffic import Traffic, Way
from accord.tracing.display.timeline import timeline_of
from accord.tracing.recording_file import read_recording


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def line(**message: Any) -> bytes:
    """A frame as it goes over the wire."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def talk(traffic: Traffic, clock: Clock | None = None) -> None:
    """One question with its answer, an update, noise, and a question of the agent."""
    params = {"sessionId": "s1", "prompt": [{"type": "text", "text": "hello"}]}
    traffic.record("sent", line(id=1, method="session/prompt", params=params))
    if clock is not None:
        clock.now += 0.25
    traffic.record("received", b"a debug print\n" + line(method="session/update", params=params))
    traffic.record("received", line(id=1, method="fs/read_text_file", params={"sessionId": "s1"}))
    traffic.record("sent", line(id=1, error={"code": -32000, "message": "no"}))
    if clock is not None:
        clock.now += 0.5
    traffic.record("received", line(id=1, result={"stopReason": "end_turn"}))
    traffic.catch_up()


def test_answers_know_their_question_and_how_long_it_took() -> None:
    """Issue 6: every frame, paired."""
    clock = Clock()
    traffic = Traffic(clock=clock)
    talk(traffic, clock)
    kinds = [(one.way, one.kind, one.method, one.pair) for one in traffic.items()]
    assert kinds == [
        ("sent", "request", "session/prompt", 6),
        ("received", "noise", "", None),
        ("received", "notification", "session/update", None),
        ("received", "request", "fs/read_text_file", 5),
        ("sent", "error", "fs/read_text_file", 4),
        ("received", "answer", "session/prompt", 1),
    ]
    answer, question = traffic.item(6), traffic.item(1)
    assert answer is not None
    assert question is not None
    assert answer.latency == question.latency == pytest.approx(0.75)
    assert answer.session == "s1"
    assert traffic.item(7) is None
    assert traffic.item(0) is None


@given(st.data())
def test_any_split_gives_the_same_frames(data: st.DataObject) -> None:
    """Ours: chunks are not frames."""
    whole = b"noise\n" + line(id=1, method="a", params={"x": "ü" * 20}) + line(id=2, result=None)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(whole) - 1), max_size=8)))
    traffic = Traffic()
    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        traffic.record("received", whole[start:end])
    assert [one.raw + b"\n" for one in traffic.items()] == whole.splitlines(keepends=True)


def test_frames_behind_headers_are_frames_too() -> None:
    """Ours: some agents speak with Content-Length."""
    traffic = Traffic()
    body = b'{"jsonrpc":"2.0",\n"id":1,"result":{}}'
    traffic.record("received", b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    assert [one.raw for one in traffic.items()] == [body]


def test_the_oldest_go_when_there_are_too_many_or_they_are_too_large(tmp_path: Path) -> None:
    """Rule 6 of the house: everything has a bound."""
    traffic = Traffic(frames_max=3000)
    for number in range(10_000):
        traffic.record("sent", line(id=number, method="x"))
    traffic.catch_up()
    assert len(traffic) == 3000
    assert traffic.first == 7001
    first = traffic.item(7001)
    assert first is not None
    assert json.loads(first.raw)["id"] == 7000
    assert [one.number for one in traffic.items(9_999)] == [9_999, 10_000]
    traffic.save(tmp_path / "t.jsonl")
    recording = read_recording((tmp_path / "t.jsonl").read_bytes().splitlines())
    assert recording.entries[0].kind == "gap"
    assert len(recording.entries) == 3001

    small = Traffic(bytes_max=1000)
    for _ in range(10):
        small.record("sent", b"x" * 400 + b"\n")
    assert len(small) == 2
    small.record("sent", b"x" * 4000 + b"\n")
    assert len(small) == 1


def test_a_frame_that_is_too_long_is_told_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rule 6 of the house."""
    monkeypatch.setattr("accord.terminal.model.traffic.FRAME_BYTES_MAX", 100)
    traffic = Traffic()
    traffic.record("received", b"x" * 150)
    traffic.record("received", b"x" * 150)
    traffic.record("received", b"\n" + line(id=1, result=None))
    traffic.catch_up()
    gap, after = traffic.items()
    assert (gap.kind, gap.raw, after.kind) == ("gap", b"", "answer")
    assert gap.size >= 150


def test_after_the_end_ids_begin_anew() -> None:
    """Ours: a restarted agent must not answer for the one before; half a line is not glued on."""
    traffic = Traffic()
    traffic.record("sent", line(id=1, method="initialize"))
    traffic.record("received", b'{"half":')
    traffic.record("received", b"")
    traffic.record("sent", line(id=1, method="initialize"))
    traffic.record("received", line(id=1, result={}))
    traffic.catch_up()
    assert [one.kind for one in traffic.items()] == ["request", "end", "request", "answer"]
    assert [one.pair for one in traffic.items()] == [None, None, 4, 3]


def test_what_is_saved_is_read_by_accord_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue 6: saved as a recording for `accord trace`."""
    clock, file = Clock(), tmp_path / "saved.jsonl"
    traffic = Traffic(clock=clock)
    traffic.command = ["agent", "--api-key", "sk-ant-1234567890abcdefghij"]
    talk(traffic, clock)
    assert traffic.save(file) == 6
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    recording = read_recording(file.read_bytes().splitlines())
    assert recording.header.redacted
    assert "sk-ant" not in " ".join(recording.header.command)
    facts = [json.loads(one) for one in file.read_bytes().splitlines()[1:]]
    assert [one.get("pair") for one in facts] == [1, None, None, 4, 4, 1]
    turn = next(row for row in timeline_of(recording.entries).rows if row.kind == "turn")
    assert (turn.title, turn.status) == ("hello", "end_turn")
    assert main(["trace", str(file), "--text"]) == 0
    assert "hello" in capsys.readouterr().out
    assert main(["trace", str(file), "--stats", "--json"]) == 0
    assert "session/prompt" in capsys.readouterr().out


def test_secrets_are_taken_out_unless_they_are_wanted(tmp_path: Path) -> None:
    """Ours: a recording is handed on."""
    traffic = Traffic()
    env = [{"name": "TOKEN", "value": "hunter2hunter2"}]
    traffic.record("sent", line(id=1, method="session/new", params={"mcpServers": [{"env": env}]}))
    traffic.save(tmp_path / "a.jsonl")
    traffic.save(tmp_path / "b.jsonl", redact=False)
    assert b"hunter2" not in (tmp_path / "a.jsonl").read_bytes()
    assert b"hunter2" in (tmp_path / "b.jsonl").read_bytes()
    with pytest.raises(FileExistsError):
        traffic.save(tmp_path / "a.jsonl")


@given(st.lists(st.tuples(st.sampled_from(["sent", "received"]), st.binary(max_size=60))))
def test_any_bytes_do_no_harm(chunks: list[tuple[Way, bytes]]) -> None:
    """Ours: an agent may send anything."""
    traffic = Traffic()
    for way, data in chunks:
        traffic.record(way, data)
    traffic.catch_up()
    assert all(one.kind is not None for one in traffic.items())
