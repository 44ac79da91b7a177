"""What looks like a secret is not written down."""

from __future__ import annotations

import pytest

from accord.machine.secrets import MARK, without_secrets

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
