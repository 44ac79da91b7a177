"""What is particular about single messages of the draft."""

import pytest

from accord.schema.codec import Invalid, decode, encode
from accord.schema.draft import (
    CODES,
    Attachment,
    AuthenticateRequest,
    ImageContent,
    InitializeRequest,
    McpServer,
    MediaSource,
    NewSessionRequest,
    PromptRequest,
    ReadTextFileRequest,
    RequestPermissionRequest,
)
from accord.schema.struct import UNSET, Raw, UnknownVariant


def test_null_in_an_optional_field_is_read_as_absent_and_never_sent() -> None:
    """Ours: programs without three states write null for what they do not say."""
    notes: list[str] = []
    text = b'{"path":"/a","encoding":null,"startLine":null}'
    read = decode(ReadTextFileRequest, text, notes=notes)
    assert (read.encoding, read.start_line) == (UNSET, UNSET)
    assert notes == [
        "null, read as empty (at $.encoding)",
        "null, read as empty (at $.startLine)",
    ]
    assert encode(read) == b'{"path":"/a"}'


def test_a_source_with_data_and_address_keeps_both() -> None:
    """Dialect, content blocks: the data is used, the address is passed on."""
    text = b'{"type":"url","mediaType":"image/png","data":"YQ==","url":"https://a.example"}'
    source = decode(MediaSource, text)
    assert (source.data, source.url) == (b"a", "https://a.example")


def test_a_source_with_neither_data_nor_address_is_refused() -> None:
    """Dialect, content blocks: such a block is a bad parameter."""
    text = b'{"type":"image","source":{"type":"base64","mediaType":"image/png"}}'
    with pytest.raises(Invalid, match="needs `data` or `url`") as caught:
        decode(ImageContent, text)
    assert caught.value.path == "$.source"


def test_an_attachment_that_points_nowhere_is_refused() -> None:
    """Ours: the draft leaves the type open, yet something must be attached."""
    with pytest.raises(Invalid, match="needs `uri` or `path`"):
        decode(Attachment, b'{"name":"x"}')


def test_an_unknown_block_or_transport_is_kept_whole() -> None:
    """Ours: what we do not know can still be passed on."""
    text = b'{"sessionId":"s","content":[{"type":"smell","of":"roses"}]}'
    prompt = decode(PromptRequest, text)
    assert prompt.content == [UnknownVariant("type", "smell", b'{"type":"smell","of":"roses"}')]
    assert encode(prompt) == text
    server = decode(McpServer, b'{"name":"n","transport":{"type":"pigeon"}}')
    assert isinstance(server.transport, UnknownVariant)


def test_the_working_directory_must_be_absolute_and_file_paths_need_not() -> None:
    """Dialect, normative statements: relative paths count from the working directory."""
    with pytest.raises(Invalid, match="absolute"):
        decode(NewSessionRequest, b'{"workingDirectory":"garden"}')
    assert decode(ReadTextFileRequest, b'{"path":"beds.txt"}').path == "beds.txt"


@pytest.mark.parametrize("version", [b"-1", b"65536", b'"1"', b"1.5"])
def test_a_version_that_is_no_small_integer_is_refused(version: bytes) -> None:
    """Dialect, detection: such an initialize chooses no dialect."""
    text = b'{"protocolVersion":%s,"clientInfo":{"name":"a","version":"1"},"capabilities":{}}'
    with pytest.raises(Invalid) as caught:
        decode(InitializeRequest, text % version)
    assert caught.value.path == "$.protocolVersion"


def test_an_unknown_operation_stays_a_word() -> None:
    """Ours: lists of words are open on input; what is not understood is never approval."""
    text = b'{"sessionId":"s","operation":"file_eat","resource":"/a"}'
    assert decode(RequestPermissionRequest, text).operation == "file_eat"


@pytest.mark.rule("D26-19")
def test_meta_is_kept_and_a_malformed_one_is_ignored() -> None:
    """The draft: `_meta` is an object that may be ignored."""
    kept = decode(ReadTextFileRequest, b'{"path":"/a","_meta":{"t":[1]}}')
    assert kept.meta == {"t": Raw(b"[1]")}
    assert decode(ReadTextFileRequest, b'{"path":"/a","_meta":5}').meta is UNSET


def test_credentials_do_not_show_in_a_repr() -> None:
    """Dialect, authenticate: credentials stay out of logs."""
    request = AuthenticateRequest(method="api_key", credentials={"apiKey": Raw(b'"hush"')})
    assert repr(request) == "AuthenticateRequest(method='api_key', credentials=<hidden>)"
    assert b"hush" in encode(request)


@pytest.mark.rule("D26-33")
def test_error_codes_have_the_draft_s_own_meanings() -> None:
    """The draft: ten codes of its own beside the five of JSON-RPC."""
    assert CODES[-32000].name == "session_not_found"
    assert CODES[-32001].name == "authentication_required"
    assert CODES[-32002].name == "permission_denied"
    assert CODES[-32009].name == "timeout"
    assert set(CODES) == {*range(-32009, -31999), -32700, *range(-32603, -32599)}
    assert len({row.name for row in CODES.values()}) == len(CODES)
