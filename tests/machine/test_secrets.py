"""What looks like a secret is not written down."""

from __future__ import annotations

import pytest

from accord.machine.secrets import MARK, without_known_forms, without_secrets, without_values

SECRETS = [
    "curl -H 'Authorization: Bearer abcdef123456' https://example.org",
    "export OPENAI_API_KEY=abcdef123456",
    "OPENAI_API_KEY='abcdef 123456' run",
    "deploy --password abcdef123456",
    "deploy --api-key=abcdef123456",
    'echo {"token": "abcdef123456"}',
    "git clone https://me:abcdef123456@example.org/x.git",
    "use sk-abcdef123456abcdef123456 here",
    "push with ghp_abcdef123456abcdef123456abcdef",
    "Basic abcdef123456==",
    "jwt eyJabcdef123456.eyJabcdef123456.abcdef123456",
    "X-Api-Key: abcdef123456",
    "note: password=abcdef123456",
    "a=b token: abcdef123456",
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_replaced_and_the_rest_stays(text: str) -> None:
    """Issue 3: no secrets in the audit log."""
    shown = without_secrets(text)
    assert "abcdef" not in shown
    assert MARK in shown
    assert shown.split()[0].split("=")[0].split("'")[0] in text


@pytest.mark.parametrize(
    "text",
    ["git status", "python -m pytest tests/test_tokens.py", "ls -la /etc", "Edit src/keys.py", ""],
)
def test_what_is_none_stays_as_it_is(text: str) -> None:
    """Ours: a log that hides everything is none."""
    assert without_secrets(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("env FOO=bar make", f"env FOO={MARK} make"),
        ("Run env A=1 'B=two words' \"C=x\" make D=2", f'Run env A={MARK} B={MARK} "C=x" make D=2'),
        ("env 'A=it'\"'\"'s' make", f"env A={MARK} make"),
        ("allow command=env A=b make", f"allow command=env A={MARK} make"),
        ("printenv A=1; environment", "printenv A=1; environment"),
    ],
)
def test_variables_that_a_command_is_given_are_known_by_their_names(text: str, shown: str) -> None:
    """docs/reference/configuration.md: no values of variables in the audit log."""
    assert without_values(text) == shown


@pytest.mark.parametrize(
    "part",
    ["key-", "a-", "-", "--key ", "key=", 'a="', "'", "eyJaaaaaaaa-", "a.a://", "x: ", "env A='"],
)
@pytest.mark.timeout(10)
def test_no_text_takes_long(part: str) -> None:
    """Found in review: a title of 4,000 characters kept `accord run` busy for two minutes."""
    without_secrets(without_values(part * 20_000))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("use sk-abcdef123456abcdef123456 here", f"use {MARK} here"),
        ("git clone https://me:pw@example.org/x", f"git clone https://{MARK}@example.org/x"),
        ("Bearer abcdef123456", f"Bearer {MARK}"),
        ("-----BEGIN PRIVATE KEY-----\nMII", f"-----BEGIN PRIVATE KEY-----{MARK}"),
        ("token = read(password=name)", "token = read(password=name)"),
    ],
)
def test_by_form_alone_a_name_makes_nothing_secret(text: str, told: str) -> None:
    """Ours: for text that must stay what it is otherwise, such as source code."""
    assert without_known_forms(text) == told
