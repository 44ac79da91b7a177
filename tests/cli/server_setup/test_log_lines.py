"""The log of a server."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from accord.cli.server_setup.log_lines import JsonLines, TextLines
from accord.machine.redacted_logs import logger
from tests.gateway.gateway_process import gateway_process


@pytest.mark.parametrize("lines", [JsonLines(), TextLines()])
def test_a_record_is_one_line_without_secrets(
    lines: logging.Formatter, caplog: pytest.LogCaptureFixture
) -> None:
    """Issue 17: structured logs without secrets."""
    caplog.set_level(logging.INFO, "accord.gateway")
    logger("accord.gateway").info("it said\nauthorization: Bearer %s", "abcdefghijklmnop123")
    shown = lines.format(caplog.records[-1])
    assert "\n" not in shown or isinstance(lines, TextLines)
    assert "abcdefghijklmnop123" not in shown


def test_a_gateway_logs_json(tmp_path: Path) -> None:
    """Issue 17: also what its agents write to stderr."""
    target = ("--", "/bin/sh", "-c", "echo hello there >&2; exit 1")
    options = ("--log", "json", "--log-level", "info")
    with gateway_process(tmp_path, *options, target=target) as gateway:
        line = json.loads(gateway.said("hello there"))
    assert line["level"] == "info"
    assert line["message"] == "sh wrote: hello there"
