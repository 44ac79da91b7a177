"""Secrets are taken out of a text, also of one that comes in pieces, wherever it is cut."""

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from accord.machine.redaction.redactor import Redactor
from accord.machine.redaction.secret_patterns import MARK
from accord.machine.redaction.secret_stream import WAITING_CHARACTERS_MAX
from tests.hang_limit import cpu_seconds_max

BEGIN, END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
VALUES = (
    "hunter2-hunter2",
    "zwölf-é-geheim",
    "aabaab",
    "two words",
    # Values that are mixed up with forms of keys.
    f"line\n{END}\nlast",
    "end sk-",
)
SECRETS = (
    *VALUES,
    "sk-abcdefghijklmnop",
    "ghp_" + "a1" * 12,
    "github_pat_" + "a1" * 12,
    "xoxb-1234567890",
    "AKIA" + "A" * 16,
    "ASIA" + "B" * 16,
    "xapp-1-A0123-456",
    "ya29." + "a0-b" * 6,
    "SG." + "a" * 16 + "." + "b" * 16,
    "dop_v1_" + "0af1" * 6,
    "AIza" + "c" * 30,
    "eyJabcdefgh.abcdefgh.xy",
    "sk_live_abcdefghijkl",
    "glpat-" + "z" * 16,
    "hf_" + "a" * 20,
    "npm_" + "b" * 30,
    "pypi-" + "d" * 30,
)
REDACTOR = Redactor(VALUES)

# Whole secrets, parts of some, and what stands around them.
_PARTS = st.sampled_from(
    [
        *SECRETS,
        *(
            "Bearer abcdefgh",
            "bearer",
            "BA\u017fIC",
            "https://",
            "://",
            "u:pw@h",
            "@",
            "/",
            "eyJ",
            ".",
        ),
        *("sk-", "s", "AKIA", "hunter2", "aab", "MII", "-", "_", "x", "é", ",", " ", "  ", "\n"),
        *(BEGIN, "-----BEGIN PRIVATE KEY-----", END),
        # Names in front of values, and characters that nobody sees.
        *("api_key=", "MY_TOKEN = ", "password: ", '"token": ', "--password ", "key=", "auth"),
        *("abcdef123456", "hunter22", '"', "'", "\\", "=", "\u200b", "\x1b[32m", "\x1b[", "\x1b"),
        "n" * 70,
    ]
)
TEXTS = st.lists(_PARTS | st.text("abskhe_-.:/@ \n", max_size=4), max_size=8).map("".join)


def in_pieces(redactor: Redactor, *pieces: str) -> str:
    """What is said in the end of a text that comes so."""
    stream = redactor.stream()
    return "".join([*map(stream.feed, pieces), stream.finish()])


@given(TEXTS, st.lists(st.integers(0, 200), max_size=6))
@settings(max_examples=600)
@example("a://x bearer bearer abcdefgh", [3, 9])
@example(f"{BEGIN}{END}", [31])
@example(f"xBearer abcdefgh{'y' * 100}", [])
def test_however_a_text_is_cut_the_same_is_said_of_it(text: str, at: list[int]) -> None:
    """Issue 5: secret redaction; nothing is lost, reordered or let through by a cut."""
    cuts = sorted({0, *(min(one, len(text)) for one in at), len(text)})
    whole = REDACTOR.text(text)
    assert in_pieces(REDACTOR, *(text[i:j] for i, j in pairwise(cuts))) == whole
    assert in_pieces(REDACTOR, *text) == whole


@given(st.sampled_from(SECRETS), st.text("ab ,\n", max_size=9), st.text(" ,\n", max_size=9))
@settings(max_examples=60)
def test_a_secret_is_caught_wherever_it_is_cut(secret: str, before: str, after: str) -> None:
    """Issue 5: at any character, and in the middle of any text."""
    before, after = f"{before} ", f" {after}"
    told = f"{before}{MARK}{after}"
    text = f"{before}{secret}{after}"
    for cut in range(len(text) + 1):
        assert in_pieces(REDACTOR, text[:cut], text[cut:]) == told


