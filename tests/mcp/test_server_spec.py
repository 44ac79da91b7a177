"""What is known of a server, and what of it must not be shown."""

from __future__ import annotations

import logging

import pytest

from accord.machine.redaction.redactor import Redactor
from accord.mcp.log_redaction import redacting, watch_sdk_logs
from accord.mcp.server_spec import ServerSpec, named_apart, spec_of
from accord.schema import v2
from accord.schema.codec import decode


def test_secrets_are_every_value_of_variables_headers_and_addresses() -> None:
    """Issue: credentials are never shown."""
    spec = ServerSpec(
        name="x",
        transport="http",
        env={"TOKEN": "of-the-env", "DEBUG": "1"},
        url="https://me:pass-word@x.example/mcp?key=of-the-url",
        headers={"Authorization": "Bearer of-the-header"},
    )
    assert spec.secrets == {
        "of-the-env",
        "pass-word",
        "of-the-url",
        "of-the-header",
        "Bearer of-the-header",
    }
    shown = repr(spec)
    assert not any(one in shown for one in spec.secrets)
    assert Redactor(spec.secrets).line("Bearer of-the-header failed, of-the-env") == (
        "[secret] failed, [secret]"
    )
    assert ServerSpec(name="x", transport="http", url="http://[half").secrets == {"http://[half"}


def test_servers_of_a_client_become_specs() -> None:
    """Issue: stdio, streamable HTTP and SSE; others are reached otherwise."""
    variables = [v2.EnvVariable(name="A", value="b")]
    stdio = spec_of(v2.McpServerStdio(name="a", command="/bin/x", args=["y"], env=variables))
    assert stdio == ServerSpec(
        name="a", transport="stdio", command="/bin/x", args=("y",), env={"A": "b"}
    )
    assert spec_of(v2.McpServerHttp(name="b", url="http://x")) == ServerSpec(
        name="b", transport="http", url="http://x"
    )
    old: v2.McpServer = decode(
        v2.McpServer,  # type: ignore[arg-type]
        b'{"type":"sse","name":"c","url":"http://y","headers":[{"name":"K","value":"v"}]}',
    )
    assert spec_of(old) == ServerSpec(name="c", transport="sse", url="http://y", headers={"K": "v"})
    assert spec_of(v2.McpServerAcp(name="d", server_id="1")) is None


def test_of_two_servers_with_one_name_the_first_counts() -> None:
    """Calls name servers, so names must be single."""
    first = ServerSpec(name="a", transport="stdio", command="/1")
    second = ServerSpec(name="a", transport="stdio", command="/2")
    assert named_apart([first, second]) == [first]


def test_logs_of_the_package_are_cleaned_in_our_conversations_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Issue: credentials never shown in logs; a program's own use of the package is its own."""
    logger = logging.getLogger("mcp.client.of_a_test")
    watch_sdk_logs()
    with caplog.at_level(logging.DEBUG):
        with redacting(Redactor({"hunter22"})):
            try:
                raise ValueError("no: hunter22")
            except ValueError:
                logger.exception("posting hunter22")
        logger.warning("somebody else's hunter22")
    ours, others = caplog.records
    assert (ours.name, ours.levelno) == ("accord.mcp", logging.DEBUG)
    assert "posting [secret]: ValueError('no: [secret]')" in ours.getMessage()
    assert others.getMessage() == "somebody else's hunter22"
