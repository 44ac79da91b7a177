"""The errors that a caller can catch: their tree, their texts, and what they carry."""

import inspect
from typing import Any

import pytest

from accord import errors
from accord.errors import (
    AccordError,
    AuthenticationRequired,
    ConnectionLost,
    LimitExceeded,
    LocalProtocolError,
    MethodMissing,
    NotFound,
    ProtocolError,
    RateLimited,
    RemoteProtocolError,
    RequestCancelled,
    RequestError,
    RequestFailed,
    VersionMismatch,
    request_failed,
)


def test_every_error_of_ours_has_one_root() -> None:
    """Ours: `except AccordError` catches all that we raise on purpose."""
    classes = [one for _, one in inspect.getmembers(errors, inspect.isclass)]
    assert all(issubclass(one, AccordError) for one in classes if issubclass(one, Exception))
    assert {"AccordError", "RequestFailed", "SpawnFailed"} <= set(errors.__all__)
    assert issubclass(LocalProtocolError, ProtocolError)
    assert issubclass(LimitExceeded, ConnectionLost)


@pytest.mark.parametrize(
    ("code", "data", "kind"),
    [
        (-32000, None, AuthenticationRequired),
        (-32002, None, NotFound),
        (-32601, {"method": "x"}, MethodMissing),
        (-32800, None, RequestCancelled),
        (-32058, None, RateLimited),
        (429, {"retryAfter": 5}, RateLimited),
        (-32050, {"reason": "rate_limited"}, RateLimited),
        (-32601, {"reason": "rate_limited"}, RateLimited),
        (-32058, {"reason": 5}, RateLimited),
        (-32603, {"errorKind": "rate_limit"}, RateLimited),
        (-32603, {"cause": {"code": "model_rate_limited"}}, RateLimited),
        (-32603, {"error": {"type": "rate_limit_error"}, "status": 500}, RateLimited),
        (-32603, {"statusCode": "429"}, RateLimited),
        (-32603, {"reason": "quota_exceeded"}, RequestFailed),
        (-32603, None, RequestFailed),
        (1, "text", RequestFailed),
        (1, ["reason"], RequestFailed),
    ],
)
def test_an_error_answer_becomes_its_most_telling_class(
    code: int, data: Any, kind: type[RequestFailed]
) -> None:
    """rules 47: by `data.reason` first, then by code."""
    error = request_failed("session/new", code, "sorry", data)
    assert type(error) is kind
    assert str(error).startswith(f"session/new: sorry (code {code})")
    assert (error.method, error.code, error.message, error.data) == (
        "session/new",
        code,
        "sorry",
        data,
    )


@pytest.mark.parametrize(
    ("data", "seconds"),
    [
        ({"retryAfter": 2}, 2.0),
        ({"retryAfter": 0.5}, 0.5),
        ({"retryAfter": 0}, 0.0),
        ({"retryAfter": -1}, None),
        ({"retryAfter": "2"}, None),
        ({"retryAfter": True}, None),
        ({"retryAfter": 10**400}, None),
        ({"retry_after_ms": 2500}, 2.5),
        ({"retryAfterMs": 10**400}, None),
        ({"headers": {"retry-after": "12"}}, 12.0),
        ({"headers": {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}}, None),
        ({"error": {"details": [{}, {"retryDelay": "34.5s"}]}}, 34.5),
        ({"error": {"error": {"error": {"error": {"error": {"retryAfter": 1}}}}}}, None),
        ({}, None),
        (None, None),
        ([2], None),
    ],
)
def test_the_wait_that_the_peer_asked_for_is_read_where_it_is_one(
    data: Any, seconds: float | None
) -> None:
    """Issue: errors carry `retry_after` where the peer gave it."""
    assert RateLimited("x", -32058, "later", data).retry_after == seconds


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Rate limited", RateLimited),
        ("429 Too Many Requests: Too Many Requests", RateLimited),
        ("API Error: Rate limit exceeded. Try again later.", RateLimited),
        ("the rate limiter has no such module", RequestFailed),
        ("line 429 is wrong", RequestFailed),
    ],
)
def test_a_rate_limit_that_is_told_in_words_alone_is_one(
    message: str, kind: type[RequestFailed]
) -> None:
    """Issue 14: agents pass their server's words on with a code of their own."""
    assert type(request_failed("session/prompt", -32003, message)) is kind
    assert type(request_failed("session/prompt", -32000, message)) is AuthenticationRequired


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        ({"path": "$.cwd", "reason": "relative"}, "relative at $.cwd"),
        ({"reason": "no"}, "no"),
        ({"path": "$.x"}, "at $.x"),
        ({"path": 5, "reason": []}, ""),
        ({"details": "the disk is full"}, "the disk is full"),
        ("the disk is full", "the disk is full"),
        (None, ""),
    ],
)
def test_the_place_of_a_mistake_is_told_in_words(data: Any, detail: str) -> None:
    """Issue 4: the path and reason of the bad field."""
    assert RequestFailed("x", -32602, "Invalid params", data).detail == detail


