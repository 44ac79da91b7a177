"""From an exception to the error that the peer is told."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from accord.connection.error_responses import encoded_error_for, error_for
from accord.errors import (
    ConnectionLost,
    LocalProtocolError,
    RequestError,
    RequestFailed,
    StoreError,
)
from accord.schema.codec import Invalid, to_python


@pytest.mark.parametrize(
    ("error", "code", "message", "data"),
    [
        (RequestError(-5, "mine", [1]), -5, "mine", [1]),
        (
            Invalid("$.x", "Expected `int`"),
            -32602,
            "Invalid params: Expected `int` at $.x",
            {"path": "$.x", "reason": "Expected `int`"},
        ),
        (
            RequestFailed("fs/read", -32002, "gone", {"uri": "x"}),
            -32603,
            "fs/read failed: gone",
            {"method": "fs/read", "code": -32002},
        ),
        (ConnectionLost("it ended", stderr_tail="secret"), -32603, "it ended", None),
        (LocalProtocolError("a rule"), -32603, "a rule", None),
        (
            StoreError("session_in_use", "taken", pid=7),
            -32056,
            "taken",
            {"reason": "session_in_use", "pid": 7},
        ),
        (StoreError("session_pruned", "gone"), -32002, "gone", {"reason": "session_pruned"}),
        (StoreError("store_full", "full"), -32603, "full", {"reason": "store_full"}),
    ],
)
def test_errors_of_ours_carry_their_text(
    error: Exception, code: int, message: str, data: Any
) -> None:
    """Issue: but never the last words of somebody else's process."""
    assert error_for(error, "x") == (code, message, data)
    encoded = encoded_error_for(error, "x")
    assert encoded[:2] == (code, message)
    assert (None if encoded[2] is None else to_python(encoded[2])) == data


def test_a_time_out_is_told_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Issue 15: the draft has a number for it."""
    code, _, data = error_for(TimeoutError(), "x")
    assert (code, data["reason"]) == (-32603, "timeout")
    assert data["correlationId"] in capsys.readouterr().err


def test_what_nobody_foresaw_goes_to_stderr_with_an_id(capsys: pytest.CaptureFixture[str]) -> None:
    """Issue: the peer learns the id alone; two errors have two ids."""
    ids = set()
    for _ in range(2):
        code, message, data = error_for(RuntimeError("secret"), "session/prompt")
        assert (code, message) == (-32603, "Internal error")
        assert list(data) == ["correlationId"]
        ids.add(data["correlationId"])
    said = capsys.readouterr().err
    assert all(one in said for one in ids)
    assert len(ids) == 2
    assert "RuntimeError: secret" in said
    assert "session/prompt" in said


@pytest.mark.parametrize("stderr", ["closed", "none"])
def test_a_stderr_that_is_gone_costs_nobody_an_answer(
    stderr: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """Ours: whatever happens, the peer gets an answer."""
    with open(tmp_path / "log", "w", encoding="utf-8") as log:
        pass
    monkeypatch.setattr(sys, "stderr", log if stderr == "closed" else None)
    assert error_for(RuntimeError("secret"), "x")[0] == -32603


def test_data_that_is_no_json_is_a_bug_like_any_other(capsys: pytest.CaptureFixture[str]) -> None:
    """A fault of others: the peer waits for ever."""
    code, message, data = encoded_error_for(RequestError(-1, "x", object()), "x")
    assert (code, message) == (-32603, "Internal error")
    assert data is not None
    assert to_python(data)["correlationId"] in capsys.readouterr().err