@given(TEXTS)
@example("Bearer abcdefgh:_")
@settings(max_examples=200)
def test_what_is_told_again_never_shows_more_than_in_the_end(text: str) -> None:
    """Ours: each look at the output of a command is a beginning of the last one, up to marks."""
    whole = REDACTOR.text(text)
    for cut in range(len(text)):
        shown = REDACTOR.so_far(text[:cut])
        assert whole.startswith(shown.removesuffix(MARK)), shown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("all is well ", "all is well "),
        ("ask", "ask"),
        ("it is s", "it is "),
        ("it is sk-abc", "it is "),
        ("it is sk-abcdefghijklmnop", "it is "),
        ("it is sk-abcdefghijklmnop ", f"it is {MARK} "),
        ("with Bearer ", "with Bearer"),
        ("with Bearer abc", "with Bearer"),
        ("note: at https:", "note: at https:"),
        ("at https://me:pw", "at https://"),
        ("at https://me:pw@host/q", f"at https://{MARK}@host/q"),
        ("jwt eyJabcdefgh.abc", "jwt "),
        ("-----BEGIN RSA PRIV", "-----BEGIN RSA PRIV"),
        ("x -----BEGIN PRIVATE KEY-----\nMII", f"x -----BEGIN PRIVATE KEY-----{MARK}"),
        ("-----BEGIN CERTIFICATE-----\nMII", "-----BEGIN CERTIFICATE-----\nMII"),
        ("it is hunter2-hun", "it is "),
        ("it is two words", f"it is {MARK}"),
        # Its end may be the beginning of another.
        ("hunter2-hunter2", ""),
        ("the token is", "the token is"),
        ("token: abc", "token: "),
        ("token: abc ", "token: abc "),
    ],
)
def test_no_more_waits_than_may_be_a_secret(text: str, said: str) -> None:
    """Ours: whoever reads along is kept waiting as little as can be."""
    assert REDACTOR.stream().feed(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "curl -H 'Authorization: Bearer abcdef123456' https://example.org",
        "git clone https://me:abcdef123456@example.org/x.git",
        "use sk-abcdef123456abcdef123456 here",
        "Basic abcdef123456==",
        f"{BEGIN}\nabcdef\n{END}\nand {BEGIN}\nabcdef",
        "export MY_API_KEY=abcdef123456",
        '{"password": "abcdef123456"}',
        "deploy --token abcdef123456",
    ],
)
def test_a_secret_is_known_by_its_form_or_by_its_name(text: str) -> None:
    """Ours: one net for all."""
    assert "abcdef" not in Redactor().text(text)


@pytest.mark.parametrize("hidden", ["\u200b", "\u00ad", "\ufeff", "\x1b[0m", "\u2060\x1b[1;32m"])
@pytest.mark.parametrize(
    "secret", ["sk-abcdefghijklmnop", "Bearer abcdefghij12", VALUES[0], "MY_TOKEN=abcdef123456"]
)
def test_characters_that_nobody_sees_do_not_hide_a_secret(secret: str, hidden: str) -> None:
    """Issue 12: a zero-width character inside of a key hid it."""
    for at in range(1, len(secret)):
        text = f"it is {secret[:at]}{hidden}{secret[at:]} here"
        told = Redactor(VALUES).text(text)
        assert MARK in told, text
        assert told == in_pieces(Redactor(VALUES), *text)
        assert secret[-6:] not in told.replace(hidden, "")


def test_a_value_upon_another_hides_both() -> None:
    """Ours: and one that is nothing hides nothing."""
    redactor = Redactor(["", "abcd", "cdef", "def"])
    assert redactor.text("xabcdefx abcd") == f"x{MARK}x {MARK}"


@pytest.mark.parametrize("head", ["sk-", "eyJabcdefgh.abcdefgh.", "bearer ", BEGIN])
def test_of_a_secret_that_is_too_long_to_wait_for_no_part_is_said(head: str) -> None:
    """Ours: what waits is bounded, and what was recognised stays out."""
    stream = Redactor().stream()
    pieces = [head, *["a" * 1000] * 40]
    said = "".join(map(stream.feed, pieces))
    assert "a" not in said.removeprefix("bearer").removeprefix("-----BEGIN RSA PRIVATE KEY-----")
    assert said.count(MARK) == 1
    rest = f"\n{END}" if head == BEGIN else ""
    assert stream.finish(f"aa{rest} then a") == " then a"


def test_what_is_too_long_for_a_secret_is_said() -> None:
    """Ours: an address goes on for ever, and is none."""
    stream = Redactor().stream()
    said = stream.feed("https://" + "a" * (WAITING_CHARACTERS_MAX + 1))
    assert said == "https://" + "a" * (WAITING_CHARACTERS_MAX + 1)
    assert stream.feed("b c") == "b c"


def test_a_value_may_be_longer_than_all_that_waits_otherwise() -> None:
    """Ours: and letters that come one by one do not have it looked at each time."""
    value = "v" * (2 * WAITING_CHARACTERS_MAX)
    assert in_pieces(Redactor([value]), "x", *value, "y") == f"x{MARK}y"


@pytest.mark.parametrize(
    "part",
    [
        *("sk-", "s", "a://", "bearer ", "eyJ.", "eyJaaaaaaaa.", BEGIN, END, "AKIA", "aab", " "),
        *("token=", "key-", "--key ", 'a="', "token='", "\x1b[", "\u200b", "x: ", "key"),
        *("akey=", "key:(", "sig: key: "),
    ],
)
def test_no_text_takes_long(part: str) -> None:
    """Ours: an agent chooses the text."""
    redactor = Redactor(VALUES)
    text = part * 10_000
    with cpu_seconds_max(30):
        redactor.text(text)
        redactor.line(text)
        redactor.so_far(text)
        stream = redactor.stream()
        for at in range(0, 2000, 2):
            stream.feed(text[at : at + 2])