def test_a_rate_limit_says_how_long_to_wait() -> None:
    """Ours: who reads the error wants to know nothing else."""
    limited = RateLimited("session/prompt", -32003, "Slow down", {"retryAfter": 2.5})
    assert str(limited) == "session/prompt: Slow down (code -32003); it asks to wait 2.5 s"
    assert str(RateLimited("x", -32003, "Slow down")) == "x: Slow down (code -32003)"


@pytest.mark.parametrize(
    ("message", "data", "text"),
    [
        ("Internal error", {"details": "no such model: x"}, ": no such model: x"),
        ("Internal error", "no such model: x", ": no such model: x"),
        ("Invalid params: not so", {"reason": "not so", "path": "$.cwd"}, ": at $.cwd"),
        ("Log in", {"reason": "auth_required"}, ""),
        ("Internal error", {"details": 5}, ""),
        ("Internal error", [{"loc": "x"}], ""),
    ],
)
def test_the_text_has_the_cause_that_agents_put_beside_their_message(
    message: str, data: Any, text: str
) -> None:
    """Agents of the official SDKs say `Internal error` to everything and the cause in `data`."""
    assert str(RequestFailed("x", -32603, message, data)) == f"x: {message} (code -32603){text}"
    assert len(str(RequestFailed("x", -32603, "no", {"details": "a b" * 100_000}))) < 600


def test_too_many_open_requests_are_a_rate_limit() -> None:
    """LIM-02: what a connection of ours answers; docs/how-to/limits.md: a client can try again."""
    error = request_failed("session/list", -32603, "Too many", {"reason": "too_many_requests"})
    assert isinstance(error, RateLimited)


def test_a_lost_connection_tells_the_last_words() -> None:
    """Issue 3: exit code and stderr tail where a process died."""
    silent = ConnectionLost("agent ended", exit_status="exit code 7", stderr_tail=" \n")
    assert str(silent) == "agent ended"
    loud = ConnectionLost("agent ended", stderr_tail="Traceback\nboom\n\n")
    assert str(loud) == "agent ended\nthe end of its stderr:\nTraceback\nboom"
    assert (silent.exit_status, loud.exit_status, loud.message) == (
        "exit code 7",
        None,
        "agent ended",
    )


def test_a_limit_is_told_by_name_and_number() -> None:
    """LIM-03: the log or exception has both."""
    error = LimitExceeded("frame_bytes", 1000, "too long a frame")
    assert str(error) == "too long a frame (limit frame_bytes = 1000)"
    assert (error.limit, error.value) == ("frame_bytes", 1000)


