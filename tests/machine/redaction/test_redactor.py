"""Frames are written without their secrets and otherwise as they are."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.machine.redaction.redactor import Redactor
from accord.machine.redaction.secret_patterns import MARK

SECRET = "abcdef123456"


@pytest.mark.parametrize(
    "frame",
    [
        {"env": [{"name": "A", "value": SECRET}]},
        {"env": {"A": SECRET}},
        {"headers": [{"name": "X-Any", "value": SECRET}]},
        {"params": {"api_key": SECRET}},
        {"params": {"apiKey": {"deep": [SECRET]}}},
        {"accessToken": SECRET},
        {"Authorization": SECRET},
        {"password": SECRET},
        {"text": f"Authorization: Bearer {SECRET}"},
        {"text": f"export MY_API_KEY={SECRET}"},
        {"text": f"https://me:{SECRET}@example.org"},
        {"text": f"sk-{SECRET}{SECRET}"},
        {"text": f"Authorization: {SECRET}"},
        {"text": f"Set-Cookie: sid={SECRET}; Path=/"},
        {"text": f"https://example.org/?x=1&sig={SECRET}"},
        {"text": f"curl --token {SECRET} https://example.org"},
        {"text": f"machine example.org login me password {SECRET}"},
        {"text": f'{{\\"api_key\\": \\"{SECRET}\\"}}'},
        {"text": f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----"},
        {"text": f"glpat-{SECRET}{SECRET} hf_{SECRET}{SECRET} sk_live_{SECRET}"},
        {"text": "known-by-value-1"},
        {"text": f"author: API_KEY={SECRET}"},
        {"text": f'keys: signed: API_KEY="{SECRET}"'},
        {"anything": ["run", "--api-key", SECRET, 1]},
        [{"token": SECRET}],
        {"mcpServers": [{"name": "m", "command": "m", "args": ["--token", SECRET, "-v"]}]},
        {"mcpServers": [{"name": "m", "command": "m", "args": ["--header", f"X-Key: {SECRET}"]}]},
        {"rawInput": {"command": f"API_TOKEN={SECRET[:6]} DB_PASSWORD={SECRET} run"}},
        {"rawInput": {"command": ["run", "--api-key", SECRET]}},
        {"anything": [{"name": "API_KEY", "value": SECRET}]},
        {f"sk-{SECRET}": 1},
        {"text": f"sk-\u200b{SECRET}"},
    ],
)
def test_a_secret_is_not_written(frame: object) -> None:
    """Issue 4: API keys, authorization headers, env values, tokens."""
    raw = json.dumps(frame).encode()
    cleaned = Redactor(["known-by-value-1"]).frame(raw)
    assert SECRET.encode() not in cleaned
    assert b"known-by-value-1" not in cleaned
    assert MARK.encode() in cleaned
    json.loads(cleaned)


@pytest.mark.parametrize(
    "frame",
    [
        b'{"jsonrpc": "2.0",  "method":"session/update"}',
        b'{"usage":{"inputTokens":12,"totalTokens":20}}',
        b'{"_meta":{"progressToken":"abc-1"}}',
        b'{"text":"def tokenize(token: str) -> Token:\\n    key = token.key"}',
        b'{"authMethods":[{"id":"login","name":"Log in"}]}',
        b'{"token":""}',
        b"not JSON at all",
        b"",
        b"\xff\xfe",
    ],
)
def test_what_is_no_secret_stays_to_the_byte(frame: bytes) -> None:
    """Ours: a recording that changes what was said is of no use."""
    assert Redactor().frame(frame) == frame


def test_a_frame_with_a_key_twice_is_looked_at_whole() -> None:
    """Issue 12: most readers of JSON see only the second."""
    frame = b'{"text":"sk-abcdef123456abcdef","text":"x"}'
    assert Redactor().frame(frame) == b'{"text":"x"}'


def test_a_value_that_was_recognised_by_its_place_is_known_from_then_on() -> None:
    """Issue 12: a server's last words quote the token that it was started with."""
    redactor = Redactor()
    server = {"args": ["--token", "of-args-1234"], "env": [{"name": "A", "value": "of-env-12345"}]}
    redactor.learn({"mcpServers": [server], "headers": {"Authorization": "Bearer of-header-123"}})
    told = redactor.text("of-args-1234, of-env-12345 and of-header-123")
    assert told == f"{MARK}, {MARK} and {MARK}"
    assert redactor.frame(b'{"text":"of-env-12345"}') == b'{"text":"[secret]"}'


