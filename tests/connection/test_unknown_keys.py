"""Keys that nobody knows are told to the log, where somebody reads it."""

from __future__ import annotations

import logging

import pytest

from accord.connection.unknown_keys import message_decoder
from accord.schema import v1
from accord.schema.codec import Invalid

BLOCK = b'{"type":"text","text":"a","annotations":{"priority":"high"},"colour":"red"}'
PROMPT = b'{"sessionId":"s","prompt":[' + BLOCK + b"]}"
UNKNOWN = "PromptRequest: unknown key (at $.prompt[0].colour)"


@pytest.mark.parametrize("level", [logging.INFO, logging.WARNING])
def test_the_second_reading_is_for_those_who_listen(
    level: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Issue 2: logged by default; good input pays nothing where nobody listens."""
    caplog.set_level(level, "accord.connection")
    heard: list[str] = []
    message_decoder(report=heard.append)(v1.PromptRequest, PROMPT)
    assert (UNKNOWN in heard) is (level == logging.INFO)
    assert len(heard) == 1 + (level == logging.INFO)


def test_what_is_known_to_the_last_key_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: `_meta` is free."""
    caplog.set_level(logging.INFO, "accord.connection")
    heard: list[str] = []
    read = message_decoder(report=heard.append)
    read(v1.CancelNotification, b'{"sessionId":"s","_meta":{"colour":"red"}}')
    assert heard == []


def test_what_the_first_reading_tolerated_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: the second reading only looks for keys."""
    caplog.set_level(logging.INFO, "accord.connection")
    heard: list[str] = []
    message_decoder(report=heard.append)(v1.NewSessionRequest, b'{"cwd":"/","mcpServers":null}')
    assert heard == ["NewSessionRequest: null, read as empty (at $.mcpServers)"]


def test_the_strict_refuse_it(caplog: pytest.LogCaptureFixture) -> None:
    """Issue 2: strict makes unknown fields fail at once."""
    caplog.set_level(logging.INFO, "accord.connection")
    with pytest.raises(Invalid, match="unknown key"):
        message_decoder(strict=True)(v1.CancelNotification, b'{"sessionId":"s","colour":1}')


def test_what_two_versions_share_is_not_looked_at(caplog: pytest.LogCaptureFixture) -> None:
    """Rule V1-GEN-09: the one exception, by name."""
    caplog.set_level(logging.INFO, "accord.connection")
    heard: list[str] = []
    read = message_decoder(report=heard.append, shared=v1.InitializeRequest)
    read(v1.InitializeRequest, b'{"protocolVersion":1,"info":{"name":"a","version":"1"}}')
    read(v1.CancelNotification, b'{"sessionId":"s","info":1}')
    assert heard == ["CancelNotification: unknown key (at $.info)"]