def test_what_a_peer_sent_is_attached_and_cut_in_the_text() -> None:
    """Ours: an error never prints a megabyte."""
    error = RemoteProtocolError("nonsense", "x" * 10_000)
    assert error.received == "x" * 10_000
    assert len(str(error)) < 600
    assert str(RemoteProtocolError("nonsense")) == "nonsense"


def test_a_version_mismatch_lists_what_the_peer_has() -> None:
    """rules V1-INIT-08: tell the user."""
    assert VersionMismatch("no", (3, 4)).supported == (3, 4)
    assert VersionMismatch("no").supported == ()


@pytest.mark.parametrize(
    ("error", "code", "data"),
    [
        (RequestError.invalid_params("no"), -32602, {"reason": "no"}),
        (RequestError.invalid_params("no", "$.x"), -32602, {"reason": "no", "path": "$.x"}),
        (RequestError.invalid_request("not now"), -32600, None),
        (RequestError.method_missing("a/b"), -32601, {"method": "a/b"}),
        (RequestError.method_missing("a", "off"), -32601, {"method": "a", "reason": "off"}),
        (RequestError.session_missing("s"), -32002, {"sessionId": "s"}),
        (RequestError.resource_missing("file:///x"), -32002, {"uri": "file:///x"}),
        (RequestError.authentication_required(), -32000, {"reason": "auth_required"}),
        (
            RequestError.authentication_required(auth_methods=[1]),
            -32000,
            {"reason": "auth_required", "authMethods": [1]},
        ),
        (RequestError.cancelled(), -32800, None),
        (RequestError.permission_denied("no"), -32052, {"reason": "permission_denied"}),
        (
            RequestError.permission_denied("no", "fs"),
            -32052,
            {"reason": "permission_denied", "scope": "fs"},
        ),
        (RequestError.rate_limited("later"), -32058, {"reason": "rate_limited"}),
        (
            RequestError.rate_limited("later", 1.5),
            -32058,
            {"reason": "rate_limited", "retryAfter": 1.5},
        ),
    ],
)
def test_what_a_handler_raises_has_the_code_and_data_of_the_rules(
    error: RequestError, code: int, data: Any
) -> None:
    """rules: the codes of the protocol and our own."""
    assert (error.code, error.data) == (code, data)
    assert error.message
    assert str(error) == error.message


def test_an_internal_error_names_the_id_of_its_cause_and_what_was_said_of_it() -> None:
    """Issue 2: the traceback goes to stderr with that id, so a person can find the one by it."""
    error = RequestFailed("session/prompt", -32603, "Internal error", {"correlationId": "ab12"})
    assert error.correlation_id == "ab12"
    assert str(error) == "session/prompt: Internal error (code -32603); correlation id ab12"
    error.stderr = "ZeroDivisionError"
    assert str(error).endswith("ab12\nit said on stderr:\nZeroDivisionError")
    assert RequestFailed("m", -32603, "no", {"correlationId": 5}).correlation_id is None


def test_an_id_without_end_does_not_fill_the_text() -> None:
    """Ours: it is the peer's to choose."""
    error = RequestFailed("m", -32603, "no", {"correlationId": "x" * 100_000})
    assert len(str(error)) < 200


def test_the_last_words_of_a_process_are_shown_in_part_and_kept_whole() -> None:
    """Ours: a text is for people, and 64 KiB of log hide what happened."""
    tail = "".join(f"line {number}\n" for number in range(10_000))
    error = ConnectionLost("it died", stderr_tail=tail)
    assert error.stderr_tail == tail
    assert len(str(error)) < 4096 + 100
    assert str(error).endswith("line 9999")
    assert "line 0\n" not in str(error)


def test_a_message_without_end_is_shown_in_part_and_kept_whole() -> None:
    """Ours: some agents answer with a whole page of their model's server."""
    error = RequestFailed("session/prompt", -32603, "no " * 100_000)
    assert len(error.message) == 300_000
    assert len(str(error)) < 2100
    assert str(error).endswith("… (code -32603)")