def test_words_are_not_learnt_from_a_conversation() -> None:
    """Ours: an agent whose mode is `production` may still speak of it."""
    redactor = Redactor()
    redactor.learn({"env": {"MODE": "production", "JAVA_HOME": "/opt/jdk-21-full"}})
    assert redactor.text("production in /opt/jdk-21-full") == "production in /opt/jdk-21-full"


def test_identifiers_may_be_kept() -> None:
    """Ours: the other side has to send them back."""
    value = {"sessionId": f"sk-{SECRET}{SECRET}", "title": f"sk-{SECRET}{SECRET}"}
    assert Redactor().value(value, keep_ids=True) == {**value, "title": MARK}
    assert Redactor().value(value) == {"sessionId": MARK, "title": MARK}


def test_a_short_password_is_one_too() -> None:
    """Ours: it is known by its name alone, so source code that only has the name stays."""
    redactor = Redactor()
    assert b"hunter2" not in redactor.frame(b'{"text":"login with password: hunter2"}')
    code = b'{"text":"password = read_password(prompt)"}'
    assert redactor.frame(code) == code


def test_a_key_that_hides_behind_an_escape_is_found() -> None:
    """Ours: JSON has many spellings of one key."""
    cleaned = Redactor().frame(b'{"\\u0070assword":"abcdef123456"}')
    assert b"abcdef123456" not in cleaned


def test_noise_and_stderr_are_cleaned_by_form_and_by_name() -> None:
    """Issue 4: stderr is recorded too."""
    assert SECRET not in Redactor().line(f"using token={SECRET}")
    assert SECRET.encode() not in Redactor().frame(b"oops password=abcdef123456 \xff")


def test_a_command_loses_the_word_behind_its_option() -> None:
    """Ours: the first line has the command."""
    words = ["agent", "--api-key", SECRET, "--token", "--verbose", f"--password={SECRET}"]
    cleaned = Redactor().words(words)
    assert cleaned == ["agent", "--api-key", MARK, "--token", "--verbose", f"--password={MARK}"]


def test_text_too_deep_to_be_read_is_cleaned_too() -> None:
    """Issue 4: the agents may be hostile."""
    deep = b'{"password":"abcdef123456","a":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    assert b"abcdef123456" not in Redactor().frame(deep)


@given(st.binary(max_size=300))
def test_any_bytes_are_taken(frame: bytes) -> None:
    """Issue 4: nothing an agent says breaks the recorder."""
    Redactor([SECRET]).frame(frame)


def test_bearer_and_basic_are_words_of_a_sentence_too() -> None:
    """Ours: `guard` changed a docstring of ours, "A bearer token", while it was read."""
    for harmless in ("A bearer token.", "basic understanding of it", "Basic methods: two"):
        assert Redactor().text(harmless) == harmless
        assert Redactor().line(harmless) == harmless
    for secret in (
        *("Bearer abcdef123456", "basic dXNlcjpwYXNz", "bearer abcDefghijkl", "Bearer a.b.cdefg"),
        *("Authorization: Bearer justaword", '"basic justaword"', "bearer " + "a" * 17),
    ):
        assert MARK in Redactor().text(secret), secret


def test_the_title_of_a_command_is_one() -> None:
    """Issue 12: agents name the call by its command, and a name is enough in a command."""
    call = {"kind": "execute", "title": "`deploy --password abcdef`"}
    assert Redactor().value(call)["title"] == f"`deploy --password {MARK}"
    assert Redactor().by_form.value(call) == call
    other = {"kind": "edit", "title": "Rename password: use passphrase"}
    assert Redactor().value(other) == other
