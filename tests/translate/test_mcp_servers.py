"""MCP servers between v1 and v2."""

from accord.schema import v1, v2
from accord.schema.codec import encode, to_python
from accord.schema.struct import Raw, UnknownVariant
from accord.translate.mcp_servers import server_to_v1, server_to_v2

META = {"vendor": Raw(b"1")}


def test_a_program_goes_there_and_back() -> None:
    """translate: v1 has no tag for it."""
    server = v1.McpServer(
        name="files",
        command="/bin/files",
        args=["-v"],
        env=[v1.EnvVariable(name="A", value="b", meta=META)],
        meta=META,
    )
    there = server_to_v2(server)
    assert there == v2.McpServerStdio(
        name="files",
        command="/bin/files",
        args=["-v"],
        env=[v2.EnvVariable(name="A", value="b", meta=META)],
        meta=META,
    )
    assert server_to_v1(there) == server


def test_the_tag_of_v2_in_a_v1_message_is_a_program_too() -> None:
    """Ours: clients that know v2 send it; a command need not be absolute in v1."""
    server = v1.McpServer(type="stdio", name="files", command="files")
    assert server_to_v2(server) == v2.McpServerStdio(name="files", command="files", args=[], env=[])


def test_v1_gets_the_lists_that_v2_may_leave_out() -> None:
    """v1 requires them."""
    program = server_to_v1(v2.McpServerStdio(name="files", command="/bin/files"))
    assert to_python(encode(program)) == {
        "name": "files",
        "command": "/bin/files",
        "args": [],
        "env": [],
    }
    address = server_to_v1(v2.McpServerHttp(name="web", url="https://example.org"))
    assert to_python(encode(address)) == {
        "type": "http",
        "name": "web",
        "url": "https://example.org",
        "headers": [],
    }


def test_an_address_keeps_its_headers() -> None:
    """translate: alike in both."""
    server = v1.McpServer(
        type="http",
        name="web",
        url="https://example.org",
        headers=[v1.HttpHeader(name="A", value="b")],
        meta=META,
    )
    there = server_to_v2(server)
    assert isinstance(there, v2.McpServerHttp)
    assert there.headers == [v2.HttpHeader(name="A", value="b")]
    assert server_to_v1(there) == server


def test_a_server_behind_the_client_goes_there_and_back() -> None:
    """The unstable form has an id and no headers."""
    server = v1.McpServer(type="acp", name="own", server_id="s1")
    there = server_to_v2(server)
    assert there == v2.McpServerAcp(name="own", server_id="s1")
    assert server_to_v1(there) == server


def test_sse_which_v2_dropped_is_kept_whole() -> None:
    """translate: not lost, and not mistaken for anything else."""
    server = v1.McpServer(type="sse", name="old", url="https://example.org")
    there = server_to_v2(server)
    assert isinstance(there, UnknownVariant)
    assert there.tag == "sse"
    assert server_to_v1(there) == server
